"""What a live site is built from."""

from __future__ import annotations

from pathlib import Path

from ordercast.core.ids import SiteId
from ordercast.protocols.groups import standing
from ordercast.protocols.groups.site_group import SiteGroup
from ordercast.site.assembly import TELL_US, stack_for
from ordercast.site.cluster import cluster_from
from ordercast.site.storage.recovery import RecoveredLog


def test_a_live_site_tells_sooner_what_it_has_ordered_than_a_simulated_one(tmp_path: Path) -> None:
    addresses = {"lis1": "127.0.0.1:7400", "por1": "127.0.0.1:7401"}
    table = {
        "cluster": "orders",
        "security": {"tls": False},
        "group": {"ordering": "token-site"},
        "site": [{"name": name, "facility": name, "address": address} for name, address in addresses.items()],
    }
    stack = stack_for(cluster_from(table, tmp_path), SiteId(0), RecoveredLog(0, {}, (), 0), 0)
    (group,) = (layer for layer in stack.layers if isinstance(layer, SiteGroup))
    assert group.tell_us == TELL_US < standing.TELL_US
