"""How commands reach a site: by its socket, or by the cluster file and the site's name."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from ordercast.client.connect import connect
from ordercast.client.errors import StreamEnded
from ordercast.client.site import Site
from ordercast.core.errors import NotFit, WrongUse

Result = TypeVar("Result")
Command = TypeVar("Command", bound=Callable[..., Any])

NAME = "ordercast-cli"


def site_options(command: Command) -> Command:
    """`--socket`, or `--cluster` and `--site`, as one parameter `address`."""
    options = (
        click.option("--socket", type=click.Path(path_type=Path), envvar="ORDERCAST_SOCKET", help="The site's socket."),
        click.option("--cluster", "cluster_file", type=click.Path(path_type=Path), help="Or the cluster file ..."),
        click.option("--site", "site_name", help="... and the site's name (the first whose socket is here)."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def socket_of(socket: Path | None, cluster_file: Path | None, site_name: str | None) -> Path:
    """Where the site is to be reached."""
    if socket is not None:
        return socket
    if cluster_file is None:
        raise WrongUse("which site? --socket PATH, or --cluster CLUSTER.toml --site NAME, or set ORDERCAST_SOCKET")
    from ordercast.site.cluster import read_cluster

    cluster = read_cluster(cluster_file)
    if site_name is not None:
        cluster.site_id(site_name)
        return cluster.socket(site_name)
    for name in cluster.names:
        if cluster.socket(name).exists():
            return cluster.socket(name)
    raise NotFit(f"{cluster_file}: none of its sites runs on this machine; `ordercast up {cluster_file} --site NAME`")


def with_site(path: Path, talk: Callable[[Site], Awaitable[Result]], name: str = NAME) -> Result:
    """Connect, and talk to the site."""

    async def run() -> Result:
        async with connect(path, name=name, reconnect=False) as site:
            return await talk(site)

    try:
        return asyncio.run(run())
    except StreamEnded as error:
        raise NotFit(f"{path}: {error}") from error
