"""`ordercast ordering`: by which protocol a group orders, and a change of it while the group runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ordercast.cli.reaching import site_options, socket_of, with_site
from ordercast.client.site import Site
from ordercast.core.errors import WrongUse


@click.command(short_help="By which protocol a group orders; change it on line.")
@click.argument("protocol", required=False)
@click.option("--option", "options", multiple=True, metavar="NAME=VALUE", help="Of the protocol; a list with commas.")
@site_options
def command(
    protocol: str | None,
    options: tuple[str, ...],
    socket: Path | None,
    cluster_file: Path | None,
    site_name: str | None,
) -> None:
    """By which protocol a group orders, or, with a PROTOCOL, a change of it while the group runs.

    The change takes one position of the order: all sites change there, and nothing is lost or doubled. It lasts until
    it is changed again; the cluster file counts only when a group begins for the first time.

    \b
      ordercast ordering --socket run/lis1.sock
      ordercast ordering token-site --option site=lis1 --socket run/lis1.sock
      ordercast ordering hybrid --option active=lis1,por1 --socket run/lis1.sock
    """
    path = socket_of(socket, cluster_file, site_name)
    if protocol is None:
        click.echo(with_site(path, Site.status).ordering)
        return
    named = dict(map(_option, options))

    async def change(site: Site) -> None:
        await site.change_ordering(protocol, **named)

    with_site(path, change)
    click.echo(f"the group orders by {protocol}")


def _option(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name or not value:
        raise WrongUse(f"--option: expected NAME=VALUE, not {text!r}")
    return name, value.split(",") if name == "active" or "," in value else value
