"""The package as one file: for workers that have its dependencies but not itself; and a digest of what it does."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from ordercast.core.errors import NotFit
from ordercast.records.whole_files import whole_file

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PACKAGE = "ordercast"

OLDEST_TIME = (1980, 1, 1, 0, 0, 0)
"""A zip file knows no earlier one. All files have it, so that the same package gives the same bytes."""

RUNNING = ("core", "planning", "protocols", "records", "simulator", "verify")
"""The rooms on which it depends what comes of a run."""


@cache
def code_digest(*more: str) -> str:
    """Of all code that decides what comes of a run, and of further rooms: a run is finished if this very code ran it.

    A version number alone would take runs of yesterday's protocol for those of today's.
    """
    digest = hashlib.blake2b(digest_size=8)
    for room in sorted({*RUNNING, *more}):
        for name, source in _sources(files(PACKAGE) / room, room):
            digest.update(b"%s\0%d\0%s" % (name.encode(), len(source), source))
    return digest.hexdigest()


def pack(path: Path) -> None:
    """Write the package as a zip file that Python can import from."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as unfinished, zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, source in _sources(files(PACKAGE), PACKAGE, ("py", "properties", "typed")):
                archive.writestr(zipfile.ZipInfo(name, OLDEST_TIME), source, zipfile.ZIP_DEFLATED)
    except OSError as error:
        raise NotFit(f"{path}: cannot be written ({error.strerror or error})") from error


@contextmanager
def shipped(session: SparkSession) -> Iterator[None]:
    """Within the block a session's workers import this very package, whether they have it installed or not: they
    fetch it from here as they start."""
    with TemporaryDirectory(prefix="ordercast-") as directory:
        path = Path(directory) / f"{PACKAGE}.zip"
        pack(path)
        session.addArtifacts(str(path), pyfile=True)
        yield


def _sources(folder: Traversable, name: str, endings: tuple[str, ...] = ("py",)) -> Iterator[tuple[str, bytes]]:
    for each in sorted(folder.iterdir(), key=lambda each: each.name):
        inside = f"{name}/{each.name}"
        if each.is_dir():
            yield from _sources(each, inside, endings)
        elif each.name.rsplit(".")[-1] in endings:
            yield inside, each.read_bytes()
