"""`ordercast explore`: run small groups through every interleaving there is."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import click
from msgspec import Struct
from rich.console import Console
from rich.markup import escape

from ordercast.cli.output import console, new_table, print_json
from ordercast.core.errors import WrongUse
from ordercast.protocols.ordering.options import check_protocol_name
from ordercast.verify.explorer import Exploration, explore
from ordercast.verify.scopes import SCOPES as ORDERING_SCOPES
from ordercast.verify.scopes import Scope
from ordercast.verify.views.scope import GroupScope
from ordercast.verify.views.scopes import GROUP_SCOPES
from ordercast.verify.views.switching_scopes import SWITCHING_SCOPES
from ordercast.verify.views.words import allowed

BAD_ANSWER = 1
EVERY_SCOPE = "all"

AnyScope = Scope | GroupScope

SCOPES: dict[str, AnyScope] = {**ORDERING_SCOPES, **GROUP_SCOPES, **SWITCHING_SCOPES}


class Explorations(Struct, frozen=True):
    """What `--json` prints."""

    explorations: list[Exploration]


class ScopeSummaries(Struct, frozen=True):
    """What `--list --json` prints."""

    scopes: list[AnyScope]


@click.command(short_help="Run a small group through every interleaving there is.")
@click.argument("scope", metavar="[SCOPE|all]", default=EVERY_SCOPE)
@click.option("--protocol", metavar="NAME", help="Only the scopes of this ordering protocol.")
@click.option("--list", "listing", is_flag=True, help="Say which scopes there are.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
@click.pass_context
def command(ctx: click.Context, scope: str, protocol: str | None, listing: bool, as_json: bool) -> None:
    """Run a small group of sites through every order in which messages can be multicast and can arrive.

    A SCOPE says how many sites there are, how many messages each multicasts, and what must be seen to happen at
    least once. In a scope of a live group sites also suspect each other, crash, come back and change the view; it
    begins in the midst of that. The protocols' own code runs, the same as in a simulation. Exit code 1 tells that a
    promise was broken, and the shortest way there is printed; or that a scope did not reach one of its goals.

    \b
      ordercast explore --list
      ordercast explore hybrid-3x2
      ordercast explore flush-token-site
      ordercast explore all --protocol symmetric --json
    """
    chosen = _chosen(scope, protocol)
    if listing:
        _list(chosen, as_json)
        return
    explorations = [explore(each, progress=_progress(each.name)) for each in chosen]
    if as_json:
        print_json(Explorations(explorations))
    else:
        _show(console(), explorations)
    if not all(each.good for each in explorations):
        ctx.exit(BAD_ANSWER)


def _chosen(name: str, protocol: str | None) -> list[AnyScope]:
    if protocol is not None:
        check_protocol_name("--protocol", protocol)
    if name != EVERY_SCOPE and name not in SCOPES:
        raise WrongUse(f"SCOPE: expected {EVERY_SCOPE} or one of {', '.join(SCOPES)}; not {name!r}")
    named = list(SCOPES.values()) if name == EVERY_SCOPE else [SCOPES[name]]
    chosen = [scope for scope in named if protocol in (None, scope.protocol)]
    if not chosen:
        expected = ", ".join(dict.fromkeys(scope.protocol for scope in named))
        raise WrongUse(f"--protocol: expected a protocol that a chosen scope is about ({expected}), not {protocol!r}")
    return chosen


def _progress(name: str) -> Callable[[int], None] | None:
    """A line on the error output that is written over; nothing in a pipe."""
    if not sys.stderr.isatty():
        return None
    return lambda states: click.echo(f"\r\033[K{name}: {states:,} states", err=True, nl=False)


# --- tables ---


def _list(scopes: Sequence[AnyScope], as_json: bool) -> None:
    if as_json:
        print_json(ScopeSummaries(list(scopes)))
        return
    ideal = new_table("Ordering in one view", "scope", "protocol", "sites", "messages of each", "tickets")
    live = new_table("Live groups", "scope", "protocol", "sites", "what may happen", "tickets")
    for scope in scopes:
        policy = "flush" if scope.flush else "piggyback"
        if isinstance(scope, Scope):
            ideal.add_row(scope.name, scope.protocol, str(scope.sites), str(scope.messages), policy)
        else:
            live.add_row(scope.name, scope.protocol, str(scope.sites), allowed(scope.budgets), policy)
    for table in (ideal, live):
        if table.row_count:
            console().print(table)


def _show(out: Console, explorations: Sequence[Exploration]) -> None:
    if sys.stderr.isatty():
        click.echo("\r\033[K", err=True, nl=False)
    table = new_table("Every interleaving", "scope", "states", "transitions", "ends", "goals met", "seconds")
    for each in explorations:
        met = f"{sum(each.goals.values())} of {len(each.goals)}"
        counts = [f"{count:,}" for count in (each.states, each.transitions, each.terminal_states)]
        table.add_row(each.scope, *counts, met, f"{each.seconds:.1f}")
    out.print(table)
    for each in explorations:
        _show_failure(out, each)
    if all(each.good for each in explorations):
        out.print("[bold green]good[/bold green]: no violation in any interleaving, and every goal was met")


def _show_failure(out: Console, exploration: Exploration) -> None:
    for goal in exploration.missed:
        out.print(f"[bold red]missed[/bold red]: {exploration.scope}: {goal}: this never happened")
    if exploration.counterexample is None:
        return
    for violation in exploration.counterexample.violations:
        out.print(f"[bold red]violated[/bold red]: {exploration.scope}: {escape(violation)}", soft_wrap=True)
    out.print("The shortest way there that was found:")
    for number, step in enumerate(exploration.counterexample.steps, start=1):
        out.print(f"{number:4}. {escape(step)}", soft_wrap=True)
