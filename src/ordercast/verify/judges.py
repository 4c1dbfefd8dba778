"""Judges keep, as part of the explored state, what is needed to tell a violation.

`FullJudge` keeps every site's whole history and asks `verify.properties`. That is plain, but tells states apart
that differ only in their past. `CompactJudge` forgets the past that all sites agree on. As long as no property has
been violated, the sites' deliveries are beginnings of one sequence, in which the messages of each sender stand in
their order; so what may come is decided by how many of each sender stand in it, and by the part of it that some
site has not delivered yet. Causal order needs no bookkeeping: it follows from the others (`tests/verify` shows it).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from operator import itemgetter
from typing import Any, NamedTuple, Protocol

from ordercast.core.ids import MessageId, SiteId, origin_of, pack_message_id
from ordercast.core.trace import Kind
from ordercast.verify import properties
from ordercast.verify.history import Happening, SiteHistory, site_name
from ordercast.verify.properties import Property, Violation

Story = Sequence[tuple[SiteId, Sequence[Any]]]
"""What has happened, step by step: at which site."""


class Judge(Protocol):
    """Verdicts are functions of a record, an immutable value; None stands for a violation."""

    def start(self, sites: int) -> Any:
        """The record before anything has happened."""

    def after(self, record: Any, site: SiteId, happenings: Sequence[Any]) -> Hashable | None:
        """The record after these happenings at a site; None if they violate a property."""

    def complete(self, record: Any) -> bool:
        """Whether everybody has delivered everything, as they must in the end."""

    def apart(self, record: Any) -> bool:
        """Whether two sites have delivered different numbers of messages."""

    def explain(self, story: Story, *, drained: bool) -> list[str]:
        """What the story violates, in words; `drained` says that it has come to its end."""


class Ledger(NamedTuple):
    """What `CompactJudge` keeps."""

    multicast: tuple[int, ...]
    """By site: how many messages it has multicast."""
    ordered: tuple[int, ...]
    """By site: how many of its messages somebody has delivered."""
    ahead: tuple[MessageId, ...]
    """The end of the common sequence, from the first entry on that somebody has not delivered."""
    places: tuple[int, ...]
    """By site: how many entries of `ahead` it has delivered."""


class CompactJudge:
    """Keeps a ledger."""

    def start(self, sites: int) -> Ledger:
        none = (0,) * sites
        return Ledger(none, none, (), none)

    def after(self, record: Ledger, site: SiteId, happenings: Sequence[Happening]) -> Ledger | None:
        ledger: Ledger | None = record
        for kind, message in happenings:
            if ledger is None:
                return None
            if kind is Kind.MULTICAST:
                ledger = ledger._replace(multicast=_one_more(ledger.multicast, site))
            elif kind is Kind.DELIVER:
                ledger = _delivered(ledger, site, message)
        return None if ledger is None else _without_common_past(ledger)

    def complete(self, record: Ledger) -> bool:
        return record.ordered == record.multicast and not record.ahead

    def apart(self, record: Ledger) -> bool:
        return min(record.places) != max(record.places)

    def explain(self, story: Story, *, drained: bool) -> list[str]:
        return [str(violation) for violation in properties.check(histories_of(story), drained=drained)]


def _one_more(counts: tuple[int, ...], site: SiteId) -> tuple[int, ...]:
    return (*counts[:site], counts[site] + 1, *counts[site + 1 :])


def _delivered(ledger: Ledger, site: SiteId, message: MessageId) -> Ledger | None:
    place = ledger.places[site]
    moved = ledger._replace(places=_one_more(ledger.places, site))
    if place < len(ledger.ahead):
        return moved if ledger.ahead[place] == message else None
    origin = origin_of(message)
    if origin not in range(len(ledger.ordered)) or message != pack_message_id(origin, 0, ledger.ordered[origin]):
        return None
    if ledger.ordered[origin] == ledger.multicast[origin]:
        return None
    return moved._replace(ordered=_one_more(ledger.ordered, origin), ahead=(*ledger.ahead, message))


def _without_common_past(ledger: Ledger) -> Ledger:
    slowest = min(ledger.places)
    places = tuple(place - slowest for place in ledger.places)
    return ledger._replace(ahead=ledger.ahead[slowest:], places=places)


History = tuple[Happening, ...]


class FullJudge:
    """Keeps all histories and asks the plain properties at every delivery."""

    def __init__(self, safety: Sequence[Property] = properties.SAFETY) -> None:
        """`safety`: what must hold at every moment."""
        self._safety = tuple(safety)

    def start(self, sites: int) -> tuple[History, ...]:
        return ((),) * sites

    def after(
        self, record: tuple[History, ...], site: SiteId, happenings: Sequence[Happening]
    ) -> tuple[History, ...] | None:
        histories = (*record[:site], record[site] + tuple(happenings), *record[site + 1 :])
        delivered = any(kind is Kind.DELIVER for kind, _ in happenings)
        return None if delivered and self._violations(_named(histories), drained=False) else histories

    def complete(self, record: tuple[History, ...]) -> bool:
        return not self._violations(_named(record), drained=True)

    def apart(self, record: tuple[History, ...]) -> bool:
        counts = [sum(kind is Kind.DELIVER for kind, _ in history) for history in record]
        return min(counts) != max(counts)

    def explain(self, story: Story, *, drained: bool) -> list[str]:
        return [str(violation) for violation in self._violations(histories_of(story), drained=drained)]

    def _violations(self, histories: Sequence[SiteHistory], *, drained: bool) -> list[Violation]:
        asked = (*self._safety, properties.validity) if drained else self._safety
        return [violation for each in asked for violation in each(histories)]


def histories_of(story: Story) -> list[SiteHistory]:
    """The same, site by site."""
    histories = {site: SiteHistory(site, site_name(site)) for site, _ in sorted(story, key=itemgetter(0))}
    for site, happenings in story:
        histories[site].happenings += happenings
    return list(histories.values())


def _named(histories: Sequence[History]) -> list[SiteHistory]:
    return [SiteHistory(SiteId(site), f"site {site}", list(each)) for site, each in enumerate(histories)]
