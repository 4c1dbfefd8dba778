"""What can be chosen about reading an ordered log: the options of `spark.read` and `spark.readStream`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

from msgspec import Struct

from ordercast.core.errors import WrongUse
from ordercast.records.segment_tables import SegmentRow

EARLIEST = "earliest"
LATEST = "latest"

ROWS = ("all", "messages")

COLUMNS = SegmentRow.__struct_fields__

BATCH_POSITIONS_MAX = 1_000_000
"""So many positions go into one batch of a stream, if not said otherwise."""

TASK_POSITIONS = 50_000
"""So many positions are worth a task of their own."""

Place = int | str
"""A position, `earliest` or `latest`."""

Chosen = TypeVar("Chosen")


class ReadOptions(Struct, frozen=True, kw_only=True):
    """Options, checked. By their names in Spark: `path`, `start`, `stop`, …"""

    path: Path
    """A site's log directory, as every worker sees it."""
    start: Place = EARLIEST
    """Of a batch read: the first position."""
    stop: Place = LATEST
    """Of a batch read: the position after the last; `latest` for all that is final."""
    starting_position: Place = EARLIEST
    """`startingPosition` of a stream that has no checkpoint yet."""
    batch_positions_max: int = BATCH_POSITIONS_MAX
    """`maxPositionsPerBatch` of a stream."""
    tasks: int | None = None
    """`numTasks`: so many tasks read each batch. Absent: one for every 50,000 positions."""
    group: str | None = None
    """Only what concerns this group of participants."""
    rows: str = "all"
    """`all`, or `messages`: only what participants are given, no control entries and nothing void."""
    columns: tuple[str, ...] = COLUMNS
    """Those of `records.segment_tables.SegmentRow`, separated by commas; all of them if absent."""

    @classmethod
    def of(cls, given: Mapping[str, str]) -> ReadOptions:
        """From the options of a DataFrame, whose names Spark compares without regard to case. Raises `WrongUse`."""
        options = {name.lower(): value for name, value in given.items()}
        foreign = sorted(set(options) - set(NAMES))
        if foreign:
            raise WrongUse(f"there is no option {foreign[0]!r}; expected one of {', '.join(NAMES.values())}")
        if "path" not in options:
            raise WrongUse("say which log to read: .load(DIR), the log directory of a site")
        return cls(
            path=Path(options["path"]).expanduser().absolute(),
            start=_place("start", options.get("start", EARLIEST), EARLIEST),
            stop=_place("stop", options.get("stop", LATEST), LATEST),
            starting_position=_place("startingPosition", options.get("startingposition", EARLIEST), EARLIEST, LATEST),
            batch_positions_max=_count("maxPositionsPerBatch", options.get("maxpositionsperbatch"))
            or BATCH_POSITIONS_MAX,
            tasks=_count("numTasks", options.get("numtasks")),
            group=options.get("group"),
            rows=_one_of("rows", options.get("rows", "all"), ROWS),
            columns=_columns(options.get("columns")),
        )

    def tasks_for(self, positions: int) -> int:
        """By how many tasks a range of so many positions is read."""
        wanted = self.tasks if self.tasks is not None else -(-positions // TASK_POSITIONS)
        return max(1, min(wanted, positions))


SPELLED = ("path", "start", "stop", "startingPosition", "maxPositionsPerBatch", "numTasks", "group", "rows", "columns")
NAMES = {name.lower(): name for name in SPELLED}


def _place(name: str, value: str, *words: str) -> Place:
    if value.lower() in words:
        return value.lower()
    if not value.isdecimal():
        raise WrongUse(f"{name} is {value!r}; expected a position or {' or '.join(words)}")
    return int(value)


def _count(name: str, value: str | None) -> int | None:
    if value is None:
        return None
    if not value.isdecimal() or int(value) == 0:
        raise WrongUse(f"{name} is {value!r}; expected a number from 1 on")
    return int(value)


def _one_of(name: str, value: str, expected: tuple[str, ...]) -> str:
    if value not in expected:
        raise WrongUse(f"{name} is {value!r}; expected one of {', '.join(expected)}")
    return value


def _columns(value: str | None) -> tuple[str, ...]:
    if value is None:
        return COLUMNS
    chosen = tuple(name.strip() for name in value.split(","))
    for name in chosen:
        _one_of("columns", name, COLUMNS)
    return tuple(dict.fromkeys(chosen))
