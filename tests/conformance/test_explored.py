"""Every ordering protocol in the explorer."""

from __future__ import annotations

import pytest

from ordercast.protocols.ordering.catalogue import PROTOCOLS
from ordercast.verify.explorer import explore
from ordercast.verify.scopes import SCOPES, Scope

TICKETS_AT_ONCE = ("token-site", "migrating-token")
"""Protocols whose tickets never wait, so that both policies are the same."""


EXPLORED = [name for name in PROTOCOLS if name != "adaptive"]
"""By their first name."""

SHAPES = {"dynamic-hybrid": ((3, 1), (2, 3))}
"""Where switches come in, there is much more to go through."""


def scopes_of(protocol: str, sites: int, messages: int, *, flush: bool) -> list[Scope]:
    asked = (protocol, sites, messages, flush)
    return [each for each in SCOPES.values() if (each.protocol, each.sites, each.messages, each.flush) == asked]


@pytest.mark.parametrize("flush", [False, True])
@pytest.mark.parametrize("protocol", EXPLORED)
def test_every_protocol_has_its_scopes(protocol: str, flush: bool) -> None:
    for sites, messages in SHAPES.get(protocol, ((3, 2), (2, 3))):
        assert scopes_of(protocol, sites, messages, flush=flush and protocol not in TICKETS_AT_ONCE)


@pytest.mark.parametrize("flush", [False, True])
@pytest.mark.parametrize("protocol", EXPLORED)
def test_two_sites_in_every_interleaving(protocol: str, flush: bool) -> None:
    for scope in scopes_of(protocol, 2, 3, flush=flush and protocol not in TICKETS_AT_ONCE):
        assert explore(scope).good
