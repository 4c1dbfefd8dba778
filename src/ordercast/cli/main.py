"""The `ordercast` command: finds the module of a subcommand, and turns errors into one line and an exit code.

Nothing heavy is imported here, so that `ordercast --help` answers at once.
"""

from __future__ import annotations

import errno
import importlib
import os
import sys
from typing import Any

import click

from ordercast import __version__
from ordercast.core.errors import NotFit, WrongUse

INTERRUPTED = 130
BROKEN_PIPE = 141

NO_PLACE_LEFT = (errno.ENOSPC, errno.EDQUOT)
"""Errors of a full disk."""

COMMANDS: dict[str, tuple[str, str]] = {
    "simulate": ("ordercast.cli.simulate", "Run a scenario and judge it: latencies, overhead, violations."),
    "plan": ("ordercast.cli.plan", "Say what to expect of a network: roles, latencies and their limit."),
    "campaign": ("ordercast.cli.campaign", "Run a grid of scenarios by the hundred, on Spark."),
    "study": ("ordercast.cli.study", "Reproduce a table or figure of the papers."),
    "audit": ("ordercast.cli.audit", "Check every promise on recorded traces, simulated or live."),
    "telemetry": ("ordercast.cli.telemetry", "Latencies, rates and ways in recorded traces."),
    "pack": ("ordercast.cli.pack", "Write this package as one file, for the workers of a cluster."),
    "fuzz": ("ordercast.cli.fuzz", "Run random groups under random faults, and check every promise."),
    "up": ("ordercast.cli.up", "Run a site of a cluster on this machine."),
    "status": ("ordercast.cli.status:status", "How a site is, and what it waits for."),
    "members": ("ordercast.cli.status:members", "Which participants are in which groups."),
    "links": ("ordercast.cli.status:links", "How the ways from a site to the others are."),
    "views": ("ordercast.cli.status:views", "Which sites are in, and what changes."),
    "send": ("ordercast.cli.talk:send", "Multicast to a group."),
    "tail": ("ordercast.cli.talk:tail", "Read a group's stream."),
    "ordering": ("ordercast.cli.ordering", "By which protocol a group orders; change it on line."),
    "export": ("ordercast.cli.export", "Write an ordered log to Parquet, each position exactly once."),
    "watch": ("ordercast.cli.watch", "Compare the order at several sites, as it comes."),
    "bench": ("ordercast.cli.bench", "What a running group delivers, and after how long."),
    "keys": ("ordercast.cli.keys", "Make and renew the certificates by which sites know each other."),
    "explore": ("ordercast.cli.explore", "Run a small group through every interleaving there is."),
}
"""For each subcommand where it is, `command` of a module if no name is given, and what it does in a line."""


class Mistaken(click.ClickException):
    """Wrong use, in one line on the error output."""

    exit_code = 2

    def show(self, file: Any = None) -> None:
        click.echo(self.message, err=True)


class Unfit(Mistaken):
    """The environment lacks something."""

    exit_code = 3


class Answering(click.Group):
    """Errors become one line and an exit code."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            try:
                return super().invoke(ctx)
            finally:
                sys.stdout.flush()
        except WrongUse as error:
            raise Mistaken(str(error)) from error
        except NotFit as error:
            raise Unfit(str(error)) from error
        except KeyboardInterrupt:
            ctx.exit(INTERRUPTED)
        except BrokenPipeError:
            _give_up_output()
            ctx.exit(BROKEN_PIPE)

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run a command; where its output has no place left, say so."""
        try:
            return super().main(*args, **kwargs)
        except OSError as error:
            if error.errno not in NO_PLACE_LEFT:
                raise
            _give_up_output()
            Unfit(f"{error.filename or 'the output'} cannot be written ({error.strerror})").show()
            sys.exit(Unfit.exit_code)


class Subcommands(Answering):
    """Imports a subcommand only when it is run."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), name or "command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(f"No such command {args[0]!r}; expected one of {', '.join(COMMANDS)}.")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])


def _give_up_output() -> None:
    """What is left cannot be written; Python would complain about it once more at its exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@click.group(cls=Subcommands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="ordercast", message="%(prog)s %(version)s")
def main() -> None:
    """One agreed order of messages for groups spread over LANs and slow links, at the lowest latency that
    their network allows.

    \b
    Which scheme suits my network, and what latency may I expect?
      ordercast plan examples/nine-scenarios/scenario-4.toml
    How does it do under load, and is the order right?
      ordercast simulate examples/nine-scenarios/scenario-4.toml
      ordercast simulate examples/nine-scenarios/scenario-4.toml --protocol token-site
    What did the papers find?
      ordercast study nine-scenarios
    How do I run a group?
      ordercast keys init keys/ --cluster orders; ordercast keys issue keys/ lis1 por1
      ordercast up cluster.toml --site lis1
      ordercast status --cluster cluster.toml --site lis1

    Scenario files are described in docs/scenarios.md. Exit codes: 0 good; 1 the answer is bad (a violation, a
    stall, a missed claim); 2 wrong use; 3 the environment lacks something.
    """
