"""What a reader of the log may meet in place of entries."""

from __future__ import annotations

from ordercast.core.errors import WrongUse


class Retained(WrongUse):
    """What is asked for is no longer kept; `first` is the first position that is (EARLIEST)."""

    def __init__(self, start: int, first: int) -> None:
        super().__init__(f"position {start} is no longer kept: read from {first} on")
        self.first = first


class Hole(WrongUse):
    """What is asked for never was in this log: the site came up behind it, with a snapshot. It goes on at `first`."""

    def __init__(self, start: int, first: int) -> None:
        super().__init__(f"positions {start} to {first - 1} are not in the log of this site: read from {first} on")
        self.first = first
