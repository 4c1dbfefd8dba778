"""The steps of a live group in words."""

from __future__ import annotations

from typing import Any, assert_never

from ordercast.core.deliveries import Delivered, Entered, Finalized, Retracted
from ordercast.core.effects import Deliver, Effect, Send
from ordercast.core.events import FromAbove, FromBelow
from ordercast.core.ids import SiteId
from ordercast.protocols.groups.messages import Ordering, Private
from ordercast.protocols.links.frames import Reset, Unreliable
from ordercast.protocols.membership.messages import Alive, Cast, Direct
from ordercast.verify.history import site_name
from ordercast.verify.one_view_plot import describe as describe_ordering
from ordercast.verify.one_view_plot import message_name
from ordercast.verify.reactions import Step
from ordercast.verify.views.events import (
    Allows,
    Arrives,
    Boots,
    Crashes,
    Drops,
    Fires,
    HostEvent,
    Multicasts,
    Restarts,
    Ticks,
)
from ordercast.verify.views.script import AllArrives, AllIsLost, Does, Receives, ScriptStep, Settles
from ordercast.verify.views.states import Budget


def told(step: Step, event: HostEvent) -> str:
    """A step, with what it leads to."""
    message = step.event.message if isinstance(step.event, FromAbove | FromBelow) else None
    effects = [words for words in map(_effect, step.effects) if words]
    return ", and ".join([f"{site_name(step.site)} {_befalls(event, message)}", *effects])


def told_in_script(step: ScriptStep) -> str:
    """A step of the script, in short."""
    match step:
        case Does(site=site, event=event):
            return f"{site_name(site)} {_befalls(event, None)}"
        case Receives(site=site, sender=sender, kind=kind):
            return f"{site_name(site)} receives from {site_name(sender)}: {kind}"
        case AllArrives():
            return "Whatever is under way arrives"
        case AllIsLost():
            return "Whatever is under way is lost"
        case Settles():
            return "Those who are up come to one view and one order"
        case _:
            assert_never(step)


def _befalls(event: HostEvent, message: Any) -> str:
    match event:
        case Multicasts():
            return f"is given {message_name(message.id)} to multicast" if message else "is given a message to multicast"
        case Arrives(sender=sender) | Drops(sender=sender):
            return f"receives from {site_name(sender)}: {describe(message)}"
        case Ticks(silent=()):
            return "sees time pass"
        case Ticks(silent=silent):
            return f"sees time pass without a word from {names_of(silent)}"
        case Fires(key=key):
            return f"finds its timer {key!r} run out"
        case Crashes(lost=lost):
            return "crashes, and what is under way from it is lost" if lost else "crashes"
        case Restarts():
            return "comes up again"
        case Boots():
            return "comes up"
        case Allows():
            return "goes on"
        case _:
            assert_never(event)


def names_of(sites: tuple[SiteId, ...]) -> str:
    """A, B and C."""
    names = [site_name(site) for site in sites]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def allowed(budgets: tuple[Budget, ...]) -> str:
    """What may happen at the sites beside arrivals, in short."""
    by_site = [(site_name(site), words) for site, each in enumerate(budgets) if (words := _allowed_at_one(each))]
    return "; ".join(f"{name} {words}" for name, words in by_site)


def _allowed_at_one(budget: Budget) -> str:
    counted = [
        (budget.multicasts, "multicasts"),
        (budget.ticks, "sees time pass"),
        (budget.tells, "tells"),
        (budget.retries, "asks again"),
        (budget.crashes, "crashes"),
        (budget.restarts, "comes back"),
    ]
    return ", ".join(words if count == 1 else f"{words} ({count} times)" for count, words in counted if count)


def _effect(effect: Effect) -> str:
    match effect:
        case Send(message=Unreliable(message=Alive())):
            return ""
        case Send(to=to, message=Unreliable(message=message)):
            return f"sends {site_name(to)} {describe(message)}"
        case Send(to=to, message=Reset()):
            return f"begins anew with {site_name(to)}"
        case Send(to=to, message=message):
            return f"sends {site_name(to)} {describe(message)}"
        case Deliver(message=Delivered(bundle=bundle, position=position)):
            return f"delivers {message_name(bundle.id)} at position {position}"
        case Deliver(message=Entered(view=view)):
            return f"installs view {view.id} of {names_of(view.members)}"
        case Deliver(message=Finalized(below=below)):
            return f"has as final what is below {below}"
        case Deliver(message=Retracted(from_position=position)):
            return f"retracts from position {position} on"
    return ""


def describe(message: Any) -> str:
    """A message of a live group in a few words."""
    match message:
        case Alive(view=view):
            return f"a heartbeat from view {view.id}"
        case Cast(number=number, payload=payload):
            return f"cast {number}: {describe(payload)}"
        case Direct(payload=payload):
            return describe(payload)
        case Ordering(ordered=ordered, message=inner):
            return f"{describe_ordering(inner)} (having ordered {ordered})"
        case Private(message=inner):
            return describe_ordering(inner)
    return repr(message)
