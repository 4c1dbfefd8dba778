"""Faults that nothing repairs on the idealised multicast: a run may stall and says why, but it violates nothing."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from ordercast.simulator.scenario import Fault, ProtocolChoice
from ordercast.verify import properties
from ordercast.verify.history import HistoryCollector
from ordercast.verify.run import RunResult, run
from tests.conformance.hosts import CASES, fewer_choices, name_of, scenario

HARM = {
    "loss": [Fault(kind="loss", at_s=0.3, probability=0.05)],
    "loss on one link": [Fault(kind="loss", at_s=0.3, until_s=1.5, probability=0.5, between=("A", "B"))],
    "partition": [Fault(kind="partition", at_s=0.5, until_s=1.0, sites=["A"])],
    "partition one way": [Fault(kind="partition", at_s=0.5, until_s=1.0, sites=["A"], one_way=True)],
    "partition and heal": [Fault(kind="partition", at_s=0.5, sites=["C"]), Fault(kind="heal", at_s=1.0)],
    "crash of the first": [Fault(kind="crash", at_s=0.5, sites=["A"])],
    "crash of two": [Fault(kind="crash", at_s=0.5, sites=["B"]), Fault(kind="crash", at_s=1.2, sites=["C"])],
    "crash in a pause": [
        Fault(kind="pause", at_s=0.4, for_s=0.5, sites=["B"]),
        Fault(kind="crash", at_s=0.5, sites=["B"]),
    ],
}

(POISSON,) = (case for case in CASES if case.name == "detours, Poisson")

every_policy = pytest.mark.parametrize("choice", fewer_choices(), ids=name_of)


def harmed(choice: ProtocolChoice, faults: list[Fault]) -> tuple[RunResult, list[properties.Violation]]:
    given = replace(scenario(choice, POISSON), fault=faults)
    collector = HistoryCollector(given.topology().names)
    result = run(given, observers=(collector,), with_limit=False)
    return result, properties.check(collector.histories, drained=result.stalled is None)


@every_policy
@pytest.mark.parametrize("harm", HARM)
def test_nothing_is_violated(choice: ProtocolChoice, harm: str) -> None:
    result, plain = harmed(choice, HARM[harm])
    assert result.violations == []
    assert plain == []


@every_policy
@pytest.mark.parametrize("harm", [harm for harm in HARM if "crash" not in harm])
def test_who_lacks_something_says_so(choice: ProtocolChoice, harm: str) -> None:
    result, _ = harmed(choice, HARM[harm])
    assert result.stalled is not None
    assert result.stalled.site in ("A", "B", "C")
    assert result.stalled.waiting_for


def outcome(protocol: str, site: str) -> Any:
    choice = ProtocolChoice(name=protocol, stack="ideal")
    result, _ = harmed(choice, [Fault(kind="crash", at_s=0.5, sites=[site])])
    return result.stalled


def test_a_token_site_can_do_without_the_others_but_they_not_without_it() -> None:
    assert outcome("token-site", "C") is None
    assert outcome("token-site", "A").waiting_for.startswith("a ticket for message")


def test_symmetric_sites_cannot_do_without_any() -> None:
    assert outcome("symmetric", "C").waiting_for.endswith("from C")
