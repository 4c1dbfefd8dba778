"""Which namespaces there are, for tests that see to it that all go."""

from __future__ import annotations

import contextlib

from tools.wan.namespaces import NETNS


def inodes(number: int) -> set[int]:
    """Of the namespaces of this number; later ones may have the same number and names, but not these."""
    found = set()
    for path in NETNS.glob(f"oc{number}-*"):
        with contextlib.suppress(FileNotFoundError):
            found.add(path.stat().st_ino)
    return found
