"""The promises of a live group, judged on a compact record: the same checks as in `verify.group`, for agreed and safe
messages of one body, as a function of values.

Virtual synchrony needs no check of its own here: who enters a view with the order before it has delivered what that
order says, and all who do have the same.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from ordercast.core.deliveries import (
    Delivered,
    Delivery,
    Diverged,
    Entered,
    Finalized,
    Logged,
    Retracted,
    RoleChanged,
    Truncated,
    ViewChanged,
)
from ordercast.core.ids import SEQ_BITS, MessageId, SiteId, incarnation_of, origin_of, seq_of
from ordercast.core.messages import Bundle, Level
from ordercast.core.views import View
from ordercast.verify.group.checker import GroupChecker
from ordercast.verify.group.ordered import content_of
from ordercast.verify.history import site_name
from ordercast.verify.judges import Story
from ordercast.verify.views.happenings import Broke, Crashed, Given, Revived
from ordercast.verify.views.record import Agreed, Ledger, Place, Standing, identity_of, place_of


class GroupJudge:
    """Keeps a ledger. What it finds wrong the plain checks of `verify.group` explain."""

    def __init__(self, resilience: int = 0) -> None:
        self._resilience = resilience

    def start(self, sites: int) -> Ledger:
        return Ledger((Standing(),) * sites)

    def after(self, record: Ledger, site: SiteId, happenings: Sequence[Any]) -> Hashable | None:
        ledger: Ledger | None = record
        for happening in happenings:
            if ledger is None:
                return None
            ledger = self._one(ledger, site, happening)
        return ledger

    def _one(self, ledger: Ledger, site: SiteId, happening: Any) -> Ledger | None:
        mine = ledger.sites[site]
        match happening:
            case Given(bundle=bundle):
                return _given(ledger, site, bundle.id)
            case Crashed():
                return ledger.with_site(site, mine._replace(up=False, view=None))
            case Revived(life=life):
                revived = mine._replace(up=True, life=life, given=(*mine.given, 0), shown=mine.final)
                return ledger.with_site(site, revived)
            case Logged():
                return _logged(ledger, site, happening)
            case Truncated(from_position=start):
                kept = mine._replace(log=mine.log[:start], retracted=True)
                return None if start < mine.final else ledger.with_site(site, kept)
            case Finalized(below=below):
                return _finalized(ledger, site, below)
            case Delivered() | ViewChanged() | RoleChanged():
                return self._shown(ledger, site, happening)
            case Retracted(from_position=start):
                return ledger.with_site(site, mine._replace(shown=min(mine.shown, start)))
            case Entered(view=view):
                return _entered(ledger, site, view)
            case Diverged() | Broke():
                return None
        return ledger

    def _shown(self, ledger: Ledger, site: SiteId, shown: Delivered | ViewChanged | RoleChanged) -> Ledger | None:
        """What participants see is the log, in order; safe messages only when enough members hold them."""
        mine, position = ledger.sites[site], shown.position
        content = identity_of(content_of(shown))
        if position != mine.shown or position >= len(mine.log) or mine.log[position][1] != content:
            return None
        safe = isinstance(shown, Delivered) and shown.bundle.level == Level.SAFE
        if safe and (position >= mine.final or not self._is_held(ledger, mine, position)):
            return None
        return ledger.with_site(site, mine._replace(shown=position + 1))

    def _is_held(self, ledger: Ledger, mine: Standing, position: int) -> bool:
        assert mine.view is not None
        members = mine.view.members
        logs = [ledger.sites[member].log for member in members]
        holders = sum(1 for log in logs if len(log) > position and log[position] == mine.log[position])
        return holders >= min(len(members), max(self._resilience + 1, len(members) // 2 + 1))

    def complete(self, record: Ledger) -> bool:
        """Whether a group that can go on has come to one view and one order, with all that its members were given.

        It cannot if those who are up are no quorum of the newest view that one of them has been in: of one that was
        decided after it, and that only others know of, they will never hear.
        """
        up = tuple(SiteId(site) for site, each in enumerate(record.sites) if each.up)
        known = [each.known for each in record.sites if each.up and each.known is not None]
        if not known:
            return False
        newest = max(known, key=lambda view: view.id)
        if not newest.is_quorum(up):
            return True
        standings = [record.sites[site] for site in up]
        lives = tuple(each.life for each in standings)
        return (
            newest.members == up
            and tuple(newest.incarnation(site) for site in up) == lives
            and all(_is_done(each, standings[0], newest) for each in standings)
            and all(_is_ordered(site, record.sites[site]) for site in up)
        )

    def apart(self, record: Ledger) -> bool:
        logs = [len(each.log) for each in record.sites]
        return min(logs) != max(logs)

    def explain(self, story: Story, *, drained: bool) -> list[str]:
        sites = 1 + max(site for site, _ in story)
        names = tuple(site_name(site) for site in range(sites))
        checker = GroupChecker(names, self._resilience)
        errors = [error for site, happenings in story for each in happenings for error in _tell(checker, site, each)]
        stuck = ["convergence: the sites that are up do not come to one view and one order"] if drained else []
        return errors + checker.violations + stuck


def _given(ledger: Ledger, site: SiteId, message: MessageId) -> Ledger:
    mine, agreed = ledger.sites[site], ledger.agreed
    past = max(0 if mine.retracted else mine.shown, mine.final)
    pasts = tuple(sorted((*agreed.pasts, (message, past))))
    given = (*mine.given[:-1], mine.given[-1] + 1)
    return ledger.with_site(site, mine._replace(given=given))._replace(agreed=agreed._replace(pasts=pasts))


def _logged(ledger: Ledger, site: SiteId, logged: Logged) -> Ledger | None:
    """No gap, no creation; and every site that comes to a view has the same order before it."""
    mine, agreed, entry = ledger.sites[site], ledger.agreed, logged.entry
    if entry.position != len(mine.log) or entry.end != entry.position + 1:
        return None
    place = place_of(entry)
    if isinstance(entry.content, View):
        known = {id: (position, there) for id, position, there in agreed.places}
        if known.setdefault(entry.content.id, (entry.position, place)) != (entry.position, place):
            return None
        places = tuple((id, *there) for id, there in sorted(known.items()))
        ledger = ledger._replace(agreed=agreed._replace(places=places))
    elif isinstance(entry.content, Bundle) and not _was_given(ledger, entry.content.id):
        return None
    return ledger.with_site(site, mine._replace(log=(*mine.log, place)))


def _was_given(ledger: Ledger, message: MessageId) -> bool:
    given = ledger.sites[origin_of(message)].given
    life = incarnation_of(message)
    return life < len(given) and seq_of(message) < given[life]


def _finalized(ledger: Ledger, site: SiteId, below: int) -> Ledger | None:
    """What is final is the same everywhere, for ever."""
    mine = ledger.sites[site]
    if not mine.final <= below <= len(mine.log):
        return None
    agreed: Agreed | None = ledger.agreed
    for position in range(mine.final, below):
        if agreed is None:
            return None
        if position < len(agreed.final):
            agreed = agreed if agreed.final[position] == mine.log[position] else None
        else:
            agreed = _with_final(agreed, mine.log[position])
    if agreed is None:
        return None
    return ledger.with_site(site, mine._replace(final=below))._replace(agreed=agreed)


def _with_final(agreed: Agreed, place: Place) -> Agreed | None:
    """The next entry of the one final order: in its sender's order, once, and behind what precedes it."""
    message = place[1]
    if message >= 0:
        newest = max(
            (each for _, each in agreed.final if each >= 0 and each >> SEQ_BITS == message >> SEQ_BITS), default=-1
        )
        if message <= newest or len(agreed.final) < dict(agreed.pasts).get(MessageId(message), 0):
            return None
    pasts = tuple(each for each in agreed.pasts if each[0] != message)
    return agreed._replace(final=(*agreed.final, place), pasts=pasts)


