"""Goals of an exploration: things that must happen at least once, or the scope is too small to show anything."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ordercast.core.effects import Deliver, Multicast, Record
from ordercast.core.entries import RoleChange
from ordercast.core.events import FromBelow
from ordercast.core.stack import Stack
from ordercast.protocols.links.fifo import Fifo
from ordercast.protocols.ordering.configuration import Envelope
from ordercast.protocols.ordering.hybrid import Hybrid
from ordercast.protocols.ordering.merge import Merge
from ordercast.protocols.ordering.messages import Data, Tickets
from ordercast.protocols.ordering.migrating_token import HandedOver
from ordercast.verify.reactions import Step

Goal = Callable[[Step], bool]

APART = "sites have delivered different numbers of messages"
"""The one goal that no single step shows."""


def _ordering(step: Step) -> Any:
    return step.after.layers[0] if isinstance(step.after, Stack) else step.after


def _sent(step: Step) -> Iterator[Any]:
    """What the site multicast at this step."""
    for effect in step.effects:
        if isinstance(effect, Multicast):
            yield effect.message


def _waited(step: Step) -> bool:
    merge: Merge[Any] = _ordering(step).merge
    return bool(merge.without_ticket()) or (bool(merge.tickets) and merge.tickets[0] > merge.frontier)


def _ticket_first(step: Step) -> bool:
    merge: Merge[Any] = _ordering(step).merge
    return any(message not in merge.held for _, _, message in merge.tickets)


def _promised(step: Step) -> bool:
    return any(isinstance(message, Tickets) and not message.issued for message in _sent(step))


def _rode(step: Step) -> bool:
    return any(isinstance(message, Data) and message.issued for message in _sent(step))


def _jumped(step: Step) -> bool:
    match step.event:
        case FromBelow(message=Data(ticket=ticket)):
            return bool(_ordering(step).issuer.clock.value > ticket + 1)
    return False


def _sequenced(step: Step) -> bool:
    layer = _ordering(step)
    assert isinstance(layer, Hybrid)
    delivered = (effect.message.origin for effect in step.effects if isinstance(effect, Deliver))
    return any(layer.sequencers[origin] != origin for origin in delivered)


def _handed_over(step: Step) -> bool:
    return any(isinstance(message, HandedOver) for message in _sent(step))


def _handed_on(step: Step) -> bool:
    return step.site != 0 and _handed_over(step)


def _overtaken(step: Step) -> bool:
    return isinstance(step.after, Stack) and any(
        bool(early) for layer in step.after.layers if isinstance(layer, Fifo) for early in layer.early.values()
    )


def _switched(active: bool) -> Goal:
    def goal(step: Step) -> bool:
        changes = [effect.message for effect in step.effects if isinstance(effect, Deliver)]
        return any(isinstance(change, RoleChange) and change.active is active for change in changes)

    return goal


def decided(what: str) -> Goal:
    """A site has left a note on its role that begins so."""

    def goal(step: Step) -> bool:
        notes = [effect.note for effect in step.effects if isinstance(effect, Record)]
        return any(note.detail is not None and note.detail.startswith(what) for note in notes)

    return goal


def _unassigned(step: Step) -> bool:
    return any(isinstance(message, Envelope) and message.sequencer is None for message in _sent(step))


GOALS: dict[str, Goal] = {
    "a message waited for a ticket": _waited,
    "a ticket came before its message": _ticket_first,
    "a promise was sent": _promised,
    "tickets rode on a message": _rode,
    "a ticket clock jumped ahead": _jumped,
    "a passive site's message was ordered by its sequencer": _sequenced,
    "the token moved": _handed_over,
    "the token moved on": _handed_on,
    "a message overtook another": _overtaken,
    "a site went active": _switched(True),
    "a site went passive": _switched(False),
    "the last active site stayed": decided("aborted"),
    "a site changed its sequencer": decided("sequencer"),
    "messages were reassigned": decided("reassigned"),
    "a message was sent while its site switched": _unassigned,
}
