"""How an exploration of the ideal stack begins and ends, and how its steps are told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ordercast.core.effects import Deliver, Effect, Multicast, Send, SetTimer
from ordercast.core.events import FromAbove, FromBelow
from ordercast.core.ids import MessageId, SiteId, origin_of, seq_of
from ordercast.core.messages import Bundle
from ordercast.protocols.links.fifo import Numbered
from ordercast.protocols.ordering.messages import Data, Tickets
from ordercast.protocols.ordering.migrating_token import HandedOver
from ordercast.verify.history import site_name
from ordercast.verify.one_view import Arrives, Begins, ClockMoves, Fires, Flushes, HostEvent, Multicasts
from ordercast.verify.reactions import Step
from ordercast.verify.system import EVERYONE, Move, Passage, State, System

FLUSHED = 1
"""The last number of a state in which all sites have flushed."""


class FlushedInTheEnd:
    """All sites install the one view. When nothing else can happen, they flush, once."""

    def begin(self, system: System) -> State:
        return system.for_everyone(system.nothing_yet(), system.reactions.events.number(Begins()))

    def is_over(self, system: System, state: State) -> bool:
        return False

    def end(self, system: System, state: State) -> tuple[Move, State] | None:
        if state[-1] == FLUSHED:
            return None
        flush = system.reactions.events.number(Flushes())
        return (EVERYONE, flush), system.for_everyone((*state[:-1], FLUSHED), flush)

    def opening(self, system: System) -> Passage:
        return Passage([], [])

    def passage(self, system: System, state: State, move: Move) -> Passage:
        place, number = move
        sites = system.members if place == EVERYONE else (SiteId(place),)
        event = system.reactions.events[number]
        words = [_sentence(system.reactions.in_full(state[site], number), event) for site in sites]
        return Passage(words, [(site, system.reactions.react(state[site], number).happenings) for site in sites])


def _sentence(step: Step, event: HostEvent) -> str:
    effects = [words for effect in step.effects if (words := _effect(effect))]
    return ", and ".join([f"{site_name(step.site)} {_event(step, event)}", *effects])


def _event(step: Step, event: HostEvent) -> str:
    match event:
        case Multicasts():
            assert isinstance(step.event, FromAbove)
            return f"is given {message_name(step.event.message.id)} to multicast"
        case Arrives(sender=sender):
            assert isinstance(step.event, FromBelow)
            return f"receives from {site_name(sender)}: {describe(step.event.message)}"
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
