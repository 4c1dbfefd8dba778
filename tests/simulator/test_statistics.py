"""Figures gathered while a run goes on, against the same computed from everything at once."""

from __future__ import annotations

import math
from random import Random
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordercast.core.ids import MessageId, SiteId, pack_message_id
from ordercast.core.messages import Bundle
from ordercast.simulator.simulation import Simulation
from ordercast.simulator.statistics import Histogram, LatencyStatistics, Summary
from tests.simulator.small import Diary, scenario

A, B, C = SiteId(0), SiteId(1), SiteId(2)


def summary_of(values: list[int]) -> Summary:
    histogram = Histogram()
    for value in values:
        histogram.add(value)
    summary = histogram.summary()
    assert summary is not None
    return summary


def exact_quantile(values: list[int], part: float) -> float:
    """The smallest value that so large a part of the sample does not exceed, in milliseconds."""
    return sorted(values)[math.ceil(part * len(values)) - 1] / 1000


def test_an_empty_sample_has_no_figures() -> None:
    assert Histogram().summary() is None


@given(st.lists(st.integers(200, 60_000_000), min_size=1, max_size=300))
def test_quantiles_are_right_within_0_3_percent(values: list[int]) -> None:
    """And half of the last digit given, a microsecond."""
    summary = summary_of(values)
    assert summary.p50 == pytest.approx(exact_quantile(values, 0.5), rel=0.003, abs=0.002)
    assert summary.p99 == pytest.approx(exact_quantile(values, 0.99), rel=0.003, abs=0.002)
    assert summary.p50 <= summary.p99 <= summary.max


@given(st.lists(st.integers(0, 60_000_000), min_size=1, max_size=300))
def test_mean_and_maximum_are_exact(values: list[int]) -> None:
    summary = summary_of(values)
    assert summary.max == max(values) / 1000
    assert summary.mean == pytest.approx(fmean(values) / 1000, abs=0.0006)


def test_quantiles_of_a_large_skewed_sample() -> None:
    draw = Random(3)
    values = [round(draw.lognormvariate(10, 1.5)) for _ in range(50_000)]
    summary = summary_of(values)
    assert summary.p50 == pytest.approx(exact_quantile(values, 0.5), rel=0.003)
    assert summary.p99 == pytest.approx(exact_quantile(values, 0.99), rel=0.003)


@given(st.lists(st.integers(0, 10**7), min_size=1), st.lists(st.integers(0, 10**7), min_size=1))
def test_samples_can_be_put_together(one: list[int], other: list[int]) -> None:
    both = Histogram()
    for values in (one, other):
        part = Histogram()
        for value in values:
            part.add(value)
        both.include(part)
    assert both.summary() == summary_of(one + other)


# --- latencies of messages ---


def bundle(origin: SiteId, seq: int = 0) -> Bundle:
    return Bundle(MessageId(pack_message_id(origin, 0, seq)), (b"",))


def statistics(warmup_us: int = 0) -> LatencyStatistics:
    return LatencyStatistics(3, warmup_us)


def last_ms(figures: LatencyStatistics) -> float | None:
    last = figures.total().last
    return None if last is None else last.mean


def test_the_three_latencies_of_one_message() -> None:
    figures, message = statistics(), bundle(B)
    figures.on_multicast(1000, B, message)
    for at_us, site in ((3000, B), (4000, A), (9000, C)):
        assert figures.total().last is None
        figures.on_deliver(at_us, site, message)
    total = figures.total()
    assert total.last is not None
    assert (total.last.mean, total.last.max) == (8.0, 8.0)
    assert total.mean_recipient is not None
    assert total.mean_recipient.mean == pytest.approx((2 + 3 + 8) / 3, abs=0.001)
    assert total.sender is not None
    assert total.sender.mean == 2.0
    assert list(figures.per_site()) == [B]


def test_messages_sent_in_the_warm_up_are_counted_but_not_measured() -> None:
    figures = statistics(warmup_us=500)
    for seq, sent_us in enumerate((499, 500)):
        figures.on_multicast(sent_us, A, bundle(A, seq))
        for site in (A, B, C):
            figures.on_deliver(sent_us + 1000 * (seq + 1), site, bundle(A, seq))
    assert figures.messages == 2
    assert last_ms(figures) == 2.0


def test_what_was_sent_behind_a_message_still_in_flight_is_left_out() -> None:
    """Else the fast ones among the last would be measured and the slow ones not."""
    figures = statistics()
    for seq in range(3):
        figures.on_multicast(1000 * seq, A, bundle(A, seq))
    for seq, at_us in ((0, 5000), (2, 3000)):
        for site in (A, B, C):
            figures.on_deliver(at_us, site, bundle(A, seq))
    figures.on_traffic_end(6000)
    for site in (A, B, C):
        figures.on_deliver(9000, site, bundle(A, 1))
    assert last_ms(figures) == 5.0


def test_a_message_is_measured_at_the_sites_that_are_up() -> None:
    figures = statistics()
    figures.on_multicast(0, A, bundle(A))
    figures.on_deliver(1000, A, bundle(A))
    figures.on_deliver(2000, B, bundle(A))
    assert last_ms(figures) is None
    figures.on_crash(2500, C)
    assert last_ms(figures) == 2.0


def test_a_site_that_delivered_and_crashed_stands_for_no_other() -> None:
    """C has delivered, B has not: the message is still in flight."""
    figures = statistics()
    figures.on_multicast(0, A, bundle(A))
    figures.on_deliver(1000, C, bundle(A))
    figures.on_crash(1500, C)
    figures.on_deliver(2000, A, bundle(A))
    assert last_ms(figures) is None
    figures.on_deliver(7000, B, bundle(A))
    assert last_ms(figures) == 7.0


def test_a_sender_that_crashes_first_has_no_latency_of_its_own() -> None:
    figures = statistics()
    figures.on_multicast(0, A, bundle(A))
    figures.on_crash(10, A)
    for site in (B, C):
        figures.on_deliver(4000, site, bundle(A))
    assert last_ms(figures) == 4.0
    assert figures.total().sender is None


@pytest.mark.parametrize("protocol", ["token-site", "symmetric", "rs-symmetric", "hybrid", "migrating-token"])
def test_a_run_gives_the_same_figures_as_its_diary(protocol: str) -> None:
    load = scenario(protocol, duration_s=3.0, rate=30.0)
    diary, figures = Diary(), LatencyStatistics(3, 500_000)
    Simulation(load, [diary, figures]).run()
    end_us = next(event[0] for event in diary.events if event[2] == "traffic end")
    delivered: dict[int, list[int]] = {}
    for at_us, message in diary.of("deliver"):
        if at_us < end_us:
            delivered.setdefault(message.id, []).append(at_us)
    latencies = []
    for sent_us, message in diary.of("multicast"):
        if sent_us >= 500_000:
            if len(delivered.get(message.id, ())) < 3:
                break
            latencies.append((max(delivered[message.id]) - sent_us) / 1000)
    total = figures.total()
    assert len(latencies) > 100
    assert total.last is not None
    assert total.last.mean == pytest.approx(fmean(latencies), abs=0.001)
    assert total.last.max == max(latencies)
    assert figures.messages == len(diary.of("multicast"))
