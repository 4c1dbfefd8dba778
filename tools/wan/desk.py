"""Carries out requests on a switch."""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct

from ordercast.core.errors import WrongUse
from ordercast.core.mistakes import require_distinct, require_number, require_sites
from ordercast.planning.topology import Topology
from tools.wan.namespaces import Claim
from tools.wan.requests import Answer, Change, Cut, Down, Heal, PairStatus, Report, Request, SiteStatus, Status
from tools.wan.switch import Pair, Switch
from tools.wan.tap import Tap

DELAY_MS_MAX = 3_600_000.0
VARIANCE_MAX = 1e9


class Setup(Struct, frozen=True, forbid_unknown_fields=True):
    """What to emulate."""

    topology: Topology
    mtu: int
    offload: bool
    realtime: bool


class Desk:
    """Where requests are answered."""

    def __init__(self, setup: Setup, claimed: Claim, switch: Switch, taps: Sequence[Tap], *, realtime: bool) -> None:
        self._setup = setup
        self._names = setup.topology.names
        self._claim = claimed
        self._switch = switch
        self._taps = taps
        self._realtime = realtime
        self.closed = False
        """Whether somebody has asked to take everything down."""

    def answer(self, request: Request) -> Answer:
        """Carry out one request, or say what is wrong with it."""
        try:
            match request:
                case Change():
                    self._change(request)
                case Cut():
                    for pair in self._pairs(request.sites, request.to, one_way=request.one_way):
                        pair.cut = True
                case Heal():
                    for pair in self._healed(request):
                        pair.cut = False
                case Report():
                    return Answer(status=self.status())
                case Down():
                    self.closed = True
        except WrongUse as mistake:
            return Answer(error=str(mistake))
        return Answer()

    def _change(self, request: Change) -> None:
        pairs = self._pairs(request.sites, request.to, one_way=request.one_way)
        if request.delay_ms is not None:
            require_number("delay_ms", request.delay_ms, least=0, most=DELAY_MS_MAX)
        if request.variance is not None:
            require_number("variance", request.variance, least=0, most=VARIANCE_MAX)
        if request.loss is not None:
            require_number("loss", request.loss, least=0, most=1)
        for pair in pairs:
            delay_ns = pair.delay_ns if request.delay_ms is None else round(request.delay_ms * 1e6)
            spread_ns = pair.spread_ns if request.variance is None else math.sqrt(request.variance) * 1e6
            self._switch.set_delay(pair, delay_ns, spread_ns)
            pair.loss = pair.loss if request.loss is None else request.loss
        if request.loss is not None:
            self._keep_segments_apart()

    def _keep_segments_apart(self) -> None:
        """Losing 64 KiB of TCP at once is nothing that a real link would do."""
        lossy = [pair.source for pair in self._switch.pairs() if pair.loss]
        for source, tap in enumerate(self._taps):
            tap.set_segments(whole=source not in lossy)

    def _healed(self, request: Heal) -> list[Pair]:
        if request.sites:
            return self._pairs(request.sites, request.to, one_way=False)
        return self._switch.pairs()

    def _pairs(self, sites: list[str], to: list[str], *, one_way: bool) -> list[Pair]:
        """From the ones to the others, and back unless it is one way."""
        require_sites("sites", sites, self._names)
        require_distinct("to", to)
        others = to or [name for name in self._names if name not in sites]
        require_sites("to", others, self._names)
        ways = [(self._names.index(a), self._names.index(b)) for a in sites for b in others if a != b]
        back = [] if one_way else [(b, a) for a, b in ways]
        return [self._switch.pair(a, b) for a, b in [*ways, *back]]

    def status(self) -> Status:
        """All there is to know."""
        return Status(
            number=self._claim.number,
            realtime=self._realtime,
            mtu=self._setup.mtu,
            offload=self._setup.offload,
            late_frames=self._switch.late_frames,
            late_ms_max=self._switch.late_ns_max / 1e6,
            sites=[
                SiteStatus(name, self._claim.namespace(name), self._claim.address(index))
                for index, name in enumerate(self._names)
            ],
            pairs=[self._pair_status(pair) for pair in self._switch.pairs()],
        )

    def _pair_status(self, pair: Pair) -> PairStatus:
        return PairStatus(
            source=self._names[pair.source],
            to=self._names[pair.to],
            delay_ms=pair.delay_ns / 1e6,
            variance=(pair.spread_ns / 1e6) ** 2,
            loss=pair.loss,
            cut=pair.cut,
            carried=pair.carried,
            bytes=pair.bytes,
            queued_bytes=pair.queued_bytes,
            dropped_by_cut=pair.dropped_by_cut,
            dropped_by_loss=pair.dropped_by_loss,
            dropped_by_overflow=pair.dropped_by_overflow,
            dropped_by_receiver=pair.dropped_by_receiver,
        )
