"""Files and directories of the log: one process at a time, and files that are there as a whole or not at all."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ordercast.core.errors import NotFit

LOCK = "lock"


def make_directory(directory: Path) -> None:
    """The directory is there, durably."""
    missing = [path for path in (directory, *directory.parents) if not path.exists()]
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for path in missing:
            sync_directory(path.parent)
    except OSError as error:
        raise NotFit(f"{directory}: cannot be made ({error.strerror})") from error


def lock(directory: Path) -> int:
    """Keep every other process out of the directory until the descriptor is closed, by whatever end of this one."""
    path = directory / LOCK
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise NotFit(f"{path}: cannot be opened ({error.strerror})") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        holder = os.read(descriptor, 20).decode("ascii", "replace").strip() or "unknown"
        os.close(descriptor)
        raise NotFit(f"{directory}: in use by another process ({holder}); stop that one first") from error
    os.ftruncate(descriptor, 0)
    os.write(descriptor, b"%d\n" % os.getpid())
    return descriptor


@contextmanager
def written_durably(path: Path) -> Iterator[Path]:
    """A hidden name to write to; the file gets its own once it is on disk. After an error there is none."""
    unfinished = hidden(path)
    try:
        yield unfinished
        sync_file(unfinished)
        os.replace(unfinished, path)
        sync_directory(path.parent)
    except BaseException:
        remove(unfinished)
        raise


def hidden(path: Path) -> Path:
    """The name of a file that is not finished."""
    return path.with_name(f".{path.name}.unfinished")


def sync_file(path: Path) -> None:
    """What the file holds is on disk."""
    _sync(path, os.O_RDONLY)


def sync_directory(directory: Path) -> None:
    """Which files the directory holds is on disk."""
    _sync(directory, os.O_RDONLY | os.O_DIRECTORY)


def _sync(path: Path, flags: int) -> None:
    descriptor = os.open(path, flags | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove(path: Path) -> None:
    """The file is gone, sooner or later also from the disk."""
    with suppress(FileNotFoundError):
        os.unlink(path)
