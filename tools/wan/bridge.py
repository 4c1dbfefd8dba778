"""Network namespaces on one bridge, for tests and benchmarks that need several hosts and no delays."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from tools.wan.namespaces import Claim, claim, make, run_ip

BRIDGE = "bridge"


@contextlib.contextmanager
def joined(sites: Sequence[str]) -> Iterator[Claim]:
    """A namespace for each site, with an address each, joined by a bridge in one more. The claim names them."""
    claimed = claim()
    try:
        make(claimed, [*sites, BRIDGE])
        bridge = claimed.namespace(BRIDGE)
        run_ip(["link add bridge0 type bridge", "link set bridge0 up"], bridge)
        for index, site in enumerate(sites):
            port = f"port{index}"
            run_ip([f"link add {port} type veth peer name eth0 netns {claimed.namespace(site)}"], bridge)
            run_ip([f"link set {port} master bridge0 up"], bridge)
            run_ip([f"addr add {claimed.address(index)}/24 dev eth0", "link set eth0 up"], claimed.namespace(site))
        yield claimed
    finally:
        claimed.release()
