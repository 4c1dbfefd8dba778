"""A user's mistake in words: which key, and what was expected there."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Sequence
from difflib import get_close_matches
from typing import Any

from ordercast.core.errors import WrongUse

ALIKE_MIN = 0.72
"""How alike two names must be (difflib's ratio) for one to be meant by the other."""

SHOWN_MAX = 40
"""A value longer than this is shortened in a message."""

LISTED_MAX = 20
"""So many possible values are listed in a message."""

LARGEST = 1e9
"""No delay, time or size may be larger: then virtual time in microseconds stays within 64 bits."""

STEP_S = 1e-6
"""Virtual time moves in steps of a microsecond."""

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


class Mistake(WrongUse):
    """`key` as in `traffic[0].rate`; empty for the whole file."""

    def __init__(self, key: str, expected: str) -> None:
        super().__init__(f"{key}: {expected}" if key else expected)
        self.key = key
        self.expected = expected


def join(table: str, key: str) -> str:
    """The key inside a table; quoted where TOML would quote it."""
    shown_key = key if _BARE_KEY.fullmatch(key) else shown(key)
    return f"{table}.{shown_key}" if table else shown_key


def shown(value: Any) -> str:
    """A value as its author would recognise it, on one line."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return json.dumps(_shortened(value), ensure_ascii=False)
        case float() if value.is_integer() and abs(value) < 1e15:
            return str(int(value))
        case dict():
            return "a table"
        case list() | tuple():
            return "a list"
        case _:
            return _shortened(str(value))


def _shortened(text: str) -> str:
    return text if len(text) <= SHOWN_MAX else text[: SHOWN_MAX - 1] + "…"


def listed(options: Sequence[str]) -> str:
    """The possible values, the first of them if there are many."""
    more = len(options) - LISTED_MAX
    return ", ".join(options) if more <= 0 else ", ".join(options[:LISTED_MAX]) + f" and {more} more"


def nearest(name: str, options: Collection[str]) -> str | None:
    """What was probably meant."""
    close = get_close_matches(name, list(options), n=1, cutoff=ALIKE_MIN)
    return close[0] if close else None


def unknown(what: str, name: str, options: Sequence[str]) -> str:
    """Something is named that does not exist: what was meant, or what there is."""
    meant = nearest(name, options)
    also = f"; did you mean {meant}?" if meant else ""
    return f"unknown {what} {shown(name)}, expected one of {listed(options)}{also}"


def require_number(
    key: str, value: float, *, least: float | None = None, above: float | None = None, most: float = LARGEST
) -> None:
    """A finite number in a range: from `least`, or above `above`, up to `most`."""
    if not math.isfinite(value):
        raise Mistake(key, f"expected a finite number, not {shown(value)}")
    if above is not None and value <= above:
        raise Mistake(key, f"expected more than {shown(above)}, not {shown(value)}")
    if least is not None and value < least:
        raise Mistake(key, f"expected at least {shown(least)}, not {shown(value)}")
    if value > most:
        raise Mistake(key, f"expected at most {shown(most)}, not {shown(value)}")


def require_after(key: str, end_s: float, beginning: str, beginning_s: float) -> None:
    """What ends does so after it begins."""
    require_number(key, end_s)
    if end_s < beginning_s + STEP_S:
        raise Mistake(key, f"expected more than {beginning} ({shown(beginning_s)}), not {shown(end_s)}")


def require_before(key: str, beginning_s: float, end: str, end_s: float) -> None:
    """What begins does so before the end."""
    if beginning_s >= end_s:
        raise Mistake(key, f"expected less than {end} ({shown(end_s)}), not {shown(beginning_s)}")


def require_name(key: str, name: str) -> None:
    """Names are shown in tables and messages, so they must be printable."""
    if not name or not name.isprintable():
        raise Mistake(key, f"expected a printable name, not {shown(name)}")


def require_distinct(key: str, names: Sequence[str]) -> None:
    """No name twice in one list."""
    seen: dict[str, int] = {}
    for index, name in enumerate(names):
        if name in seen:
            raise Mistake(f"{key}[{index}]", f"{name} is there twice, expected each once")
        seen[name] = index


def require_sites(key: str, names: Sequence[str], known: Sequence[str]) -> None:
    """At least one site; each of them exists and is named once."""
    if not names:
        raise Mistake(key, "expected at least one site")
    for index, name in enumerate(names):
        if name not in known:
            raise Mistake(f"{key}[{index}]", unknown("site", name, known))
    require_distinct(key, names)
