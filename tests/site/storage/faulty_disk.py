"""A disk under SQLite that refuses things when told to."""

from __future__ import annotations

import sqlite3
from pathlib import Path


class FaultyDisk:
    """A watcher for `bench.crashing.vfs`."""

    def __init__(self) -> None:
        self.write_error = 0
        """SQLite's code of the error that the next writes get; 0: they do not."""
        self.sync_error = 0
        self.writes_left = 0
        """So many more writes go well first."""
        self.only = ""
        self.refused = 0

    def fill_up(self, writes_left: int = 0, only: str = "") -> None:
        """No more room, after so many more writes; or only for files whose names end so."""
        self.write_error, self.writes_left, self.only = sqlite3.SQLITE_FULL, writes_left, only

    def make_room(self) -> None:
        self.write_error = 0

    def on_open(self, path: Path, syncs_directory: bool) -> int:
        return 0

    def on_write(self, path: Path, offset: int, data: bytes) -> int:
        if not self.write_error or not path.name.endswith(self.only):
            return 0
        if self.writes_left:
            self.writes_left -= 1
            return 0
        self.refused += 1
        return self.write_error

    def on_truncate(self, path: Path, size: int) -> int:
        return 0

    def on_sync(self, path: Path) -> int:
        return self.sync_error

    def on_delete(self, path: Path, syncs_directory: bool) -> int:
        return 0
