"""`ordercast up`: runs a site of a cluster on this machine, until it is told to end."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
from pathlib import Path

import click

from ordercast.core.errors import NotFit, WrongUse
from ordercast.site.cluster import Cluster, read_cluster
from ordercast.site.daemon import Site
from ordercast.site.journal import Journal

DRAIN_S = 10.0
"""What participants have multicast may take so long to be delivered once the site is to end."""

REAL_TIME_PRIORITY = 1
"""Above all that has none, and below whatever else has."""

SWITCH_S = 0.0005
"""So long a thread may go on once another wants the interpreter; ten times that is the rule."""


@click.command(short_help="Run a site of a cluster on this machine.")
@click.argument("cluster_file", type=click.Path(dir_okay=False, path_type=Path), metavar="CLUSTER.toml")
@click.option("--site", "name", required=True, help="Which of the file's sites this machine is.")
@click.option("--real-time", is_flag=True, help="Let the site go before what else the machine does; root may.")
@click.option("--loop", type=click.Choice(["uvloop", "asyncio"]), help="The event loop; uvloop where it is installed.")
def command(cluster_file: Path, name: str, real_time: bool, loop: str | None) -> None:
    """Run a site of a cluster on this machine.

    It says what happens as JSON, a line each, on the error output. SIGTERM and Ctrl-C end it in good order: it delivers
    what its participants have multicast and leaves the group. SIGHUP reads the cluster file and the certificates
    again, for addresses that have changed. A killed site comes back with its log.

    \b
      ordercast keys init keys/ --cluster orders
      ordercast keys issue keys/ lis1 por1
      ordercast up cluster.toml --site lis1
      ordercast status --cluster cluster.toml --site lis1
    """
    cluster = read_cluster(cluster_file)
    cluster.site_id(name)
    if real_time:
        go_first()
    with asyncio.Runner(loop_factory=_loop_factory(loop)) as runner:
        runner.run(_run(cluster_file, cluster, name))


def _loop_factory(name: str | None) -> type[asyncio.AbstractEventLoop] | None:
    if name == "asyncio":
        return None
    try:
        import uvloop
    except ImportError as error:
        if name == "uvloop":
            raise NotFit("uvloop is not installed: pip install 'ordercast[fast]', or --loop asyncio") from error
        return None
    factory: type[asyncio.AbstractEventLoop] = uvloop.Loop
    return factory


async def _run(cluster_file: Path, cluster: Cluster, name: str) -> None:
    journal = Journal(name)
    site = Site(cluster, name, journal)
    end = asyncio.Event()
    site.on_leave = end.set
    loop = asyncio.get_running_loop()
    reloads: list[asyncio.Task[None]] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, end.set)
    loop.add_signal_handler(
        signal.SIGHUP, lambda: reloads.append(loop.create_task(_reload(site, cluster_file, journal)))
    )
    await site.start()
    _be_prompt()
    try:
        await end.wait()
        journal.write("ending")
        await site.drain(DRAIN_S)
        await site.leave()
    finally:
        await site.stop()
    sys.stderr.flush()


def go_first() -> None:
    """Give this thread, on which the site's loop runs, real-time priority.

    The threads that it starts have none: what those of the log do can wait, and participants must have their turn.
    """
    try:
        os.sched_setscheduler(0, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(REAL_TIME_PRIORITY))
    except PermissionError as error:
        raise NotFit("--real-time: this process may not; give it CAP_SYS_NICE, or leave the option out") from error


def _be_prompt() -> None:
    """Let neither the log's threads nor collections of garbage hold the loop up for milliseconds."""
    sys.setswitchinterval(SWITCH_S)
    gc.collect()
    gc.freeze()  # the program itself: that is most of what they would look through


async def _reload(site: Site, cluster_file: Path, journal: Journal) -> None:
    try:
        await site.reload(read_cluster(cluster_file))
    except (WrongUse, NotFit) as error:
        journal.alarm("reload", reason=str(error))
