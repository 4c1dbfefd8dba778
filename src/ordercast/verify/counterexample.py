"""The way to a violation, as steps that a person can follow."""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from ordercast.core.effects import Deliver, Effect, Multicast, Send, SetTimer
from ordercast.core.ids import MessageId, SiteId, origin_of, seq_of
from ordercast.core.messages import Bundle
from ordercast.protocols.links.fifo import Numbered
from ordercast.protocols.ordering.messages import Data, Tickets
from ordercast.protocols.ordering.migrating_token import HandedOver
from ordercast.verify.history import SiteHistory
from ordercast.verify.reactions import Arrives, Begins, ClockMoves, Fires, Flushes, HostEvent, Multicasts, Step
from ordercast.verify.system import EVERYONE, Move, State, System


class Counterexample(Struct, frozen=True):
    """What goes wrong, and how it comes about."""

    violations: list[str]
    steps: list[str]


def site_name(site: int) -> str:
    """A, B, C and so on."""
    return string.ascii_uppercase[site]


def tell(system: System, way: Sequence[tuple[State, Move | None]]) -> Counterexample:
    """Go the way once more, and put it into words."""
    histories = [SiteHistory(site, site_name(site)) for site in system.members]
    steps = []
    for state, move in way:
        if move is None:
            continue
        sites = system.members if move[0] == EVERYONE else (SiteId(move[0]),)
        taken = [(system.reactions.in_full(state[site], move[1]), site) for site in sites]
        for step, site in taken:
            histories[site].happenings += system.reactions.react(state[site], move[1]).happenings
            steps.append(_sentence(step, system.reactions.events[move[1]], histories[site]))
    violations = system.judge.explain(histories, drained=not system.broken(way[-1][0]))
    assert violations, "the judge has seen a violation that the properties do not see"
    return Counterexample([str(violation) for violation in violations], steps)


def _sentence(step: Step, event: HostEvent, history: SiteHistory) -> str:
    effects = [words for effect in step.effects if (words := _effect(effect))]
    return ", and ".join([f"{history.name} {_event(step, event, history)}", *effects])


def _event(step: Step, event: HostEvent, history: SiteHistory) -> str:
    match event:
        case Multicasts():
            return f"is given {message_name(history.multicasts()[-1])} to multicast"
        case Arrives(sender=sender):
            assert step.event is not None
            return f"receives from {site_name(sender)}: {describe(getattr(step.event, 'message', None))}"
        case Fires(key=key):
            return f"finds its timer {key!r} run out"
        case ClockMoves():
            return "sees its clock move on"
        case Flushes():
            return "flushes"
        case Begins():
            return "begins"


def _effect(effect: Effect) -> str:
    match effect:
        case Multicast(message=message):
            return f"multicasts {describe(message)}"
        case Send(to=to, message=message):
            return f"sends {site_name(to)} {describe(message)}"
        case Deliver(message=Bundle() as bundle):
            return f"delivers {message_name(bundle.id)}"
        case SetTimer(key=key):
            return f"sets its timer {key!r}"
    return ""


def message_name(message: MessageId) -> str:
    """For example: message 0 of A."""
    return f"message {seq_of(message)} of {site_name(origin_of(message))}"


def describe(message: Any) -> str:
    """A protocol's message in a few words."""
    match message:
        case Data(bundle=bundle, ticket=ticket, issued=issued):
            return f"{message_name(bundle.id)} with ticket {ticket}{_issued(issued)}"
        case Tickets(ticket=ticket, issued=()):
            return f"a promise up to ticket {ticket}"
        case Tickets(ticket=ticket, issued=issued):
            return f"tickets up to {ticket}{_issued(issued)}"
        case HandedOver(handover=handover):
            return f"the token for {site_name(handover.to)} after ticket {handover.ticket}"
        case Numbered(seq=seq, payload=payload):
            return f"frame {seq}: {describe(payload)}"
    return repr(message)


def _issued(issued: Sequence[tuple[int, MessageId]]) -> str:
    return "".join(f", {ticket} for {message_name(message)}" for ticket, message in issued)
