"""Checks of the network that a scenario describes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ordercast.core.ids import SITES_MAX
from ordercast.core.mistakes import Mistake, listed, require_distinct, require_name, require_number, shown, unknown
from ordercast.planning.topology import Delays, Lan, Wan
from ordercast.simulator.distributions import quantiles

if TYPE_CHECKING:
    from ordercast.simulator.scenario import NetworkTables


def check_network(network: NetworkTables) -> None:
    """Either LANs joined by WAN links, or a matrix of delays."""
    if network.delays is not None:
        if network.lan or network.wan:
            raise Mistake("delays", "expected either [delays] or [[lan]] and [[wan]] tables, not both")
        _check_matrix(network.delays)
    elif network.lan:
        _check_lans(network.lan)
        _check_wans(network.wan, network.lan)
    else:
        raise Mistake("lan", "missing, expected [[lan]] tables or one [delays] table")


def _check_site_names(key: str, names: list[str]) -> None:
    if not names:
        raise Mistake(key, "expected at least one site")
    for index, name in enumerate(names):
        require_name(f"{key}[{index}]", name)
    require_distinct(key, names)


def _require_few_enough(key: str, sites: int) -> None:
    if sites > SITES_MAX:
        raise Mistake(key, f"expected at most {SITES_MAX} sites, not {sites}")


# --- [[lan]] and [[wan]] ---


def _check_lans(lans: list[Lan]) -> None:
    lan_of: dict[str, str] = {}
    for index, lan in enumerate(lans):
        key = f"lan[{index}]"
        require_name(f"{key}.name", lan.name)
        if lan.name in [other.name for other in lans[:index]]:
            raise Mistake(f"{key}.name", f"{shown(lan.name)} is the name of another LAN, expected one of its own")
        _check_site_names(f"{key}.sites", lan.sites)
        for place, site in enumerate(lan.sites):
            if site in lan_of:
                raise Mistake(
                    f"{key}.sites[{place}]", f"{site} is in LAN {lan_of[site]}, expected each site in one LAN"
                )
            lan_of[site] = lan.name
        if lan.distribution != lans[0].distribution:
            expected = f"expected {lans[0].distribution} as in lan[0], one for all, not {lan.distribution}"
            raise Mistake(f"{key}.distribution", expected)
        _check_delay(key, lan.delay_ms, lan.variance, lan.distribution)
    _require_few_enough("lan", len(lan_of))


def _check_wans(wans: list[Wan], lans: list[Lan]) -> None:
    names = [lan.name for lan in lans]
    for index, wan in enumerate(wans):
        key = f"wan[{index}]"
        for place, name in enumerate(wan.between):
            if name not in names:
                raise Mistake(f"{key}.between[{place}]", unknown("LAN", name, names))
        if wan.between[0] == wan.between[1]:
            raise Mistake(f"{key}.between", f"expected two LANs, not {wan.between[0]} twice")
        _check_delay(key, wan.delay_ms, wan.variance, lans[0].distribution)
    apart = [name for name in names if name not in _joined(names[0], wans)]
    if apart:
        raise Mistake("wan", f"expected a path from {names[0]} to {listed(apart)}")


def _joined(start: str, wans: list[Wan]) -> list[str]:
    """The LANs that can be reached from this one."""
    reached = [start]
    for here in reached:
        for wan in wans:
            if here in wan.between:
                reached.extend(name for name in wan.between if name not in reached)
    return reached


def _check_delay(key: str, delay_ms: float, variance: float, distribution: str) -> None:
    require_number(f"{key}.delay_ms", delay_ms, least=0)
    _check_variance(f"{key}.variance", variance, delay_ms, distribution)


def _check_variance(key: str, variance: float, delay_ms: float, distribution: str) -> None:
    """The shortest delay of the distribution must not be negative."""
    require_number(key, variance, least=0)
    if not variance:
        return
    if distribution == "constant":
        raise Mistake(key, f"expected 0 with distribution constant, not {shown(variance)}")
    lowest = quantiles(distribution)[0]
    if delay_ms + lowest * math.sqrt(variance) < 0:
        most = math.floor(1000 * (delay_ms / lowest) ** 2) / 1000
        why = f"some of the {distribution} delays around {shown(delay_ms)} ms would be negative"
        raise Mistake(key, f"expected at most {shown(most)} ms², not {shown(variance)}: {why}")


# --- [delays] ---


def _check_matrix(delays: Delays) -> None:
    size = len(delays.sites)
    _check_site_names("delays.sites", delays.sites)
    _require_few_enough("delays.sites", size)
    _require_square("delays.one_way_ms", delays.one_way_ms, size)
    if isinstance(delays.variance, list):
        _require_square("delays.variance", delays.variance, size)
    for row, delays_ms in enumerate(delays.one_way_ms):
        for column, delay_ms in enumerate(delays_ms):
            _check_pair(delays, row, column, delay_ms)


def _require_square(key: str, rows: list[list[float]], size: int) -> None:
    if len(rows) != size:
        raise Mistake(key, f"expected {size} rows, one for each site, not {len(rows)}")
    for index, row in enumerate(rows):
        if len(row) != size:
            raise Mistake(f"{key}[{index}]", f"expected {size} numbers, one for each site, not {len(row)}")


def _check_pair(delays: Delays, row: int, column: int, delay_ms: float) -> None:
    place = f"[{row}][{column}]"
    require_number(f"delays.one_way_ms{place}", delay_ms, least=0)
    if row == column:
        if delay_ms:
            why = "a site receives its own messages at once"
            raise Mistake(f"delays.one_way_ms{place}", f"expected 0 ({why}), not {shown(delay_ms)}")
        return
    if isinstance(delays.variance, list):
        _check_variance(f"delays.variance{place}", delays.variance[row][column], delay_ms, delays.distribution)
    else:
        _check_variance("delays.variance", delays.variance, delay_ms, delays.distribution)
