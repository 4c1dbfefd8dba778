"""Checks of a scenario beyond the types of its values: a `Mistake` for the first thing that cannot be run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET

from ordercast.core.ids import SITES_MAX
from ordercast.core.mistakes import (
    STEP_S,
    Mistake,
    require_after,
    require_before,
    require_number,
    require_sites,
)
from ordercast.protocols.ordering.options import check_options, check_protocol_name
from ordercast.simulator.fault_checks import check_faults
from ordercast.simulator.network_checks import check_network

if TYPE_CHECKING:
    from ordercast.simulator.scenario import Change, ProtocolChoice, Scenario, Traffic

SEED_MAX = (1 << 63) - 1
"""So that a seed fits wherever results go."""

RATE_MIN, RATE_MAX = 1e-9, 1e6
"""Messages per second: gaps from the whole of a longest run down to a microsecond, the step of virtual time."""

OUTSTANDING_MAX = 100_000
"""Messages of one closed loop, all of which are in flight at once."""

SIZE_BYTES_MAX = 1 << 24
"""The largest message body."""


def check(scenario: Scenario) -> None:
    """Raise a `Mistake` for the first thing that cannot be run."""
    check_network(scenario)
    _check_protocol(scenario.protocol, scenario.site_names())
    _check_times(scenario)
    if not scenario.traffic:
        raise Mistake("traffic", "expected at least one [[traffic]] table")
    for index, traffic in enumerate(scenario.traffic):
        _check_traffic(f"traffic[{index}]", traffic, scenario)
    check_faults(scenario.fault, scenario.site_names(), scenario.is_group)
    for index, change in enumerate(scenario.change):
        _check_change(f"change[{index}]", change, scenario)


def _check_times(scenario: Scenario) -> None:
    require_number("seed", scenario.seed, least=0, most=SEED_MAX)
    require_number("duration_s", scenario.duration_s, above=0, least=STEP_S)
    require_number("warmup_s", scenario.warmup_s, least=0)
    require_before("warmup_s", scenario.warmup_s, "duration_s", scenario.duration_s)


def _check_protocol(choice: ProtocolChoice, sites: list[str]) -> None:
    check_protocol_name("protocol.name", choice.name)
    require_number("protocol.resilience", choice.resilience, least=0, most=SITES_MAX - 1)
    check_options("protocol.options", choice.name, choice.options, sites)


def _check_traffic(key: str, traffic: Traffic, scenario: Scenario) -> None:
    require_sites(f"{key}.sites", traffic.sites, scenario.site_names())
    if (traffic.rate is UNSET) == (traffic.closed_loop is UNSET):
        given = "neither" if traffic.rate is UNSET else "both"
        raise Mistake(key, f"expected either rate or closed_loop, not {given}")
    if traffic.rate is not UNSET:
        require_number(f"{key}.rate", traffic.rate, above=0, least=RATE_MIN, most=RATE_MAX)
    level = traffic.level or scenario.protocol.level
    if level != "agreed" and not scenario.is_group:
        where = f"{key}.level" if traffic.level else "protocol.level"
        raise Mistake(where, f'{level} needs protocol.stack = "full"')
    if traffic.closed_loop is not UNSET:
        require_number(f"{key}.closed_loop", traffic.closed_loop, least=1, most=OUTSTANDING_MAX)
    require_number(f"{key}.size_bytes", traffic.size_bytes, least=0, most=SIZE_BYTES_MAX)
    _check_window(key, traffic, scenario.duration_s)


def _check_change(key: str, change: Change, scenario: Scenario) -> None:
    if not scenario.is_group:
        raise Mistake(key, 'only the full stack changes its protocol, expected protocol.stack = "full"')
    require_number(f"{key}.at_s", change.at_s, least=0)
    require_before(f"{key}.at_s", change.at_s, "duration_s", scenario.duration_s)
    check_protocol_name(f"{key}.protocol", change.protocol)
    check_options(f"{key}.options", change.protocol, change.options, scenario.site_names())


def _check_window(key: str, traffic: Traffic, duration_s: float) -> None:
    require_number(f"{key}.from_s", traffic.from_s, least=0)
    require_before(f"{key}.from_s", traffic.from_s, "duration_s", duration_s)
    if traffic.until_s is not None:
        require_after(f"{key}.until_s", traffic.until_s, "from_s", traffic.from_s)
