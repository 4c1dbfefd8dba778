"""Files that are complete or not there at all: they grow under a hidden name and get their own at the end."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ENDING = ".unfinished"


def hidden(path: Path) -> Path:
    """The name of a file as long as it grows: of this process alone, also where machines share a directory."""
    return path.with_name(f".{path.name}.{socket.gethostname()}.{os.getpid()}{ENDING}")


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Write to the path that is given out; it gets its name with the end of the block, or goes with an error."""
    unfinished = hidden(path)
    try:
        yield unfinished
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def sweep(directory: Path) -> None:
    """Remove what writers that were killed have left. Nobody may be writing there."""
    for path in directory.glob(f".*{ENDING}"):
        path.unlink(missing_ok=True)
