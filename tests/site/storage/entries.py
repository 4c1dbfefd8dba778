"""Entries for logs in tests."""

from __future__ import annotations

from collections.abc import Iterator

from bench.crashing.model import saved_by_group, saved_by_participants

from ordercast.core.entries import Content, Entry, RoleChange
from ordercast.core.ids import SiteId, ViewId, pack_message_id
from ordercast.core.messages import Author, Bundle, Level
from ordercast.core.views import View
from ordercast.protocols.groups.log import Base, Log
from ordercast.site.storage.ordered_log import OrderedLog


def bundle(seq: int, *bodies: bytes, group: str = "orders") -> Bundle:
    """Of site 2."""
    return Bundle(pack_message_id(SiteId(2), 1, seq), bodies, Level.AGREED, author=Author(group, "alice", 7, seq))


def view(number: int) -> View:
    return View(ViewId(number), (SiteId(0), SiteId(2)), (0, 1))


def entries(*contents: Content, start: int = 0, digest: int = 0) -> list[Entry]:
    """With positions and digests as a site group gives them."""
    log = Log(base=Base(start, digest))
    return [log.append(content) for content in contents]


def messages(count: int, start: int = 0, size: int = 10) -> list[Entry]:
    """Entries of one message each."""
    return entries(*(bundle(start + number, bytes(size)) for number in range(count)), start=start)


def mixed(start: int = 0) -> list[Entry]:
    """A view, bundles of several messages and of one, and a role change: eight positions."""
    return entries(
        view(1),
        bundle(start, b"a", b"b", b"c"),
        RoleChange(SiteId(2), True),
        bundle(start + 3, b"d"),
        bundle(start + 4, b"e", b"f"),
        start=start,
    )


def save_base(log: OrderedLog, position: int) -> None:
    """As if the next life needed the log from there on."""
    for save in (saved_by_participants(position), saved_by_group(position)):
        log.save(save.key, save.value)


def read_all(log: OrderedLog, start: int = 0) -> Iterator[Entry]:
    """Every entry from a position on, in small chunks."""
    while start < log.end:
        chunk = log.read(start, log.end, limit_bytes=30)
        assert chunk.entries
        yield from chunk.entries
        start = chunk.end
