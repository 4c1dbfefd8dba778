"""How a site group comes into being, for the first time or after an earlier life."""

from __future__ import annotations

from functools import cache, reduce
from operator import or_
from typing import Any

import msgspec
from msgspec import Struct

from ordercast.core.entries import Entry
from ordercast.core.ids import SiteId, ViewId
from ordercast.core.layer import Layer
from ordercast.core.views import View
from ordercast.protocols.groups.causal import Causal
from ordercast.protocols.groups.finality import Finality
from ordercast.protocols.groups.log import RETAINED_POSITIONS, Base, Log
from ordercast.protocols.groups.messages import GroupMessage, Ordering, Private
from ordercast.protocols.groups.participants import Participants, SavedMembers
from ordercast.protocols.groups.saved import Saved
from ordercast.protocols.groups.site_group import SiteGroup
from ordercast.protocols.groups.standing import TELL_US
from ordercast.protocols.groups.view_changes import starting_roles
from ordercast.protocols.ordering.catalogue import ORDERINGS
from ordercast.protocols.ordering.setup import Configured


@cache
def _group_type(ordering: Any) -> Any:
    """The type of a site group that begins with one type of ordering protocol: its fields say how to read its state
    back, as long as it has not gone over to another one. Its messages can be of any."""
    inner: Any = reduce(or_, (each.WIRE for each in ORDERINGS), ordering.WIRE)
    wire = GroupMessage | Ordering[inner] | Private[inner]
    name = f"SiteGroupOver{ordering.__name__}"
    fields: list[tuple[str, Any, Any]] = [
        ("ordering", ordering, msgspec.NODEFAULT),
        ("early", list[tuple[SiteId, int, inner]], msgspec.field(default_factory=list)),
    ]
    return msgspec.defstruct(name, fields, bases=(SiteGroup,), namespace={"WIRE": wire})


class Recovered(Struct, frozen=True):
    """What an earlier life of the site has left, and how much to keep for others."""

    saved: dict[str, bytes] = {}
    """What the layers saved last, by their keys."""
    entries: tuple[Entry, ...] = ()
    """Of the ordered log, at least those from `needed_from` on."""
    final: int = 0
    retained_positions: int = RETAINED_POSITIONS


def needed_from(saved: dict[str, bytes]) -> int:
    """The position from which a life that begins with this needs the entries of the ordered log."""
    group, members = saved.get("group"), saved.get("participants")
    base = 0 if group is None else msgspec.msgpack.decode(group, type=Saved).base.position
    return min(base, 0 if members is None else msgspec.msgpack.decode(members, type=SavedMembers).position)


def participants_over(group: SiteGroup[Any], incarnation: int, recovered: Recovered) -> Participants:
    """The participants above a site group that has come up."""
    saved = recovered.saved.get("participants")
    entries = tuple(entry for entry in recovered.entries if entry.end <= group.log.length)
    return Participants.start(group.me, incarnation, saved, entries, group.log.final)


def group_over(
    ordering: Layer,
    me: SiteId,
    resilience: int,
    aligned: bool,
    recovered: Recovered,
    configured: Configured | None = None,
    tell_us: int = TELL_US,
) -> SiteGroup[Any]:
    """A site group that comes up, for the first time or after an earlier life.

    Entries that do not follow what it has saved without a gap are none of its order; it fetches that from the others.
    """
    log = Log(Base(roles=starting_roles(ordering)), retained_positions=recovered.retained_positions)
    saved = recovered.saved.get("group")
    if saved is not None:
        known = msgspec.msgpack.decode(saved, type=Saved)
        log.restart_at(known.base, known.sessions)
        log.sessions.unordered = dict(known.unordered)
    for entry in recovered.entries:
        if entry.position == log.length:
            log.append(entry.content)
    log.final = max(log.final, min(recovered.final, log.length))
    view = View(ViewId(0), (me,))
    kind = _group_type(type(ordering))
    group: SiteGroup[Any] = kind(
        me=me,
        ordering=ordering,
        resilience=resilience,
        view=view,
        log=log,
        finality=Finality.of(view, resilience),
        causal=Causal.of(view),
        aligned=aligned,
        configured=configured,
        tell_us=tell_us,
    )
    return group
