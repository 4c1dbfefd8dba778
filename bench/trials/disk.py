"""What sites have left on disk when a trial is over."""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec import Struct

from bench.trials.participants import GROUP
from ordercast.core.errors import NotFit, WrongUse
from ordercast.core.messages import Act, Bundle
from ordercast.records.log_reader import Reader

READ_BYTES = 1 << 20


class OnDisk(Struct):
    """The order that the log of a site holds."""

    messages: list[tuple[int, bytes]]
    """Those of the participants, with their positions."""
    end: int
    problems: list[str]


def order_on_disk(directory: Path) -> OnDisk:
    """All of a log, from the first position to the last, which must follow each other."""
    reader, found = Reader(directory), OnDisk([], 0, [])
    try:
        first, end = reader.bounds()
        if first:
            found.problems.append(f"the log begins at {first}")
        found.end = first
        while found.end < end:
            entries = reader.read(found.end, end, READ_BYTES).entries
            if not entries:
                found.problems.append(f"nothing to be read at {found.end} of {end}")
                break
            for entry in entries:
                if entry.position != found.end:
                    found.problems.append(f"{entry.position} comes where {found.end} is expected")
                found.end = entry.end
                if isinstance(entry.content, Bundle):
                    found.messages += _messages(entry.position, entry.content)
    except (NotFit, WrongUse) as error:
        found.problems.append(str(error))
    finally:
        reader.close()
    return found


def _messages(position: int, bundle: Bundle) -> list[tuple[int, bytes]]:
    author = bundle.author
    if author is None or author.act is not Act.SPEAKS or author.group != GROUP:
        return []
    return [(place, body) for place, body in enumerate(bundle.bodies, position) if place - position not in bundle.void]


def log_problems(path: Path) -> list[str]:
    """Alarms, and whatever a site has said that is no line of its journal: a traceback, above all."""
    found = []
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        try:
            said = msgspec.json.decode(line, type=dict)
        except msgspec.DecodeError:
            found.append(f"{path}:{number}: {line.decode(errors='replace')}")
            continue
        if said.get("level") == "error":
            found.append(f"{path}:{number}: {line.decode()}")
    return found
