"""What happened to the files of a directory, in order, and what a disk may hold of it after a crash.

The model is that of a disk with sectors of 512 bytes behind a file system that reorders. What a file held when it was
last synced is there. Of what was written to it since, each sector may be there or not, whatever the order; so may a
change of its size, and each new name, or name that went, since the directory was last synced. A sector holds
what it held before or what was written, nothing else.
"""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

from msgspec import Struct

from ordercast.site.storage import files

SECTOR_BYTES = 512


class Wrote(Struct, frozen=True, gc=False):
    inode: int
    offset: int
    data: bytes


class Resized(Struct, frozen=True, gc=False):
    inode: int
    size: int


class Synced(Struct, frozen=True, gc=False):
    inode: int


class Named(Struct, frozen=True, gc=False):
    """Names that change together; None: the name goes."""

    inodes: dict[str, int | None]


class DirectorySynced(Struct, frozen=True, gc=False):
    pass


class Reported(Struct, frozen=True, gc=False):
    """The log has said so."""

    life: int
    durable: int
    synced: int


Event = Wrote | Resized | Synced | Named | DirectorySynced | Reported


class Recorder:
    """Watches SQLite (`vfs.watched`) and stands in for `os` in the log's own work with files."""

    O_RDONLY, O_DIRECTORY, O_CLOEXEC, O_RDWR, O_CREAT = (
        os.O_RDONLY,
        os.O_DIRECTORY,
        os.O_CLOEXEC,
        os.O_RDWR,
        os.O_CREAT,
    )
    ftruncate, write, read, getpid = os.ftruncate, os.write, os.read, os.getpid

    def __init__(self, directory: Path) -> None:
        self.events: list[Event] = []
        self._directory = directory
        self._names: dict[str, int] = {}
        self._inodes = 0
        self._unsynced_names: set[str] = set()
        self._descriptors: dict[int, Path] = {}
        for path in sorted(directory.rglob("*")):
            if path.is_file() and path.name != files.LOCK:
                self._whole(path)
        self.beginning = len(self.events)
        """How many events say what was there to begin with."""

    # --- SQLite ---

    def on_open(self, path: Path, syncs_directory: bool) -> int:
        if self._name(path) not in self._names:
            self._give_name(path)
            if syncs_directory:
                self._unsynced_names.add(self._name(path))
        return 0

    def on_write(self, path: Path, offset: int, data: bytes) -> int:
        self.events.append(Wrote(self._names[self._name(path)], offset, data))
        return 0

    def on_truncate(self, path: Path, size: int) -> int:
        self.events.append(Resized(self._names[self._name(path)], size))
        return 0

    def on_sync(self, path: Path) -> int:
        name = self._name(path)
        self.events.append(Synced(self._names[name]))
        if name in self._unsynced_names:
            self._unsynced_names.remove(name)
            self.events.append(DirectorySynced())
        return 0

    def on_delete(self, path: Path, syncs_directory: bool) -> int:
        self._take_name(path)
        if syncs_directory:
            self.events.append(DirectorySynced())
        return 0

    # --- the log's own files ---

    def open(self, path: Path, flags: int, mode: int = 0o777) -> int:
        descriptor = os.open(path, flags, mode)
        self._descriptors[descriptor] = Path(path)
        return descriptor

    def close(self, descriptor: int) -> None:
        self._descriptors.pop(descriptor, None)
        os.close(descriptor)

    def fsync(self, descriptor: int) -> None:
        path = self._descriptors[descriptor]
        if path.is_dir():
            self.events.append(DirectorySynced())
        else:
            self._write_whole(path)
            self.events.append(Synced(self._names[self._name(path)]))

    def replace(self, old: Path, new: Path) -> None:
        if self._name(old) not in self._names:
            self._write_whole(old)
        inode = self._names.pop(self._name(old))
        self._names[self._name(new)] = inode
        self.events.append(Named({self._name(old): None, self._name(new): inode}))
        os.replace(old, new)

    def unlink(self, path: Path) -> None:
        os.unlink(path)
        if self._name(path) in self._names:
            self._take_name(path)

    # --- events ---

    def report(self, life: int, durable: int, synced: int) -> None:
        self.events.append(Reported(life, durable, synced))

    def _name(self, path: Path) -> str:
        return str(path.relative_to(self._directory))

    def _give_name(self, path: Path) -> int:
        self._inodes += 1
        self._names[self._name(path)] = self._inodes
        self.events.append(Named({self._name(path): self._inodes}))
        return self._inodes

    def _take_name(self, path: Path) -> None:
        del self._names[self._name(path)]
        self.events.append(Named({self._name(path): None}))

    def _write_whole(self, path: Path) -> None:
        """Arrow has written the file, unseen."""
        self.events.append(Wrote(self._give_name(path), 0, path.read_bytes()))

    def _whole(self, path: Path) -> None:
        self._write_whole(path)
        self.events.extend((Synced(self._inodes), DirectorySynced()))


class Disk:
    """What may be on it after these events, and no others."""

    def __init__(self, events: list[Event], picks: random.Random, kept: float) -> None:
        self._picks = picks
        self._kept = kept
        """The chance of whatever was not synced."""
        self.contents: dict[int, bytearray] = {}
        self.names: dict[str, int] = {}
        synced, directory_synced = _last_syncs(events)
        for index, event in enumerate(events):
            match event:
                case Wrote(inode=inode, offset=offset, data=data):
                    self._write(inode, offset, data, index < synced.get(inode, 0))
                case Resized(inode=inode, size=size):
                    if index < synced.get(inode, 0) or self._is_kept():
                        self._resize(inode, size)
                case Named(inodes=inodes):
                    if index < directory_synced or self._is_kept():
                        self._rename(inodes)
                case _:
                    pass

    def write_to(self, directory: Path) -> None:
        """Make the files."""
        for name, inode in sorted(self.names.items()):
            path = directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(self.contents.get(inode, b""))

    def _is_kept(self) -> bool:
        return self._picks.random() < self._kept

    def _write(self, inode: int, offset: int, data: bytes, whole: bool) -> None:
        begin = 0
        while begin < len(data):
            end = len(data) if whole else min(len(data), begin + SECTOR_BYTES - (offset + begin) % SECTOR_BYTES)
            if whole or self._is_kept():
                content = self.contents.setdefault(inode, bytearray())
                if len(content) < offset + end:
                    content.extend(bytes(offset + end - len(content)))
                content[offset + begin : offset + end] = data[begin:end]
            begin = end

    def _resize(self, inode: int, size: int) -> None:
        content = self.contents.setdefault(inode, bytearray())
        del content[size:]
        content.extend(bytes(size - len(content)))

    def _rename(self, inodes: dict[str, int | None]) -> None:
        for name, inode in inodes.items():
            if inode is None:
                self.names.pop(name, None)
            else:
                self.names[name] = inode


def _last_syncs(events: list[Event]) -> tuple[dict[int, int], int]:
    """By file and for the directory, the index of the last sync."""
    synced: dict[int, int] = {}
    directory = 0
    for index, event in enumerate(events):
        match event:
            case Synced(inode=inode):
                synced[inode] = index
            case DirectorySynced():
                directory = index
            case _:
                pass
    return synced, directory


def recording(recorder: Recorder) -> Any:
    """While this lasts, the log's own work with files is recorded."""
    from unittest import mock

    return mock.patch.object(files, "os", recorder)
