"""What each site did, in its own order: the form in which the properties look at a run."""

from __future__ import annotations

import string
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from ordercast.core.ids import MessageId, SiteId
from ordercast.core.messages import Bundle
from ordercast.core.trace import Kind, TraceRecord
from ordercast.simulator.observer import Observer


class Happening(NamedTuple):
    """A site multicast or delivered a message. (Or received it, where somebody took note of that.)"""

    kind: Kind
    message: MessageId


class SiteHistory(Struct):
    """One life of one site."""

    site: SiteId
    name: str
    happenings: list[Happening] = []
    crashed: bool = False

    def multicasts(self) -> list[MessageId]:
        """What its participants multicast, in order."""
        return [message for kind, message in self.happenings if kind is Kind.MULTICAST]

    def deliveries(self) -> list[MessageId]:
        """What was delivered to its participants, in order."""
        return [message for kind, message in self.happenings if kind is Kind.DELIVER]


def site_name(site: int) -> str:
    """A, B, C and so on, where sites have no names of their own."""
    return string.ascii_uppercase[site]


def messages_of(bundle: Bundle) -> list[MessageId]:
    """The messages of a bundle, one for each body."""
    return [MessageId(bundle.id + index) for index in range(len(bundle.bodies))]


def from_records(records: Iterable[TraceRecord], names: Mapping[int, str] | None = None) -> list[SiteHistory]:
    """The histories in a trace, by site and incarnation; an incarnation that another one follows has crashed.

    A site without a name is called by its number.
    """
    by_life: dict[tuple[int, int], list[TraceRecord]] = {}
    for record in records:
        by_life.setdefault((record.site, record.incarnation), []).append(record)
    lives = sorted(by_life)
    histories = []
    for place, (site, incarnation) in enumerate(lives):
        name = (names or {}).get(site, f"site {site}") + (f" in its life {incarnation}" if incarnation else "")
        replaced = place + 1 < len(lives) and lives[place + 1][0] == site
        histories.append(_from_life(SiteId(site), name, by_life[site, incarnation], replaced))
    return histories


def _from_life(site: SiteId, name: str, records: list[TraceRecord], crashed: bool) -> SiteHistory:
    records.sort(key=lambda record: record.index)
    happenings = [
        Happening(record.kind, MessageId(record.message))
        for record in records
        if record.kind in (Kind.MULTICAST, Kind.DELIVER) and record.message is not None
    ]
    return SiteHistory(site, name, happenings, crashed or any(record.kind is Kind.CRASH for record in records))


class HistoryCollector(Observer):
    """Collects the histories of a simulation."""

    def __init__(self, names: Sequence[str]) -> None:
        self.histories = [SiteHistory(SiteId(site), name) for site, name in enumerate(names)]

    def on_multicast(self, at_us: int, site: SiteId, bundle: Bundle) -> None:
        self._happened(site, Kind.MULTICAST, bundle)

    def on_deliver(self, at_us: int, site: SiteId, bundle: Bundle) -> None:
        self._happened(site, Kind.DELIVER, bundle)

    def on_crash(self, at_us: int, site: SiteId) -> None:
        self.histories[site].crashed = True

    def _happened(self, site: SiteId, kind: Kind, bundle: Bundle) -> None:
        self.histories[site].happenings.extend(Happening(kind, message) for message in messages_of(bundle))
