"""What the ordering protocols promise, as plain functions over the histories of all sites.

Each function returns the violations it finds; none means that the property holds. They are written to be read,
not to be fast: `verify.online` checks the same promises while a run goes on, and the two are tested against each
other.

All but `validity` are safety properties: they hold at every moment. `validity` holds once nothing is under way
any more. The histories are those of messages that go by the one total order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from ordercast.core.ids import MessageId, SiteId, origin_of, seq_of
from ordercast.core.trace import Kind
from ordercast.verify.history import SiteHistory

NO_CREATION = "creation"
NO_DUPLICATION = "duplication"
FIFO_ORDER = "FIFO order"
CAUSAL_ORDER = "causal order"
TOTAL_ORDER = "total order"
VALIDITY = "validity"


class Violation(Struct, frozen=True):
    """One way in which a property does not hold."""

    property: str
    what: str
    """Names the site, the place in its sequence of deliveries, and the messages."""
    sites: tuple[SiteId, ...] = ()
    """At whom it was seen, and whoever contradicts. Like the next three for programs; only audits fill them."""
    view: int | None = None
    positions: tuple[int, ...] = ()
    messages: tuple[MessageId, ...] = ()

    def __str__(self) -> str:
        return f"{self.property}: {self.what}"


Histories = Sequence[SiteHistory]
Property = Callable[[Histories], list[Violation]]


def no_creation(histories: Histories) -> list[Violation]:
    """Only what has been multicast is delivered."""
    say = _Words(histories)
    multicast = {message for history in histories for message in history.multicasts()}
    return [
        Violation(NO_CREATION, f"{say.delivery(history, place, message)}, which nobody has multicast")
        for history in histories
        for place, message in enumerate(history.deliveries())
        if message not in multicast
    ]


def no_duplication(histories: Histories) -> list[Violation]:
    """No site delivers a message twice."""
    say = _Words(histories)
    violations = []
    for history in histories:
        places: dict[MessageId, int] = {}
        for place, message in enumerate(history.deliveries()):
            first = places.setdefault(message, place)
            if first != place:
                what = f"{say.delivery(history, place, message)} again, after entry {first}"
                violations.append(Violation(NO_DUPLICATION, what))
    return violations


def fifo_order(histories: Histories) -> list[Violation]:
    """A message is delivered after all that its sender has multicast before it."""
    say = _Words(histories)
    predecessor: dict[MessageId, MessageId] = {}
    for history in histories:
        multicasts = history.multicasts()
        predecessor.update(zip(multicasts[1:], multicasts, strict=False))
    violations = []
    for history in histories:
        delivered: set[MessageId] = set()
        for place, message in enumerate(history.deliveries()):
            before = predecessor.get(message)
            if before is not None and before not in delivered:
                what = f"{say.delivery(history, place, message)} without {say.message(before)}"
                violations.append(Violation(FIFO_ORDER, what))
            delivered.add(message)
    return violations


def causal_order(histories: Histories, through: Sequence[Kind] = (Kind.DELIVER,)) -> list[Violation]:
    """A message is delivered after all that happened before it: what its sender had multicast or delivered
    by then, what the senders of those had, and so on.

    `through` names the kinds of happening by which a site comes to know of a message.
    """
    say = _Words(histories)
    pasts = _Pasts(histories, through)
    violations = []
    for history in histories:
        delivered = 0
        for place, message in enumerate(history.deliveries()):
            missing = pasts.of.get(message, 0) & ~delivered
            if missing:
                what = f"{say.delivery(history, place, message)} without {say.message(pasts.first(missing))}"
                violations.append(Violation(CAUSAL_ORDER, f"{what}, which happened before it"))
            delivered |= pasts.bit(message)
    return violations


class _Pasts:
    """For each message which others happened before it. A set of messages is an integer, a bit for each."""

    def __init__(self, histories: Histories, through: Sequence[Kind]) -> None:
        self.of: dict[MessageId, int] = {}
        self._messages = [message for history in histories for message in history.multicasts()]
        self._index = {message: index for index, message in enumerate(self._messages)}
        walks = [self._walk(history, through) for history in histories]
        awaited = [next(walk, None) for walk in walks]
        while any(message in self.of for message in awaited):
            for site, message in enumerate(awaited):
                if message in self.of:
                    awaited[site] = next(walks[site], None)

    def _walk(self, history: SiteHistory, through: Sequence[Kind]) -> Iterator[MessageId]:
        """Go through a site's happenings; stops at each message that it comes to know, until its past is known."""
        past = 0
        for kind, message in history.happenings:
            if kind is Kind.MULTICAST:
                self.of[message] = past
                past |= self.bit(message)
            elif kind in through and message in self._index:
                yield message
                past |= self.of[message] | self.bit(message)

    def bit(self, message: MessageId) -> int:
        """The set of this message alone; empty if nobody has multicast it."""
        index = self._index.get(message)
        return 0 if index is None else 1 << index

    def first(self, messages: int) -> MessageId:
        """One message of a set that is not empty."""
        return self._messages[(messages & -messages).bit_length() - 1]


def total_order(histories: Histories) -> list[Violation]:
    """Of any two sites' sequences of deliveries one is the beginning of the other."""
    say = _Words(histories)
    longest = max(histories, key=lambda history: len(history.deliveries()))
    violations = []
    for history in histories:
        both = zip(history.deliveries(), longest.deliveries(), strict=False)
        for place, (message, other) in enumerate(both):
            if message != other:
                what = f"{say.delivery(history, place, message)}, {longest.name} {say.message(other)}"
                violations.append(Violation(TOTAL_ORDER, what))
                break
    return violations


def validity(histories: Histories) -> list[Violation]:
    """Every site that is up has delivered what any of them has multicast, and what any site has delivered.

    So the sequence of a site that has crashed is the beginning of the others'.
    """
    say = _Words(histories)
    due = {message for history in histories for message in history.deliveries()}
    due.update(message for history in histories if not history.crashed for message in history.multicasts())
    violations = []
    for history in histories:
        missing = sorted(due.difference(history.deliveries()))
        if missing and not history.crashed:
            others = f", nor {len(missing) - 1} more" if len(missing) > 1 else ""
            count = len(history.deliveries())
            what = f"{history.name}, after {count} entries, has not delivered {say.message(missing[0])}{others}"
            violations.append(Violation(VALIDITY, what))
    return violations


SAFETY: tuple[Property, ...] = (no_creation, no_duplication, fifo_order, causal_order, total_order)
"""What holds at every moment."""


def check(histories: Histories, *, drained: bool = True) -> list[Violation]:
    """All violations; `drained` says that nothing is under way any more."""
    properties = (*SAFETY, validity) if drained else SAFETY
    return [violation for each in properties for violation in each(histories)]


class _Words:
    """Names sites and messages."""

    def __init__(self, histories: Histories) -> None:
        self._names = {history.site: history.name for history in reversed(histories)}

    def message(self, message: MessageId) -> str:
        origin = origin_of(message)
        return f"message {seq_of(message)} of {self._names.get(origin, f'site {origin}')}"

    def delivery(self, history: SiteHistory, place: int, message: MessageId) -> str:
        return f"{history.name}, as its entry {place}, delivers {self.message(message)}"
