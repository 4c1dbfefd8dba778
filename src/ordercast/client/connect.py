"""Where an application begins."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ordercast.client.line import dial_socket
from ordercast.client.site import Site
from ordercast.core.errors import WrongUse

if TYPE_CHECKING:
    from ordercast.client.embedded import EmbeddedSite

SCHEME = "unix://"


def connect(address: str | Path, *, name: str, reconnect: bool = True) -> Site:
    """A participant of the site whose socket this is (`unix:///run/ordercast/lis1.sock`, or the path alone).

    Connected inside an `async with` block. If the connection is lost it is made again, and streams go on where they
    were, unless `reconnect` is False.
    """
    return Site(dial_socket(socket_path(address)), name, reconnect=reconnect)


def embedded(cluster_file: str | Path, site: str, *, name: str | None = None) -> EmbeddedSite:
    """A participant of a site that runs in this process and loop inside an `async with` block."""
    from ordercast.client.embedded import EmbeddedSite

    return EmbeddedSite(cluster_file, site, name=name or site)


def socket_path(address: str | Path) -> Path:
    """The path in an address."""
    text = str(address)
    if "://" in text and not text.startswith(SCHEME):
        raise WrongUse(f"{text}: expected unix:///PATH, the socket of a site")
    return Path(text.removeprefix(SCHEME))
