"""Run a scenario under both judges."""

from __future__ import annotations

from msgspec import Struct

from ordercast.simulator.scenario import Scenario
from ordercast.simulator.simulation import BuildLayer, Simulation
from ordercast.verify import properties
from ordercast.verify.history import HistoryCollector, SiteHistory
from ordercast.verify.online import OrderChecker


class Judged(Struct):
    """What was found."""

    histories: list[SiteHistory]
    plain: list[properties.Violation]
    online: list[str]

    @property
    def plain_properties(self) -> set[str]:
        """The names of the properties that `verify.properties` finds violated."""
        return {violation.property for violation in self.plain}

    @property
    def online_properties(self) -> set[str]:
        """The names of the properties that `verify.online` finds violated."""
        return {violation.split(":")[0] for violation in self.online}


def judge(scenario: Scenario, build: BuildLayer | None = None) -> Judged:
    """Run it to its end."""
    names = scenario.topology().names
    collector, checker = HistoryCollector(names), OrderChecker(names)
    Simulation(scenario, (collector, checker), build=build).run()
    return Judged(collector.histories, properties.check(collector.histories), checker.violations)
