"""The trials of real daemons: what they draw, what they measure, and that they find what is wrong."""

from __future__ import annotations

import asyncio
from array import array
from pathlib import Path

import pytest
from bench.trials.disk import log_problems
from bench.trials.draw import IMPAIRED_MAX, QUIET_S, Fault, cuts, draw_faults
from bench.trials.kills import run_kills
from bench.trials.ledger import TOLD_MAX, Ledger, Stream, few
from bench.trials.recovery import PAUSE_S, longest_gap_s, recovered_s, times_of

SITES = ("a", "b", "c", "d", "e")


# --- what is drawn ---


@pytest.mark.parametrize("seed", range(5))
def test_faults_leave_a_majority_to_go_on_but_for_the_kills_of_all(seed: int) -> None:
    faults = draw_faults(seed, SITES, 1800.0)
    assert faults == draw_faults(seed, SITES, 1800.0)
    for fault in faults:
        at_once = [each for each in faults if each.begin_s <= fault.begin_s <= each.end_s and each.kind != "ordering"]
        hit = {site for each in at_once for site in each.sites}
        alone = [each for each in at_once if each.kind == "kill of all"]
        assert len(hit) <= IMPAIRED_MAX or (alone and len(at_once) == 1)
        assert sum(cuts(each.kind) for each in at_once) <= 1
    assert max(fault.end_s for fault in faults) <= 1800.0 - QUIET_S[1]


def test_half_an_hour_has_every_kind_of_fault_and_some_that_overlap() -> None:
    faults = draw_faults(1, SITES, 1800.0)
    assert len({fault.kind for fault in faults}) == 9
    assert any(_overlap(one, other) for one in faults for other in faults if one is not other)


def _overlap(one: Fault, other: Fault) -> bool:
    return one.kind != "ordering" and one.begin_s <= other.begin_s < one.end_s


# --- what is measured ---


def stream(*delivered: tuple[float, float]) -> Stream:
    """One that got messages at these times, multicast at those."""
    came, asked = (array("d", times) for times in zip(*delivered, strict=True))
    return Stream("a", delivered_s=came, asked_s=asked)


def test_deliveries_flow_again_after_the_last_pause_and_with_something_new() -> None:
    old_then_new = stream((10.1, 9.9), (10.2, 10.0), (12.0, 11.0), (12.3, 11.9), (12.6, 12.5))
    assert recovered_s([old_then_new], 10.0, 12.9) == pytest.approx(2.0)


def test_what_was_multicast_before_is_no_sign_of_recovery() -> None:
    assert recovered_s([stream((10.1, 9.0), (10.3, 9.9))], 10.0, 10.5) is None


def test_silence_at_the_end_is_no_recovery() -> None:
    assert recovered_s([stream((10.1, 10.05))], 10.0, 10.2 + PAUSE_S) is None


def test_the_slowest_site_counts() -> None:
    quick, slow = stream((10.1, 10.0), (10.4, 10.3)), stream((10.4, 10.1))
    assert recovered_s([quick, slow], 10.0, 10.6) == pytest.approx(0.4)


def test_the_longest_gap_counts_the_ends() -> None:
    assert longest_gap_s(stream((1.0, 0.9), (1.2, 1.1)), 0.0, 1.5) == pytest.approx(1.0)


def test_what_was_not_measured_is_said() -> None:
    times = times_of([0.3, None, 0.1, 0.2])
    assert (times.count, times.p50_s, times.max_s, times.unmeasured) == (4, 0.2, 0.3, 1)
    assert times_of([None]).max_s is None


# --- what is found ---


def good() -> Ledger:
    """Two participants that have seen the same two messages, for good."""
    ledger = Ledger(("a", "b"))
    for position, key in enumerate((b"a 1", b"b 1"), 5):
        ledger.on_asked(key[:1].decode(), key, 0.0)
        for site in ("a", "b"):
            ledger.on_delivery(site, position, key, True, 0.1)
        ledger.on_receipt(key, position)
    return ledger


def test_a_good_trial_has_no_problem() -> None:
    assert good().problems() == []


def test_a_lost_message_is_found() -> None:
    ledger = good()
    ledger.on_asked("a", b"a 2", 0.2)
    ledger.on_receipt(b"a 2", 7)
    ledger.on_delivery("a", 7, b"a 2", True, 0.3)
    assert any("b: 1 messages missing" in problem for problem in ledger.problems())
    assert any("a 2 is lost, which had a receipt for 7" in problem for problem in ledger.problems())


def test_a_multicast_without_a_receipt_is_found() -> None:
    ledger = good()
    ledger.asked[b"a 1"].has_receipt = False
    assert ledger.problems() == ["1 multicasts without a receipt"]


def test_a_doubled_message_is_found() -> None:
    ledger = good()
    ledger.on_delivery("a", 7, b"a 1", True, 0.3)
    assert any("a 1 at 7 is at 5 already" in problem for problem in ledger.problems())


def test_another_order_at_one_site_is_found() -> None:
    ledger = Ledger(("a", "b"))
    for key in (b"a 1", b"b 1"):
        ledger.on_asked("a", key, 0.0)
    for site, order in (("a", (b"a 1", b"b 1")), ("b", (b"b 1", b"a 1"))):
        for position, key in enumerate(order):
            ledger.on_delivery(site, position, key, True, 0.1)
    for position, key in enumerate((b"a 1", b"b 1")):
        ledger.on_receipt(key, position)
    problems = ledger.problems()
    assert any("b: b 1 at 0, where a has a 1" in problem for problem in problems)
    assert any("its receipt says" in problem for problem in problems)


def test_a_message_that_nobody_has_multicast_is_found() -> None:
    ledger = good()
    ledger.on_delivery("a", 7, b"x", True, 0.3)
    assert any("which nobody has multicast" in problem for problem in ledger.problems())


def test_what_is_final_is_not_retracted() -> None:
    ledger = good()
    ledger.streams["a"].on_retracted(6)
    assert any("retracted from 6 on, though all below 7 was final" in problem for problem in ledger.problems())


def test_what_is_retracted_may_come_again_elsewhere() -> None:
    tentative = Stream("a")
    tentative.on_delivery(3, b"m", False)
    tentative.on_retracted(3)
    tentative.on_delivery(4, b"m", True)
    assert (tentative.problems, tentative.retracted, tentative.at) == ([], 1, {b"m": 4})


def test_a_stream_that_has_ended_is_a_problem() -> None:
    ledger = good()
    ledger.streams["b"].on_end("too slow")
    assert ledger.problems() == ["b: the stream has ended: too slow"]


def test_of_many_problems_the_first_are_told() -> None:
    told = few([str(number) for number in range(TOLD_MAX + 3)])
    assert (len(told), told[-1]) == (TOLD_MAX + 1, "... and 3 more like the last")


def test_a_traceback_in_a_journal_is_found(tmp_path: Path) -> None:
    journal = tmp_path / "a.log"
    journal.write_text('{"event": "up", "level": "info"}\nTraceback (most recent call last):\n{"level": "error"}\n')
    assert [problem.split(":")[1] for problem in log_problems(journal)] == ["2", "3"]


# --- and all of it together ---


@pytest.mark.slow
def test_three_daemons_are_killed_and_come_back(tmp_path: Path) -> None:
    result = asyncio.run(run_kills(tmp_path / "kills", 4, 1, "always", 20.0))
    assert result.trial.problems == []
    assert result.kills >= 4
    assert result.trial.receipts == result.trial.multicasts > 0
    assert result.trial.deliveries >= 3 * result.trial.multicasts
