"""What a site has had to retract, and which of its own bundles may not come up before that.

A participant may have answered what was delivered here tentatively and is retracted now. Its answer waits at this site
until the question has come up again, and so does whatever this site multicasts from then on. The life that has sent
the question has it outstanding, and multicasts it again. While that life is not a member of the view nobody waits for
it: it may be away for ever. If it comes back, what has not come up until then waits again. Fifo and causal bundles
never do; but they tell what their site has retracted, once in a view, so that answers to them wait as well.

Nobody waits for ever. What is held waits for what its site had in its log when it was accepted, so for what another
site had accepted earlier; a circle of such waits would have to go back in time. Nor do bundles close one that wait for
others by way of causal ones: those had been handed on in the same view before them, and nobody has retracted them.

`group` is the `SiteGroup` whose state the functions read and change.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ordercast.core.effects import Out
from ordercast.core.events import FromAbove, Now
from ordercast.core.ids import MessageId, incarnation_of
from ordercast.core.messages import Bundle

if TYPE_CHECKING:
    from ordercast.protocols.groups.site_group import SiteGroup

    Group = SiteGroup[Any]


class Void(Struct, frozen=True, array_like=True):
    """A bundle of another life that has been retracted, here or where a message comes from."""

    bundle: Bundle
    """Without its bodies' content."""
    followed_from: MessageId
    """Own bundles from this one on follow it."""


class TakenBack(Struct):
    """What has been retracted, and this site's bundles that wait for it."""

    marks: list[tuple[int, MessageId]] = []
    """How long the log was, beyond what is final, as own bundles were accepted: each length with the first of them."""
    newest: int = -1
    """The newest own bundle accepted."""
    voids: list[Void] = []
    """As own bundles follow them; until they have come up again and are final, as they may be retracted once more."""
    passed: int = 0
    """So many of them hold nothing back in this view: they have come up again, or who has sent them is away ..."""
    passed_at: int = 0
    """... the log being so long; 0 if none has come up."""
    untold: bool = False
    """Whether other members have not been told of it in this view."""
    held: list[Bundle] = []
    """Own ones in their order: accepted, and not given to the ordering protocol in this view."""

    def accept(self, id: MessageId, length: int, final: int) -> None:
        """A participant of this site multicasts."""
        self.newest = id
        if length > final and (not self.marks or length > self.marks[-1][0]):
            self.marks.append((length, id))

    def settle(self, final: int) -> None:
        """What is final is never retracted."""
        while self.marks and self.marks[0][0] <= final:
            del self.marks[0]

    def add(self, others: list[tuple[int, Bundle]], start: int, final: int) -> None:
        """Everything from a position on is retracted, among it these bundles of other lives, at these positions."""
        known = {each.bundle.id: each for each in self.voids}
        for position, bundle in others:
            first = self._first_behind(position)
            heard = known.get(bundle.id)  # another member may have told of it before it was retracted here
            if heard is None or first < heard.followed_from:
                known[bundle.id] = Void(without_content(bundle), first)
        self.voids = sorted(known.values(), key=lambda each: each.followed_from)
        self._shorten_marks(start, final)

    def tell(self) -> tuple[Bundle, ...]:
        """What a fifo or causal bundle of this site must bring along."""
        told = tuple(each.bundle for each in self.voids) if self.untold else ()
        self.untold = False
        return told

    def hear(self, void: list[Bundle]) -> None:
        """What this site multicasts from now on follows these bundles of other lives, by way of causal ones."""
        known = {each.bundle.id for each in self.voids}
        from_now_on = MessageId(self.newest + 1)
        self.voids.extend(Void(bundle, from_now_on) for bundle in void if bundle.id not in known)

    def _first_behind(self, position: int) -> MessageId:
        """The first own bundle that was accepted with this position in the log."""
        index = bisect_right(self.marks, (position, MessageId(sys.maxsize)))
        return self.marks[index][1] if index < len(self.marks) else MessageId(self.newest + 1)

    def _shorten_marks(self, position: int, final: int) -> None:
        """Own bundles do not follow what will take these places."""
        beyond = bisect_right(self.marks, (position, MessageId(sys.maxsize)))
        first_beyond = self.marks[beyond : beyond + 1]
        del self.marks[beyond:]
        for _, id in first_beyond:
            if position > final and (not self.marks or self.marks[-1][0] < position):
                self.marks.append((position, id))

    def waits_for(self, bundle: Bundle) -> Bundle | None:
        """The first one that an own bundle has to wait for."""
        first = self.voids[self.passed] if self.passed < len(self.voids) else None
        return first.bundle if first is not None and first.followed_from <= bundle.id else None

    def hold(self, bundle: Bundle) -> bool:
        """Hold back an own bundle if it has to wait, or follows one that does."""
        waits = bool(self.held) or self.waits_for(bundle) is not None
        if waits:
            self.held.append(bundle)
        return waits

    def holds(self, bundle: Bundle) -> bool:
        """Whether this own bundle is held back."""
        return bool(self.held) and bundle.id >= self.held[0].id


def begin_view(group: Group) -> None:
    """What has come up by now stays; what waits is submitted anew. Who has come as a new life has none of the old's."""
    back = group.taken_back
    back.voids = [each for each in back.voids if not _has_come_up(group, each) and _may_come_up(group, each)]
    back.passed = back.passed_at = 0
    back.untold = bool(back.voids)
    back.held.clear()
    _pass(group)


def release(group: Group, now: Now, out: Out) -> None:
    """Something may have come up: hand over what need not wait any more."""
    back = group.taken_back
    _pass(group)
    while back.held and group.due is None and back.waits_for(back.held[0]) is None:
        group.order(FromAbove(back.held.pop(0)), now, out)
        _pass(group)


def _pass(group: Group) -> None:
    """Go on to the first that holds something back; forget those before it once they are final."""
    back = group.taken_back
    while back.passed < len(back.voids) and not _holds_back(group, back.voids[back.passed]):
        back.passed += 1
        back.passed_at = group.log.length
    if back.passed_at and group.log.final >= back.passed_at:
        away = [each for each in back.voids[: back.passed] if not _has_come_up(group, each)]
        back.voids[: back.passed] = away
        back.passed, back.passed_at = len(away), 0


def _holds_back(group: Group, void: Void) -> bool:
    sender = void.bundle.origin
    return group.view.incarnation(sender) == incarnation_of(void.bundle.id) and not _has_come_up(group, void)


def _has_come_up(group: Group, void: Void) -> bool:
    """Under its own id: it does so even if another bundle with the same messages has, and it is void."""
    return not group.log.sessions.is_new(void.bundle, ordered=True)


def _may_come_up(group: Group, void: Void) -> bool:
    life = group.view.incarnation(void.bundle.origin)
    return life is None or life <= incarnation_of(void.bundle.id)


def without_content(bundle: Bundle) -> Bundle:
    """As much of a bundle as tells whether it has come up."""
    return Bundle(bundle.id, (b"",) * len(bundle.bodies), bundle.level, author=bundle.author)
