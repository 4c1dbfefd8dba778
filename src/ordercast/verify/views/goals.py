"""What must be seen to happen in an exploration of a live group."""

from __future__ import annotations

from collections.abc import Callable

from ordercast.core.deliveries import Delivered, Entered, GroupBlocked, Retracted, RoleChanged
from ordercast.core.effects import Deliver, Send
from ordercast.core.events import FromBelow
from ordercast.core.stack import Stack
from ordercast.protocols.groups.messages import Supplement
from ordercast.protocols.links.frames import Unreliable
from ordercast.protocols.membership.messages import Accept, Direct, Prepare, Promise, Refuse, Supply
from ordercast.protocols.membership.view_synchrony import ViewSynchrony
from ordercast.protocols.ordering.dynamic_hybrid import DynamicHybrid
from ordercast.verify.goals import Goal, decided
from ordercast.verify.reactions import Step


def _views(step: Step) -> ViewSynchrony[object] | None:
    return step.after.layers[1] if isinstance(step.after, Stack) else None  # type: ignore[return-value]


def _sent(kind: type) -> Goal:
    def goal(step: Step) -> bool:
        messages = [effect.message for effect in step.effects if isinstance(effect, Send)]
        return any(isinstance(each, Unreliable) and isinstance(each.message, kind) for each in messages)

    return goal


def _installs(accept: Callable[[Entered], bool]) -> Goal:
    def goal(step: Step) -> bool:
        told = [effect.message for effect in step.effects if isinstance(effect, Deliver)]
        return any(isinstance(each, Entered) and each.view.id > 1 and accept(each) for each in told)

    return goal


def _told(kind: type) -> Goal:
    def goal(step: Step) -> bool:
        return any(isinstance(effect, Deliver) and isinstance(effect.message, kind) for effect in step.effects)

    return goal


def _switched(active: bool) -> Goal:
    def goal(step: Step) -> bool:
        told = [effect.message for effect in step.effects if isinstance(effect, Deliver)]
        return any(isinstance(each, RoleChanged) and each.change.active is active for each in told)

    return goal


def _asks_another(step: Step) -> bool:
    """A passive site has a sequencer that is not the lowest member."""
    ordering = step.after.layers[0].ordering if isinstance(step.after, Stack) else None  # type: ignore[attr-defined]
    return isinstance(ordering, DynamicHybrid) and ordering.phase == "passive" and ordering.sequencer.site != 0


def _ordered_in_the_change(step: Step) -> bool:
    """A message is delivered by a site whose view is closed."""
    views = _views(step)
    return views is not None and views.phase == "closed" and _told(Delivered)(step)


def _learns_of_accepted(step: Step) -> bool:
    match step.event:
        case FromBelow(message=Promise(accepted=accepted)):
            return accepted is not None
    return False


def _proposes_anew(step: Step) -> bool:
    """A coordinator asks to agree to what it has found accepted under another's ballot."""
    views = _views(step)
    if views is None or views.proposal is None or views.proposal.successor is None:
        return False
    accepted = [each.accepted for each in views.proposal.promises.values() if each.accepted is not None]
    other = any(ballot[1] != views.me for ballot, _ in accepted)
    return other and _sent(Accept)(step)


def _second_coordinator(step: Step) -> bool:
    """Somebody asks to stop who is not the lowest member."""
    match step.event:
        case FromBelow(message=Prepare(ballot=(_, coordinator))):
            return coordinator != 0
    return False


def _names_a_log(step: Step) -> bool:
    """A coordinator proposes a successor whose order is that of somebody's log."""
    sent = [effect.message for effect in step.effects if isinstance(effect, Send)]
    accepts = [each.message for each in sent if isinstance(each, Unreliable) and isinstance(each.message, Accept)]
    return any(accept.successor.floor is not None for accept in accepts)


def _supplement(step: Step) -> bool:
    match step.event:
        case FromBelow(message=Direct(payload=Supplement(entries=entries))):
            return bool(entries)
    return False


GROUP_GOALS: dict[str, Goal] = {
    "all went on to the next view": _installs(lambda entered: len(entered.view.members) > 2 and entered.continuing),
    "a site was left out of the next view": _installs(lambda entered: len(entered.view.members) < 3),
    "a message was ordered while the view was being closed": _ordered_in_the_change,
    "a message of the cut had to be fetched": _sent(Supply),
    "a coordinator was refused": _sent(Refuse),
    "a second coordinator asked": _second_coordinator,
    "a promise told of an accepted successor": _learns_of_accepted,
    "the next coordinator proposed what was accepted before": _proposes_anew,
    "a log became the order": _names_a_log,
    "the order was fetched by a site that had come in": _supplement,
    "a site came in": _installs(lambda entered: not entered.continuing),
    "a site took something back": _told(Retracted),
    "a site was blocked": _told(GroupBlocked),
    "a site went active": _switched(True),
    "a site went passive": _switched(False),
    "the last active site stayed": decided("aborted"),
    "a site asked another sequencer": _asks_another,
    "messages were reassigned": decided("reassigned"),
    "a site took over": decided("took over"),
    "a safe message was delivered": lambda step: any(
        isinstance(effect, Deliver) and isinstance(effect.message, Delivered) and effect.message.final
        for effect in step.effects
    ),
}
