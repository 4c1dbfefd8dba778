"""`python -m tools.wan`: a wide area network on this machine, by hand."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click
from rich.markup import escape

from ordercast.cli.main import Answering
from ordercast.cli.output import console, new_table, number, print_json, remark
from ordercast.core.errors import NotFit, WrongUse
from ordercast.simulator.scenario import load_network
from tools.wan import namespaces
from tools.wan.desk import Setup
from tools.wan.emulation import control_socket, running, start, take_down
from tools.wan.requests import Change, Cut, Heal, PairStatus, Report, Request, Status, ask
from tools.wan.tap import MTU_DEFAULT, MTU_MAX, MTU_MIN


@click.group(cls=Answering, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--number", "-n", "wanted", type=int, help="Which network, if several are up.")
@click.pass_context
def main(context: click.Context, wanted: int | None) -> None:
    """Network namespaces on this machine, with the delays, losses and cuts of a wide area network between them.

    Needs root. Described in docs/wan.md.
    """
    context.obj = wanted


def _chosen(wanted: int | None) -> int:
    """The network that a command is about."""
    held = running()
    if wanted is not None and wanted not in held:
        raise WrongUse(f"network {wanted} is not up; up: {', '.join(map(str, held)) or 'none'}")
    if wanted is None and not held:
        raise WrongUse("no network is up: start one with `python -m tools.wan up FILE.toml`")
    if wanted is None and len(held) > 1:
        raise WrongUse(f"several networks are up ({', '.join(map(str, held))}): choose one with --number")
    return held[0] if wanted is None else wanted


def _request(wanted: int | None, request: Request) -> Status | None:
    return ask(control_socket(_chosen(wanted)), request).status


def _status(wanted: int | None) -> Status:
    status = _request(wanted, Report())
    assert status is not None
    return status


@main.command()
@click.argument("file", metavar="FILE.toml", type=click.Path(path_type=Path))
@click.option("--mtu", default=MTU_DEFAULT, show_default=True, help=f"Largest packet, {MTU_MIN} to {MTU_MAX} bytes.")
@click.option("--offload/--no-offload", default=True, show_default=True, help="TCP may pass 64 KiB as one frame.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")
def up(file: Path, mtu: int, offload: bool, as_json: bool) -> None:
    """Start the network that FILE.toml describes, by the tables [[lan]] and [[wan]], or [delays], of a scenario."""
    _, started = start(Setup(load_network(file).topology(), mtu, offload, realtime=True), attached=False)
    report = _status(started)
    if as_json:
        print_json(report)
    else:
        _show_sites(report)


def _show_sites(status: Status) -> None:
    table = new_table(f"network {status.number}", "site", "namespace", "address")
    for site in status.sites:
        table.add_row(escape(site.name), escape(site.namespace), site.address)
    console().print(table)
    if not status.realtime:
        remark("the switch has no real-time priority: on a busy machine delays will be longer than they should")


@main.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
@click.pass_obj
def status(wanted: int | None, as_json: bool) -> None:
    """Settings and counters."""
    report = _status(wanted)
    if as_json:
        print_json(report)
        return
    _show_sites(report)
    table = new_table("By pair", "from → to", "delay ms", "variance ms²", "loss", "carried", "dropped", "cut")
    for pair in report.pairs:
        table.add_row(escape(f"{pair.source} → {pair.to}"), *_cells(pair))
    console().print(table)
    console().print(f"{report.late_frames} frames left more than 1 ms late, the latest {report.late_ms_max:.1f} ms")


def _cells(pair: PairStatus) -> tuple[str, ...]:
    dropped = pair.dropped_by_cut + pair.dropped_by_loss + pair.dropped_by_overflow + pair.dropped_by_receiver
    delay = (number(pair.delay_ms, 3), number(pair.variance, 3), f"{pair.loss:g}")
    return (*delay, f"{pair.carried:,}", f"{dropped:,}", "cut" if pair.cut else "")


def _listed(sites: str) -> list[str]:
    """Names as they stand on the command line."""
    return [name for name in sites.split(",") if name]


one_way = click.option("--one-way", is_flag=True, help="Only what goes from SITES to the others.")


@main.command()
@click.argument("sites")
@click.argument("to", default="")
@one_way
@click.pass_obj
def cut(wanted: int | None, sites: str, to: str, one_way: bool) -> None:
    """Let nothing pass between SITES and TO, by default all others. Names are separated by commas."""
    _request(wanted, Cut(sites=_listed(sites), to=_listed(to), one_way=one_way))


@main.command()
@click.argument("sites", default="")
@click.argument("to", default="")
@click.pass_obj
def heal(wanted: int | None, sites: str, to: str) -> None:
    """End all cuts, or those between SITES and TO (by default all others)."""
    _request(wanted, Heal(sites=_listed(sites), to=_listed(to)))


@main.command("set")
@click.argument("sites")
@click.argument("to", default="")
@click.option("--delay-ms", type=float, help="Mean delay, one way.")
@click.option("--variance", type=float, help="Of the delay, in ms².")
@click.option("--loss", type=float, help="Probability that a frame is lost.")
@one_way
@click.pass_obj
def change(
    wanted: int | None,
    sites: str,
    to: str,
    delay_ms: float | None,
    variance: float | None,
    loss: float | None,
    one_way: bool,
) -> None:
    """Change what lies between SITES and TO, by default all others."""
    if delay_ms is None and variance is None and loss is None:
        raise WrongUse("nothing to change: expected --delay-ms, --variance or --loss")
    places = {"sites": _listed(sites), "to": _listed(to)}
    _request(wanted, Change(**places, one_way=one_way, delay_ms=delay_ms, variance=variance, loss=loss))


@main.command("exec", context_settings={"ignore_unknown_options": True})
@click.argument("site")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
@click.pass_obj
def execute(wanted: int | None, site: str, command: tuple[str, ...]) -> None:
    """Run a program at a site."""
    spaces = {each.name: each.namespace for each in _status(wanted).sites}
    if site not in spaces:
        raise WrongUse(f"unknown site {site!r}, expected one of {', '.join(spaces)}")
    sys.stdout.flush()
    os.execvp("ip", ["ip", "netns", "exec", spaces[site], *command])


@main.command()
@click.option("--all", "everything", is_flag=True, help="Every network that is up.")
@click.pass_obj
def down(wanted: int | None, everything: bool) -> None:
    """Take a network down, with all that runs in it."""
    for each in running() if everything else [_chosen(wanted)]:
        take_down(each)


@main.command()
def clean() -> None:
    """Remove whatever networks have left over whose process has died."""
    if (lacking := namespaces.why_unfit()) is not None:
        raise NotFit(lacking)
    for name in namespaces.clean():
        click.echo(f"removed {name}")


if __name__ == "__main__":
    main(prog_name="python -m tools.wan")
