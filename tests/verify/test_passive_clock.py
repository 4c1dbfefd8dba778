"""Why the messages of passive sites carry a ticket clock, although these sites issue no tickets.

B and A are active, C is passive and A orders for it. C multicasts right after it has *received* a message of B,
ticket and all, but before it could deliver it. A may hear of C's message first. With the clock on it A orders it
after B's; without, before.

As long as everybody acts on deliveries alone, nobody can tell: what C has delivered has its place already, and no
order that is found later comes before it (`test_properties` shows that causal order follows from total and FIFO
order). The clock matters as soon as anything is handed up before its place in the total order is certain.
"""

from __future__ import annotations

from functools import partial

from msgspec.structs import replace

from ordercast.core.effects import Note, Out
from ordercast.core.events import Now
from ordercast.core.ids import SiteId, Ticket
from ordercast.core.layer import Layer
from ordercast.core.messages import Bundle
from ordercast.core.trace import Kind
from ordercast.protocols.ordering.hybrid import Hybrid
from ordercast.protocols.ordering.messages import Data, Echo, Tickets
from ordercast.protocols.ordering.setup import Setup
from ordercast.verify.explorer import Exploration, explore
from ordercast.verify.judges import FullJudge
from ordercast.verify.properties import causal_order
from ordercast.verify.scopes import SCOPES
from tests.verify.bugs.making import planted

SCOPE = replace(SCOPES["hybrid-3x2"], name="one message each", messages=1)
THROUGH_RECEIPTS = partial(causal_order, through=(Kind.DELIVER, Kind.RECEIVE))


class Noting(Hybrid):
    """Takes note of each message that it receives together with its ticket."""

    def on_receive(self, sender: SiteId, message: Data | Tickets | Echo, now: Now, out: Out) -> None:
        if isinstance(message, Data) and self.sequencers[sender] == sender:
            out.record(Note(Kind.RECEIVE, message.bundle.id))
        super().on_receive(sender, message, now, out)


class WithoutClock(Noting):
    """Passive sites' messages do not carry it."""

    def on_multicast(self, bundle: Bundle, now: Now, out: Out) -> None:
        if self.active:
            super().on_multicast(bundle, now, out)
        else:
            out.multicast(Data(bundle, Ticket(0), (), now.monotonic_us))


def explored(kind: type[Hybrid], *, through_receipts: bool, reduce: bool = True) -> Exploration:
    def build(setup: Setup) -> Layer:
        return planted(kind, "hybrid")(setup)

    judge = FullJudge((THROUGH_RECEIPTS,)) if through_receipts else FullJudge()
    return explore(SCOPE, build=build, judge=judge, reduce=reduce)


def test_with_the_clock_the_order_extends_what_sites_have_received() -> None:
    exploration = explored(Noting, through_receipts=True)
    assert exploration.good, exploration


def test_without_the_clock_an_answer_comes_before_what_it_answers() -> None:
    counterexample = explored(WithoutClock, through_receipts=True, reduce=False).counterexample
    assert counterexample is not None
    assert counterexample.violations == [
        "causal order: A, as its entry 0, delivers message 0 of C without message 0 of B, which happened before it"
    ]
    assert [step.split(":")[0].split(",")[0] for step in counterexample.steps[:4]] == [
        "B is given message 0 of B to multicast",
        "C receives from B",
        "C is given message 0 of C to multicast",
        "A receives from C",
    ]


def test_without_the_clock_deliveries_alone_still_keep_every_promise() -> None:
    assert explored(WithoutClock, through_receipts=False).good
