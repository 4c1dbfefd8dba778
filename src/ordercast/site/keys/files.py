"""What lies in the directory of the keys, and how it gets there.

A site's machine needs three of the files: `trusted.pem`, `SITE.crt` and `SITE.key`. The rest belongs to whoever issues
certificates, and need not be on any machine of the cluster.
"""

from __future__ import annotations

import os
from pathlib import Path

from ordercast.core.errors import NotFit, WrongUse

PRIVATE = 0o600
PUBLIC = 0o644


class KeyFiles:
    """The directory of a cluster's keys."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.trusted = directory / "trusted.pem"
        """Certificates of the authorities that count, and the lists of what they have revoked."""
        self.cluster = directory / "cluster"
        """The name of the cluster: it stands in every certificate."""

    def authority(self, generation: int) -> tuple[Path, Path]:
        """Certificate and key of one of the cluster's authorities, which follow each other."""
        return self.directory / f"authority-{generation}.crt", self.directory / f"authority-{generation}.key"

    def revoked(self, generation: int) -> Path:
        """What an authority has revoked."""
        return self.directory / f"authority-{generation}.crl"

    def site(self, name: str) -> tuple[Path, Path]:
        """Certificate and key of a site."""
        return self.directory / f"{name}.crt", self.directory / f"{name}.key"

    def history(self, name: str) -> Path:
        """The serial numbers of all certificates that a site was ever given, with the authority of each."""
        return self.directory / f"{name}.issued"

    def generations(self) -> list[int]:
        """The authorities that still count, the newest last."""
        names = (path.stem.removeprefix("authority-") for path in self.directory.glob("authority-*.crt"))
        return sorted(int(name) for name in names if name.isdecimal())

    def cluster_name(self) -> str:
        """For which cluster these keys are."""
        return self.read(self.cluster).decode().strip()

    def read(self, path: Path) -> bytes:
        """A file that must be there."""
        try:
            return path.read_bytes()
        except FileNotFoundError as error:
            raise WrongUse(f"{path}: no such file; `ordercast keys init` and `issue` make it") from error
        except OSError as error:
            raise NotFit(f"{path}: cannot be read ({error.strerror})") from error

    def write(self, path: Path, data: bytes, mode: int = PUBLIC) -> None:
        """Put a file in place, whole or not at all."""
        unfinished = path.with_name(f".{path.name}.unfinished")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            unfinished.unlink(missing_ok=True)
            descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(descriptor)
            os.replace(unfinished, path)
        except OSError as error:
            raise NotFit(f"{path}: cannot be written ({error.strerror})") from error
