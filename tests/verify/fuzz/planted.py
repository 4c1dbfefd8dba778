"""Bugs planted in links, membership and groups.

`python -m tests.verify.fuzz.planted [NAME...]` searches for them, or for those named, and prints lines for `pinned.py`.
"""

from __future__ import annotations

import inspect
import os
import sys
from types import ModuleType

from tests.verify.fuzz import (
    bugs_in_groups,
    bugs_in_links,
    bugs_in_switching,
    bugs_in_switching_blind,
    bugs_in_views,
    bugs_of_the_past,
    bugs_on_line,
)
from tests.verify.fuzz.making import Planted, search_all


def _all_of(module: ModuleType, blind: bool, protocol: str | None = None) -> tuple[Planted, ...]:
    found = [
        (name, value)
        for name, value in vars(module).items()
        if inspect.isfunction(value) and not name.startswith("_") and value.__module__ == module.__name__
    ]
    return tuple(Planted(name.replace("_", " "), value, blind, protocol) for name, value in found)


IN_LINKS = _all_of(bugs_in_links, blind=True)
IN_VIEWS = _all_of(bugs_in_views, blind=True)
BUGS = (*IN_LINKS, *IN_VIEWS, *_all_of(bugs_in_groups, blind=True), *_all_of(bugs_of_the_past, blind=False))
IN_SWITCHING = (
    *_all_of(bugs_in_switching_blind, blind=True, protocol="dynamic-hybrid"),
    *_all_of(bugs_in_switching, blind=False, protocol="dynamic-hybrid"),
)
"""Pinned by themselves, in `pinned_switching`."""
ON_LINE = _all_of(bugs_on_line, blind=False)
"""Pinned by themselves, in `pinned_on_line`."""

if __name__ == "__main__":
    everything = (*BUGS, *IN_SWITCHING, *ON_LINE)
    wanted = [bug for bug in everything if bug.name in sys.argv[1:]] or everything
    for bug, found in search_all(wanted, processes=os.cpu_count() or 1):
        print(f"    {bug.name!r}: {found},", flush=True)
