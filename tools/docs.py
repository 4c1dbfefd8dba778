"""`./dev docs`: writes the generated pages of docs/ again, and checks every link."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from ordercast.cli.main import main as ordercast
from tools.links import broken_links

ROOT = Path(__file__).parents[1]
CLI_PAGE = ROOT / "docs" / "cli.md"
WIDTH = 100

OPENING = """\
# The command line

This page is made by `./dev docs` from the help texts of the commands: change those, not this.
"""


def cli_page() -> str:
    """The help of every command, as Markdown."""
    return OPENING + "".join(_sections(ordercast, "ordercast", None))


def _sections(command: click.Command, name: str, parent: click.Context | None) -> Iterator[str]:
    context = command.make_context(
        name, [], parent, resilient_parsing=True, terminal_width=WIDTH, max_content_width=WIDTH
    )
    yield f"\n## {context.command_path}\n\n```text\n{command.get_help(context).rstrip()}\n```\n"
    if isinstance(command, click.Group):
        for inner in command.list_commands(context):
            if (subcommand := command.get_command(context, inner)) is not None:
                yield from _sections(subcommand, inner, context)


def main() -> int:
    """Exit code 1 if a link leads nowhere."""
    CLI_PAGE.parent.mkdir(exist_ok=True)
    CLI_PAGE.write_text(cli_page(), encoding="utf-8")
    broken = broken_links(ROOT)
    for line in broken:
        print(line, file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
