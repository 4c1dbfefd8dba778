"""Every kind of violation, planted into a clean trace, is found and named; and clean traces are clean."""

from __future__ import annotations

import random

import pytest

from ordercast.core.trace import TraceRecord
from ordercast.verify.audit.run import Verdict, audit
from ordercast.verify.fuzz.campaign import run_seed
from tests.verify.audit.catalogue import PLANTS
from tests.verify.audit.planting import Plant
from tests.verify.audit.traces import TABLES, fuzz_trace, trace_named

ALL = 10**9
TRIES = 3
RECORDS_MAX = 6000
"""Plants look through a trace again and again."""

every_plant = pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.__name__)


def by_life(records: list[TraceRecord]) -> list[TraceRecord]:
    """The lives one after the other, the last first, as files of single sites may come."""
    return sorted(records, key=lambda each: (-each.site, -each.incarnation, each.index))


def is_found(plant: Plant, records: list[TraceRecord], seed: int) -> bool | None:
    """Whether the audit names what is planted; None if the trace has no place for it."""
    planted = plant(records, random.Random(seed))
    if planted is None:
        return None
    return any(planted.is_named_by(violation) for violation in audit(planted.records, shown_max=ALL).violations)


@pytest.mark.parametrize("name", TABLES)
def test_a_clean_trace_is_clean(name: str) -> None:
    verdict = audit(trace_named(name))
    assert (verdict.violations, verdict.remarks) == ([], [])
    assert verdict.deliveries > verdict.positions > 0


@every_plant
def test_what_is_planted_is_found_and_named(plant: Plant) -> None:
    found = [is_found(plant, list(trace_named(name)), seed) for name in TABLES for seed in range(TRIES)]
    assert True in found, "no trace has a place for it"
    assert False not in found


@every_plant
def test_whatever_the_order_of_the_lives(plant: Plant) -> None:
    for name in TABLES:
        planted = plant(list(trace_named(name)), random.Random(7))
        if planted is not None:
            violations = audit(by_life(planted.records), shown_max=ALL).violations
            assert planted.property in [violation.property for violation in violations]


def test_a_clean_trace_is_clean_whatever_the_order_of_the_lives() -> None:
    for name in TABLES:
        assert audit(by_life(list(trace_named(name)))).violations == []


@pytest.mark.parametrize("seed", range(6))
def test_what_the_fuzzer_draws_is_as_clean_as_the_fuzzer_says(seed: int) -> None:
    assert (audit(fuzz_trace(seed)).violations == []) == (run_seed(seed).failure is None)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(100, 300, 20))
def test_much_of_what_the_fuzzer_draws_is_clean(first: int) -> None:
    for seed in range(first, first + 20):
        if run_seed(seed).failure is None:
            records = fuzz_trace(seed)
            assert audit(records).violations == [], seed
            assert audit(by_life(records)).violations == [], seed


@pytest.mark.slow
@pytest.mark.parametrize("first", range(300, 360, 6))
def test_what_is_planted_into_what_the_fuzzer_draws_is_found(first: int) -> None:
    for seed in range(first, first + 6):
        records = fuzz_trace(seed)
        if len(records) <= RECORDS_MAX:
            missed = [plant.__name__ for plant in PLANTS if is_found(plant, records, seed) is False]
            assert missed == [], seed


def test_so_many_violations_are_kept_and_the_others_counted() -> None:
    records = [each for each in trace_named("agreed") if each.index % 2]
    verdict: Verdict = audit(records, shown_max=5)
    gaps = [violation for violation in verdict.violations if violation.property == "gaps"]
    assert len(gaps) == 5
    assert verdict.violated["gaps"] > 5