def _entered(ledger: Ledger, site: SiteId, view: View) -> Ledger | None:
    """Two sites never install different views of the same number."""
    agreed = ledger.agreed
    known = {each.id: each for each in agreed.views}
    if known.setdefault(view.id, view) != view:
        return None
    views = tuple(known[id] for id in sorted(known))
    entered = ledger.with_site(site, ledger.sites[site]._replace(view=view, known=view))
    return entered._replace(agreed=agreed._replace(views=views))


def _is_done(mine: Standing, other: Standing, view: View) -> bool:
    return mine.view == view and mine.log == other.log and mine.final == mine.shown == len(mine.log)


def _is_ordered(site: int, mine: Standing) -> bool:
    """Whether everything that its participants have multicast in this life has a place."""
    ordered = [each for _, each in mine.log if each >= 0 and origin_of(MessageId(each)) == site]
    return sum(1 for each in ordered if incarnation_of(MessageId(each)) == mine.life) == mine.given[-1]


def _tell(checker: GroupChecker, site: SiteId, happening: Any) -> list[str]:
    """Let the plain checks see it."""
    match happening:
        case Given(bundle=bundle):
            checker.on_multicast(0, site, bundle)
        case Revived(life=life):
            checker.on_recover(0, site, life)
        case Crashed():
            pass
        case Broke(error=error):
            return [f"error: {site_name(site)} fails: {error}"]
        case _:
            delivery: Delivery = happening
            checker.on_group(0, site, delivery)
    return []
