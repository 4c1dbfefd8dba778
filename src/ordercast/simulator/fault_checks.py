"""Checks of the faults that a scenario lets happen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET

from ordercast.core.mistakes import LARGEST, Mistake, listed, require_after, require_number, require_sites, unknown

if TYPE_CHECKING:
    from ordercast.simulator.scenario import Fault

FAULT_KEYS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "crash": (("sites",), ()),
    "recover": (("sites",), ()),
    "pause": (("sites", "for_s"), ()),
    "partition": (("sites",), ("one_way", "until_s")),
    "heal": ((), ()),
    "loss": (("probability",), ("between", "until_s")),
    "duplicate": (("probability",), ("between", "until_s")),
    "reorder": (("probability",), ("between", "until_s")),
    "slow-link": (("between", "extra_ms"), ("until_s",)),
    "clock-step": (("sites", "by_ms"), ()),
    "clock-drift": (("sites", "ppm"), ()),
}
"""For each kind the keys it needs and those it may have, beside `kind` and `at_s`."""

GROUP_FAULTS = ("recover", "clock-step", "clock-drift")
"""Only a live group can meet these."""

ALWAYS = ("kind", "at_s")

DRIFT_PPM_MAX = 100_000
"""A clock may be wrong by a tenth: at a million, timers would take no time, and time would stand still."""


def check_faults(faults: list[Fault], sites: list[str], is_group: bool) -> None:
    """Each fault has the keys of its kind; somebody survives the crashes."""
    crashed: dict[str, int] = {}
    for index, fault in enumerate(faults):
        key = f"fault[{index}]"
        _check_keys(key, fault)
        _check_values(key, fault, sites)
        if fault.kind == "crash" and fault.sites is not UNSET and not is_group:
            _check_crash(f"{key}.sites", fault.sites, crashed, sites)
            crashed.update(dict.fromkeys(fault.sites, index))
        if fault.kind in GROUP_FAULTS and not is_group:
            raise Mistake(f"{key}.kind", f'a {fault.kind} fault needs protocol.stack = "full"')


def _check_keys(key: str, fault: Fault) -> None:
    needed, possible = FAULT_KEYS[fault.kind]
    for name in needed:
        if getattr(fault, name) is UNSET:
            raise Mistake(f"{key}.{name}", f"missing, a {fault.kind} fault needs {listed(needed)}")
    for name in fault.__struct_fields__:
        if name not in (*ALWAYS, *needed, *possible) and getattr(fault, name) is not UNSET:
            expected = f"expected one of {listed((*ALWAYS, *needed, *possible))}"
            raise Mistake(f"{key}.{name}", f"unknown key for a {fault.kind} fault, {expected}")


def _check_values(key: str, fault: Fault, sites: list[str]) -> None:
    require_number(f"{key}.at_s", fault.at_s, least=0)
    if fault.sites is not UNSET:
        require_sites(f"{key}.sites", fault.sites, sites)
        if fault.kind == "partition" and len(fault.sites) == len(sites):
            raise Mistake(f"{key}.sites", "expected one side of the partition, not all sites")
    if fault.for_s is not UNSET:
        require_number(f"{key}.for_s", fault.for_s, above=0)
    if fault.until_s is not UNSET:
        require_after(f"{key}.until_s", fault.until_s, "at_s", fault.at_s)
    if fault.probability is not UNSET:
        require_number(f"{key}.probability", fault.probability, least=0, most=1)
    if fault.extra_ms is not UNSET:
        require_number(f"{key}.extra_ms", fault.extra_ms, least=0)
    if fault.by_ms is not UNSET:
        require_number(f"{key}.by_ms", fault.by_ms, least=-LARGEST)
    if fault.ppm is not UNSET:
        require_number(f"{key}.ppm", fault.ppm, least=-DRIFT_PPM_MAX, most=DRIFT_PPM_MAX)
    if fault.between is not UNSET:
        _check_link(f"{key}.between", fault.between, sites)


def _check_link(key: str, between: tuple[str, str], sites: list[str]) -> None:
    for index, name in enumerate(between):
        if name not in sites:
            raise Mistake(f"{key}[{index}]", unknown("site", name, sites))
    if between[0] == between[1]:
        raise Mistake(key, f"expected two sites, not {between[0]} twice")


def _check_crash(key: str, names: list[str], crashed: dict[str, int], sites: list[str]) -> None:
    for index, name in enumerate(names):
        if name in crashed:
            raise Mistake(f"{key}[{index}]", f"{name} has crashed before, by fault[{crashed[name]}]")
    if len(crashed) + len(names) == len(sites):
        raise Mistake(key, "expected at least one site that never crashes")
