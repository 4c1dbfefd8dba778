"""`ordercast status`, `members`, `links` and `views`: how a site is, who is in, and what changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import msgspec

from ordercast.cli.output import console, new_table, number, plain
from ordercast.cli.reaching import site_options, socket_of, with_site
from ordercast.client.site import Site
from ordercast.core.administration import GroupMembers, Link, SiteView, Status

json_option = click.option("--json", "as_json", is_flag=True, help="One JSON object instead of a table.")

UNWELL = ("blocked", "starting")


@click.command("status", short_help="How a site is, and what it waits for.")
@site_options
@json_option
def status(socket: Path | None, cluster_file: Path | None, site_name: str | None, as_json: bool) -> None:
    """How a site is, and what it waits for. Exit code 1 if it cannot go on, or its log takes nothing."""
    known = with_site(socket_of(socket, cluster_file, site_name), Site.status)
    if as_json:
        _print_json(known)
    else:
        _print_status(known)
    click.get_current_context().exit(int(known.state in UNWELL or known.log in ("full", "failed")))


def _print_status(known: Status) -> None:
    rows = {
        "site": f"{known.site} of {known.cluster}, life {known.incarnation}",
        "state": known.state + (f", waits for {known.waiting_for}" if known.waiting_for else ""),
        "view": f"{known.view}: {', '.join(known.members) or '-'}",
        "ordering": known.ordering,
        "positions": f"{known.position:,}, final below {known.final:,}",
        "log": known.log,
        "participants": f"{known.participants:,}, {known.outstanding_bytes:,} bytes under way",
    }
    for key, value in rows.items():
        click.echo(f"{key:14}{value}")


@click.command("members", short_help="Which participants are in which groups.")
@site_options
@json_option
def members(socket: Path | None, cluster_file: Path | None, site_name: str | None, as_json: bool) -> None:
    """Which participants are in which groups, the most senior first."""
    groups: tuple[GroupMembers, ...] = with_site(socket_of(socket, cluster_file, site_name), Site.members)
    if as_json:
        _print_json(groups)
        return
    table = new_table("Participants", "group", "members")
    table.columns[1].justify = "left"
    for group in groups:
        table.add_row(group.group, ", ".join(map(str, group.members)))
    console().print(table)


@click.command("links", short_help="How the ways from a site to the others are.")
@site_options
@json_option
def links(socket: Path | None, cluster_file: Path | None, site_name: str | None, as_json: bool) -> None:
    """How the ways from a site to the others are. Exit code 1 if one is down."""
    known: tuple[Link, ...] = with_site(socket_of(socket, cluster_file, site_name), Site.links)
    if as_json:
        _print_json(known)
    else:
        table = new_table("Links", "to", "connected", "round trip, ms", "full", "emulated")
        for link in known:
            connected, full = ("yes" if link.connected else "NO"), ("yes" if link.full else "no")
            table.add_row(link.site, connected, number(link.round_trip_ms, 2), full, _emulated(link))
        console().print(table)
    click.get_current_context().exit(int(not all(link.connected for link in known)))


def _emulated(link: Link) -> str:
    if link.cut:
        return "cut"
    parts = [f"+{link.delay_ms:g} ms"] * bool(link.delay_ms) + [f"loss {link.loss:.1%}"] * bool(link.loss)
    return ", ".join(parts) or "-"


@click.command("views", short_help="Which sites are in, and what changes.")
@site_options
@click.option("--follow", is_flag=True, help="Go on, with a line for each change, until Ctrl-C.")
@json_option
def views(socket: Path | None, cluster_file: Path | None, site_name: str | None, follow: bool, as_json: bool) -> None:
    """Which sites are in the group, and with --follow what changes."""

    async def show(site: Site) -> None:
        async for view in site.views():
            click.echo(msgspec.json.encode(plain(view)).decode() if as_json else _in_words(view))
            if not follow:
                return

    with_site(socket_of(socket, cluster_file, site_name), show)


def _in_words(view: SiteView) -> str:
    place = "" if view.position is None else f" at position {view.position:,}"
    blocked = ": blocked, too few of them can be reached" if view.blocked else ""
    return f"view {view.view}{place}: {', '.join(view.members)}{blocked}"


def _print_json(value: Any) -> None:
    click.echo(msgspec.json.format(msgspec.json.encode(plain(value)), indent=2))
