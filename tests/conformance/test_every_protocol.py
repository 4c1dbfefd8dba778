"""What every ordering protocol must do in every host, with every ticket policy."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from ordercast.simulator.scenario import ProtocolChoice
from ordercast.verify import properties
from ordercast.verify.history import HistoryCollector
from ordercast.verify.run import run
from tests.conformance.hosts import CASES, Case, OverTheWire, Refrozen, choices, diary, fewer_choices, name_of, scenario

every_case = pytest.mark.parametrize("case", CASES, ids=name_of)
every_choice = pytest.mark.parametrize("choice", choices(), ids=name_of)
every_policy = pytest.mark.parametrize("choice", fewer_choices(), ids=name_of)


@cache
def plain_diary(choice: str, case: str) -> tuple[list[Any], int]:
    (chosen,) = (each for each in choices() if name_of(each) == choice)
    (given,) = (each for each in CASES if each.name == case)
    return diary(scenario(chosen, given))


@every_case
@every_choice
def test_everything_is_delivered_everywhere_in_one_order(choice: ProtocolChoice, case: Case) -> None:
    given = scenario(choice, case)
    collector = HistoryCollector(given.topology().names)
    assert run(given, observers=(collector,), with_limit=False).good
    assert properties.check(collector.histories) == []
    multicasts = sum(len(history.multicasts()) for history in collector.histories)
    assert multicasts > 3
    assert [len(history.deliveries()) for history in collector.histories] == [multicasts] * len(case.sites)


@every_case
@every_policy
def test_messages_survive_the_wire(choice: ProtocolChoice, case: Case) -> None:
    assert diary(scenario(choice, case), OverTheWire) == plain_diary(name_of(choice), case.name)


@every_case
@every_policy
def test_a_layer_goes_on_from_its_canonical_form(choice: ProtocolChoice, case: Case) -> None:
    assert diary(scenario(choice, case), Refrozen) == plain_diary(name_of(choice), case.name)
