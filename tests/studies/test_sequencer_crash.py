"""The claims about a crash of a sequencer, on results that are made up."""

from __future__ import annotations

import pytest

from ordercast.core.deliveries import Delivered, Finalized, Logged, Retracted
from ordercast.core.entries import Entry
from ordercast.core.ids import SiteId, pack_message_id
from ordercast.core.messages import Bundle
from ordercast.simulator.scenario import from_table
from ordercast.studies.framework.claims import Verdict
from ordercast.studies.framework.receipts import Receipts
from ordercast.studies.framework.results import Entry as Result
from ordercast.studies.framework.results import Results
from ordercast.studies.framework.study import Size
from ordercast.studies.sequencer_crash import STUDY
from ordercast.verify.run import run
from tests.studies.made_up import run_result, verdicts

CLAIMS = STUDY.claims
LOST, DOUBLED, SILENCE, TAKE_OVER = range(4)
USUAL = {"receipts": 1000.0, "lost": 0.0, "doubled": 0.0, "suspicion_ms": 400.0, "silence_ms": 600.0, "view_ms": 800.0}

A, B = SiteId(0), SiteId(1)


def measured(crashed: str = "", **changes: float) -> Results:
    """The usual figures, changed for one crash or for all."""
    return Results(
        Result(grid.labels, run_result(), USUAL | (changes if crashed in ("", grid.labels["crashed"]) else {}))
        for grid in STUDY.grid(Size.QUICK)
    )


def test_the_usual_figures_bear_out_every_claim() -> None:
    assert verdicts(CLAIMS, measured()) == [Verdict.REPRODUCED] * len(CLAIMS)


@pytest.mark.parametrize(
    ("results", "missed"),
    [
        (measured("D", lost=1.0), {LOST}),
        (measured(receipts=0.0), {LOST}),
        (measured("B", doubled=1.0), {DOUBLED}),
        (measured("D", silence_ms=730.0), {SILENCE}),
        (measured("A, D", silence_ms=710.0), {TAKE_OVER}),
    ],
)
def test_each_claim_can_be_missed(results: Results, missed: set[int]) -> None:
    found = verdicts(CLAIMS, results)
    assert {index for index, verdict in enumerate(found) if verdict is Verdict.MISSED} == missed


# --- the measure ---


def small() -> Receipts:
    """Three sites, of which A crashes in the middle."""
    table = {
        "duration_s": 5.0,
        "warmup_s": 2.0,
        "protocol": {"name": "dynamic-hybrid", "stack": "full", "tickets": "flush"},
        "lan": [{"name": "lan", "sites": ["A", "B", "C"], "delay_ms": 5.0}],
        "traffic": [{"sites": ["A", "B", "C"], "rate": 20.0}],
        "fault": [{"kind": "crash", "at_s": 3.0, "sites": ["A"]}],
    }
    receipts = Receipts()
    assert run(from_table(table), observers=[receipts], with_limit=False).good
    return receipts


def test_receipts_are_counted_and_none_is_lost() -> None:
    found = small().figures()
    assert 20 * (3 + 5 + 5) * 0.9 < found["receipts"] <= 20 * (3 + 5 + 5)
    assert (found["lost"], found["doubled"]) == (0, 0)
    assert found["silence_ms"] > found["suspicion_ms"]


def test_what_is_delivered_twice_or_taken_back_is_seen() -> None:
    receipts = small()
    before = receipts.figures()
    bundle = Bundle(pack_message_id(B, 0, 10_000), (b"",))
    receipts.on_group(0, B, Logged(Entry(50_000, 50_001, bundle, 0)))
    receipts.on_group(0, B, Finalized(50_001))
    after = receipts.figures()
    assert (after["receipts"] - before["receipts"], after["lost"]) == (1, 1), "nobody has delivered it"
    for site in (B, SiteId(2)):
        receipts.on_group(0, site, Delivered(bundle, 50_000, True))
    assert receipts.figures()["lost"] == 0
    receipts.on_group(0, B, Delivered(bundle, 50_001, True))
    assert receipts.figures()["doubled"] == 1
    receipts.on_group(0, B, Retracted(50_000))
    assert receipts.figures()["lost"] == 1


def test_what_a_site_ordered_for_others_is_no_receipt_of_theirs() -> None:
    receipts = small()
    before = receipts.figures()["receipts"]
    bundle = Bundle(pack_message_id(B, 0, 10_000), (b"",))
    receipts.on_group(0, A, Logged(Entry(50_000, 50_001, bundle, 0)))
    receipts.on_group(0, A, Finalized(50_001))
    assert receipts.figures()["receipts"] == before
