"""The order digest: the same final order gives the same digest at every site, and the alarm names where it does not.

Members tell their digest of the final order now and then. If ours says otherwise at the same place, we ask for theirs
at several places below it, and again in between, until the first entry that differs is found. `group` is the
`SiteGroup` whose state this reads and changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

from ordercast.core.deliveries import Diverged
from ordercast.core.effects import Out
from ordercast.core.ids import SiteId
from ordercast.protocols.groups.messages import Digests, Probe, Standing

if TYPE_CHECKING:
    from ordercast.protocols.groups.site_group import SiteGroup

    Group = SiteGroup[Any]

PLACES_MAX = 32
"""So many digests are asked for at once: three times, where ten thousand entries are kept."""


def on_receive(group: Group, sender: SiteId, message: Standing | Probe | Digests, out: Out) -> None:
    """A member tells where it stands, asks for digests, or answers."""
    match message:
        case Standing():
            group.hear_length(sender, message.ordered, out)
            compare(group, sender, message, out)
        case Probe():
            on_probe(group, sender, message, out)
        case Digests():
            on_digests(group, sender, message, out)
        case _:
            assert_never(message)


def compare(group: Group, sender: SiteId, standing: Standing, out: Out) -> None:
    """A member tells where it stands."""
    if standing.digest < 0 or not group.aligned or standing.final > group.log.final:
        return
    mine = group.log.digest_at(standing.final)
    if mine is not None and mine != standing.digest:
        narrow(group, sender, group.log.base.position, standing.final, out)


def narrow(group: Group, member: SiteId, same: int, different: int, out: Out) -> None:
    """The orders differ below `different`, and as far as known not below `same`: ask for more, or raise the alarm."""
    ends = [entry.end for entry in group.log.slice(same, different)][:-1]
    if ends:
        step = -(-len(ends) // PLACES_MAX)
        out.send(member, Probe((same, *ends[::step], different)))
    else:
        out.deliver(group.me, Diverged(same, member))


def on_probe(group: Group, asker: SiteId, probe: Probe, out: Out) -> None:
    """Tell our digests, where we know them."""
    if group.aligned:
        known = [(place, group.log.digest_at(place)) for place in probe.places]
        out.send(asker, Digests(tuple((place, digest) for place, digest in known if digest is not None)))


def on_digests(group: Group, member: SiteId, digests: Digests, out: Out) -> None:
    """Go on between the last place where the orders are the same and the first where they are not."""
    shared = [(place, digest == group.log.digest_at(place)) for place, digest in digests.known]
    same = max((place for place, equal in shared if equal), default=-1)
    different = min((place for place, equal in shared if not equal and place > same), default=-1)
    if different < 0:
        return
    if same < 0:
        out.deliver(group.me, Diverged(different, member))
    elif (same, different) == (shared[0][0], shared[-1][0]):
        out.deliver(group.me, Diverged(same, member))
    else:
        narrow(group, member, same, different, out)
