"""`python -m bench` says which benchmarks there are; `python -m bench NAME` runs one."""

from __future__ import annotations

import click

from bench import audit, campaign, client, detectors, durability, log, simulator, stack, trial, wan
from bench.live import command as live
from bench.live import scenarios
from bench.streaming import command as streaming
from bench.streaming import killed

BENCHMARKS = {
    "audit": audit.command,
    "campaign": campaign.command,
    "client": client.command,
    "detectors": detectors.command,
    "durability": durability.command,
    "live": live.command,
    "log": log.command,
    "simulator": simulator.command,
    "stack": stack.command,
    "stream": streaming.command,
    "stream-killed": killed.command,
    "trial": trial.command,
    "wan": wan.command,
    "wan-scenarios": scenarios.command,
}


@click.group(invoke_without_command=True, commands=BENCHMARKS)
@click.pass_context
def main(context: click.Context) -> None:
    """Run a benchmark; without a name, say which there are."""
    if context.invoked_subcommand is None:
        for name, command in BENCHMARKS.items():
            click.echo(f"python -m bench {name}   {command.get_short_help_str(limit=100)}")


if __name__ == "__main__":
    main(prog_name="python -m bench")
