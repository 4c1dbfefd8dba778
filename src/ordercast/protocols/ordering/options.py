"""What a scenario or a cluster file says about an ordering protocol: its name, and its options."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ordercast.core.ids import SiteId
from ordercast.core.mistakes import Mistake, join, listed, nearest, require_sites, shown, unknown
from ordercast.protocols.ordering.catalogue import PROTOCOLS, SITES


def check_options(table: str, protocol: str, options: dict[str, Any], sites: Sequence[str]) -> None:
    """Each is one that the protocol has, and names sites that exist."""
    kinds = PROTOCOLS[protocol].options
    for name, value in options.items():
        key = join(table, name)
        if name not in kinds:
            raise Mistake(key, _unknown_option(protocol, name))
        if isinstance(kinds[name], tuple):
            _require_choice(key, name, value, kinds[name])
        elif kinds[name] == SITES:
            _require_site_list(key, value, sites)
        elif not isinstance(value, str):
            raise Mistake(key, f"expected the name of a site, not {shown(value)}")
        elif value not in sites:
            raise Mistake(key, unknown("site", value, sites))


def with_ids(protocol: str, options: dict[str, Any], sites: Sequence[str]) -> dict[str, Any]:
    """As a protocol wants them: sites by their ids, a choice as it is."""
    kinds = PROTOCOLS[protocol].options

    def as_wanted(name: str, value: Any) -> Any:
        if isinstance(kinds[name], tuple):
            return value
        if kinds[name] == SITES:
            return tuple(SiteId(sites.index(site)) for site in value)
        return SiteId(sites.index(value))

    return {name: as_wanted(name, value) for name, value in options.items()}


def check_protocol_name(key: str, name: str) -> None:
    """The protocol exists."""
    if name not in PROTOCOLS:
        raise Mistake(key, unknown("protocol", name, list(PROTOCOLS)))


def _unknown_option(protocol: str, name: str) -> str:
    options = list(PROTOCOLS[protocol].options)
    if not options:
        return f"unknown option, {protocol} has none"
    meant = nearest(name, options)
    return f"unknown option, {f'did you mean {meant}?' if meant else f'{protocol} knows {listed(options)}'}"


def _require_choice(key: str, name: str, value: Any, choices: tuple[str, ...]) -> None:
    if not isinstance(value, str):
        raise Mistake(key, f"expected one of {listed(choices)}, not {shown(value)}")
    if value not in choices:
        raise Mistake(key, unknown(name, value, choices))


def _require_site_list(key: str, value: Any, sites: Sequence[str]) -> None:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise Mistake(key, f"expected a list of sites, not {shown(value)}")
    require_sites(key, value, sites)
