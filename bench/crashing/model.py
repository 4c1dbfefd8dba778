"""What the log should hold after any number of requests, worked out from the requests alone."""

from __future__ import annotations

import random

import msgspec
from msgspec import Struct

from ordercast.core import canonical
from ordercast.core.entries import Content, Entry, RoleChange
from ordercast.core.ids import SiteId, ViewId, pack_message_id
from ordercast.core.messages import Author, Bundle
from ordercast.core.views import View
from ordercast.protocols.groups.building import needed_from
from ordercast.protocols.groups.log import Base, Sessions
from ordercast.protocols.groups.members import Members
from ordercast.protocols.groups.participants import SavedMembers
from ordercast.protocols.groups.saved import Saved
from ordercast.site.storage.requests import Asked, Finalize, RestartAt, Save, Truncate

BODY_BYTES_MAX = 3000
"""Some entries take more than a page."""


class Expected(Struct, frozen=True):
    """The log after some request, if the site's life had ended there."""

    entries: tuple[Entry, ...] = ()
    """From the first position on, whether or not they are kept so long."""
    holes: tuple[tuple[int, int], ...] = ()
    end: int = 0
    final: int = 0
    base: int = 0
    saved: tuple[tuple[str, bytes], ...] = ()
    before: tuple[int, Expected] | None = None
    """A snapshot at this position that the group has not taken over yet, and what there was before."""

    def recovered(self) -> Expected:
        """After a restart: snapshots that were not taken over are undone."""
        state = self
        while state.before is not None:
            state = state.before[1]
        return msgspec.structs.replace(state, saved=self.saved, base=self.base)

    def after(self, request: Asked | Entry) -> Expected:
        """One request further."""
        replace = msgspec.structs.replace
        match request:
            case Entry(end=end):
                return replace(self, entries=(*self.entries, request), end=end)
            case Truncate(position=position):
                kept = tuple(entry for entry in self.entries if entry.position < position)
                return replace(self, entries=kept, end=position)
            case Finalize(below=below):
                return replace(self, final=below)
            case Save(key=key, value=value):
                return self._saving(key, value)
            case RestartAt(position=position):
                before = self.after(Truncate(self.final))
                start = before.end
                holes = before.holes
                if holes and holes[-1][1] == start:
                    start, holes = holes[-1][0], holes[:-1]
                holes = (*holes, (start, position))
                return replace(before, holes=holes, end=position, final=position, before=(position, before))
            case _:
                raise AssertionError(f"not in a workload: {request}")

    def _saving(self, key: str, value: bytes) -> Expected:
        saved = {**dict(self.saved), key: value}
        base = needed_from(saved)
        before = self.before if self.before is not None and self.before[0] > base else None
        return msgspec.structs.replace(self, saved=tuple(sorted(saved.items())), base=base, before=before)


class Workload:
    """Draws what a site may ask for next, on what its log is expected to hold."""

    def __init__(self, picks: random.Random, expected: Expected, life: int) -> None:
        self._picks = picks
        self._life = life
        self._sequence = 0
        self._following: RestartAt | None = None
        """A snapshot, once the participants have saved that they begin with it."""
        self.states = [expected]
        """After each request, from before the first on."""

    def next(self) -> Asked | Entry:
        """One more."""
        now = self.states[-1]
        request = self._following or self._draw(now, self._picks.random())
        self._following = None
        self.states.append(now.after(request))
        return request

    def _draw(self, now: Expected, pick: float) -> Asked | Entry:
        if now.before is not None and pick < 0.3:
            return saved_by_group(now.before[0])
        if pick < 0.60:
            return self._entry(now)
        if pick < 0.80:
            return Finalize(self._boundary(now, now.final))
        if pick < 0.86:
            return Truncate(self._boundary(now, now.final))
        if pick < 0.92 or (pick < 0.97 and now.before is not None):
            return Save(self._picks.choice(("acceptor", "ordering/x")), self._bytes(200))
        if pick < 0.97:
            save = self._picks.choice((saved_by_group, saved_by_participants))(now.final)
            return msgspec.structs.replace(save, binding=self._picks.random() < 0.5)
        position = now.end + self._picks.randint(1, 20)
        self._following = RestartAt(position)
        return saved_by_participants(position)

    def _boundary(self, now: Expected, least: int) -> int:
        """Where an entry ends, or begins."""
        return self._picks.choice([least, *(entry.end for entry in now.entries if entry.end > least)])

    def _bytes(self, most: int) -> bytes:
        return self._picks.randbytes(self._picks.randint(0, most))

    def _entry(self, now: Expected) -> Entry:
        content: Content
        count = 1
        pick = self._picks.random()
        if pick < 0.8:
            count = self._picks.randint(1, 4)
            bodies = tuple(self._bytes(self._picks.choice((20, 20, BODY_BYTES_MAX))) for _ in range(count))
            author = Author("orders", "alice", 7, self._sequence)
            content = Bundle(pack_message_id(SiteId(2), self._life, self._sequence), bodies, author=author)
            self._sequence += count
        elif pick < 0.9:
            content = View(ViewId(self._picks.randint(1, 9)), (SiteId(0), SiteId(2)), (0, self._life))
        else:
            content = RoleChange(SiteId(2), self._picks.random() < 0.5)
        return Entry(now.end, now.end + count, content, self._picks.getrandbits(60))


def saved_by_group(base: int) -> Save:
    """What a site group saves, as far as the log is concerned: its next life begins there ..."""
    return Save("group", msgspec.msgpack.encode(Saved(Base(base), Sessions(), {})))


def saved_by_participants(position: int) -> Save:
    """... and so do the participants above it. The log is needed from the lower of the two on."""
    return Save("participants", canonical.encode(SavedMembers(position, Members())))
