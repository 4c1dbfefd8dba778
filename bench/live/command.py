"""Our own live groups beside Corosync and PySyncObj, on this machine and in one run.

Throughput: every client multicasts as much as it can; counted is what the slowest member got per second. Latency: every
client multicasts at a steady rate; measured from when a message was due until it was delivered to its sender, and to
the last member. Deliveries are tentative, as Corosync's agreed ones are. That the order was the same everywhere, and
nothing missing, is checked in every run. For the longest messages the same run says what this machine can do at most.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence

import click

from bench.live import bounds
from bench.live.choices import names, numbers
from bench.live.measuring import Effort, Measurement, measure
from bench.live.systems import PEERS, System, own_systems, peer_systems
from bench.live.tables import print_tables
from ordercast.protocols.ordering.catalogue import PROTOCOLS

ORDERINGS = "adaptive,token-site"


@click.command("live")
@click.option("--sites", default="3,5", help="Numbers of sites.", show_default=True)
@click.option("--sizes", default="64,1024,16384", help="Bytes of a message, flat out.", show_default=True)
@click.option("--rates", default="200,1000", help="Messages per second and site, paced.", show_default=True)
@click.option("--paced-size", default=64, help="Bytes of a message, paced.", show_default=True)
@click.option("--orderings", default=ORDERINGS, help="Our own protocols.", show_default=True)
@click.option("--fsync", default="interval", help="Policies of our own ordered log.", show_default=True)
@click.option("--tls", default="off,on", help="Our own links, without and with TLS.", show_default=True)
@click.option("--real-time", is_flag=True, help="Our own daemons at real-time priority, as Corosync's always are.")
@click.option("--peers", default=",".join(PEERS), help="Other systems; empty for none.", show_default=True)
@click.option("--seconds", default=2.0, help="How long each run counts.", show_default=True)
@click.option("--quick", is_flag=True, help="Three sites, one of our protocols: some four minutes.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
def command(
    sites: str,
    sizes: str,
    rates: str,
    paced_size: int,
    orderings: str,
    fsync: str,
    tls: str,
    real_time: bool,
    peers: str,
    seconds: float,
    quick: bool,
    as_json: bool,
) -> None:
    """Messages per second and latency of live groups, beside Corosync and PySyncObj."""
    effort = Effort(
        numbers(sites, "--sites"), numbers(sizes, "--sizes"), numbers(rates, "--rates"), paced_size, seconds
    )
    chosen = names(orderings, sorted(PROTOCOLS), "--orderings")
    if quick:
        effort, chosen = effort._replace(sites=(3,)), chosen[:1]
    policies = names(fsync, ("always", "interval", "never"), "--fsync")
    own = own_systems(chosen, policies, [each == "on" for each in names(tls, ("off", "on"), "--tls")], real_time)
    systems: list[System] = [*peer_systems(names(peers, PEERS, "--peers"), _say), *own]
    begin_s = time.monotonic()
    limits = [bounds.measured(members, max(effort.sizes)) for members in effort.sites if effort.sizes]
    measurements = measure(systems, effort, _say)
    if as_json:
        found = {"bounds": [each._asdict() for each in limits], "runs": [each.as_json() for each in measurements]}
        click.echo(json.dumps(found, indent=2))
    else:
        print_tables(measurements, limits)
        click.echo(f"measured in {time.monotonic() - begin_s:.0f} s", err=True)
    sys.exit(_exit_code(measurements))


def _say(text: str) -> None:
    click.echo(text, err=True)


def _exit_code(measurements: Sequence[Measurement]) -> int:
    """1 if a run of ours has failed, or a member saw another order than the others."""
    return 1 if any(each.is_own and not each.is_good for each in measurements) else 0
