"""A live group in virtual time: all that its sites tell, and all promises checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from ordercast.core.deliveries import Delivered, Delivery, Entered
from ordercast.core.entries import Entry
from ordercast.core.events import FromAbove
from ordercast.core.ids import MessageId, SiteId, origin_of
from ordercast.core.messages import Bundle
from ordercast.protocols.groups.log import RETAINED_POSITIONS
from ordercast.protocols.membership.messages import Leave
from ordercast.simulator.group_site import GroupSite
from ordercast.simulator.observer import Observer
from ordercast.simulator.scenario import from_table
from ordercast.simulator.simulation import Simulation
from ordercast.verify.group.checker import GroupChecker

Kind = TypeVar("Kind")
Fault = dict[str, Any]


class Diary(Observer):
    """Writes down what each site tells its host and participants."""

    def __init__(self) -> None:
        self.told: list[tuple[float, SiteId, Delivery]] = []
        self.multicasts: list[tuple[float, MessageId]] = []

    def on_group(self, at_us: int, site: SiteId, event: Delivery) -> None:
        self.told.append((at_us / 1e6, site, event))

    def on_multicast(self, at_us: int, site: SiteId, bundle: Bundle) -> None:
        self.multicasts.append((at_us / 1e6, bundle.id))


class LiveGroup:
    """Sites A, B, C, ... on one LAN, 5 ms apart, each multicasting ten times a second for six seconds."""

    def __init__(
        self,
        *faults: Fault,
        sites: str = "ABC",
        level: str = "agreed",
        rate: float = 10,
        protocol: dict[str, Any] | None = None,
        duration_s: float = 6,
        core: str | None = None,
        leaves: tuple[tuple[float, str], ...] = (),
        retained_positions: int = RETAINED_POSITIONS,
        hosts_keep_history: bool = False,
        one_way_ms: list[list[float]] | None = None,
    ) -> None:
        """`level` may be several, with spaces between. `one_way_ms`, delays between sites, replaces the LAN."""
        chosen = {"name": "token-site", "stack": "full", "tickets": "flush", **(protocol or {})}
        table = {
            "duration_s": duration_s,
            "protocol": chosen,
            **(_lan(sites) if one_way_ms is None else _delays(sites, one_way_ms)),
            "traffic": [{"sites": list(sites), "rate": rate, "level": each} for each in level.split()],
            "fault": list(faults),
        }
        self.names = sites
        self.diary = Diary()
        self.checker = GroupChecker(tuple(sites), chosen.get("resilience", 0))
        self.simulation = Simulation(
            from_table(table),
            [self.checker, self.diary],
            retained_positions=retained_positions,
            hosts_keep_history=hosts_keep_history,
        )
        self.simulation.core = tuple(self._id(name) for name in core or sites)
        for at_s, name in leaves:
            self.at(at_s, lambda name=name: self.site(name).handle(FromAbove(Leave())))  # type: ignore[misc]

    def at(self, at_s: float, do: Callable[[], None]) -> None:
        """Do something then."""
        self.simulation.schedule(round(at_s * 1e6), lambda _: do(), None)

    def run(self) -> LiveGroup:
        """To the end, where every promise has been kept and the core has come to rest."""
        self.simulation.run()
        assert self.checker.violations == []
        assert self.simulation.settled()
        assert self.checker.missing(self.simulation.core, self.simulation.lives()) is None
        return self

    def _id(self, name: str) -> SiteId:
        return SiteId(self.names.index(name))

    def site(self, name: str) -> GroupSite:
        """One of the sites."""
        site = self.simulation.sites[self._id(name)]
        assert isinstance(site, GroupSite)
        return site

    def log(self, name: str) -> list[Entry]:
        """What the site's ordered log on disk holds."""
        return self.site(name).log

    def told(self, name: str, kind: type[Kind], from_s: float = 0, until_s: float = 1e9) -> list[Kind]:
        """What the site has told of a kind."""
        site = self._id(name)
        return [
            event
            for at_s, who, event in self.diary.told
            if who == site and isinstance(event, kind) and from_s <= at_s < until_s
        ]

    def views(self, name: str) -> list[str]:
        """The members of the views that the site has entered."""
        return ["".join(self.names[member] for member in entered.view.members) for entered in self.told(name, Entered)]

    def shown(self, name: str, from_s: float = 0, until_s: float = 1e9) -> list[MessageId]:
        """The messages that the site's participants were given, in order."""
        return [event.bundle.id for event in self.told(name, Delivered, from_s, until_s)]

    def multicast(self, name: str, from_s: float = 0, until_s: float = 1e9) -> list[MessageId]:
        """The messages that the site's participants have multicast."""
        site = self._id(name)
        return [id for at_s, id in self.diary.multicasts if origin_of(id) == site and from_s <= at_s < until_s]


def _lan(sites: str) -> dict[str, Any]:
    return {"lan": [{"name": "only", "sites": list(sites), "delay_ms": 5}]}


def _delays(sites: str, one_way_ms: list[list[float]]) -> dict[str, Any]:
    return {"delays": {"sites": list(sites), "one_way_ms": one_way_ms, "distribution": "constant"}}


def crash(at_s: float, *names: str) -> Fault:
    return {"kind": "crash", "at_s": at_s, "sites": list(names)}


def recover(at_s: float, *names: str) -> Fault:
    return {"kind": "recover", "at_s": at_s, "sites": list(names)}


def cut(at_s: float, until_s: float, *names: str, one_way: bool = False) -> Fault:
    return {"kind": "partition", "at_s": at_s, "until_s": until_s, "sites": list(names), "one_way": one_way}


def pause(at_s: float, for_s: float, *names: str) -> Fault:
    return {"kind": "pause", "at_s": at_s, "for_s": for_s, "sites": list(names)}


def messages_of(log: list[Entry]) -> list[MessageId]:
    """The messages in an ordered log."""
    return [entry.content.id for entry in log if isinstance(entry.content, Bundle)]


def assert_no_gaps(log: list[Entry], start: int = 0) -> None:
    """Positions are consecutive from `start` on."""
    for entry in log:
        assert entry.position == start
        start = entry.end
