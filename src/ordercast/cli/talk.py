"""`ordercast send` and `tail`: multicast to a group, and read its stream."""

from __future__ import annotations

import base64
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import msgspec

from ordercast.cli.output import plain, remark
from ordercast.cli.reaching import NAME, site_options, socket_of, with_site
from ordercast.client.errors import NotSent, OutcomeUnknown, PositionGone
from ordercast.client.outbox import Receipt
from ordercast.client.site import Site
from ordercast.core.errors import NotFit, WrongUse
from ordercast.core.messages import Level
from ordercast.core.service import EARLIEST, LATEST
from ordercast.core.stream import Blocked, Delivery, Event, Finalized, Resumed, Retracted, Unblocked, ViewChange

LEVELS = [level.name.lower() for level in Level]

LINES_MAX = 500
"""So many lines of the input go into one bundle, if they are there."""


@click.command("send", short_help="Multicast to a group.")
@click.argument("group")
@click.argument("messages", nargs=-1)
@site_options
@click.option("--name", default=NAME, show_default=True, help="The participant's name.")
@click.option(
    "--level", type=click.Choice([level.name.lower() for level in Level]), default="agreed", show_default=True
)
@click.option("--wait", type=click.Choice(["accepted", "ordered", "final"]), default="final", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON object for each message.")
def send(
    group: str,
    messages: tuple[str, ...],
    socket: Path | None,
    cluster_file: Path | None,
    site_name: str | None,
    name: str,
    level: str,
    wait: Any,
    as_json: bool,
) -> None:
    """Multicast to a group: the MESSAGES, or each line of the input if there are none.

    \b
      ordercast send orders "buy 10" "sell 5" --cluster cluster.toml --site lis1
      seq 1000 | ordercast send orders --socket run/lis1.sock
    """

    async def talk(site: Site) -> None:
        async with site.join(group) as joined:
            for bodies in _bodies(messages):
                receipt = await joined.multicast_many(bodies, level=Level[level.upper()], wait=wait)
                _tell(receipt, len(bodies), as_json)

    try:
        with_site(socket_of(socket, cluster_file, site_name), talk, name)
    except NotSent as error:
        raise NotFit(f"not sent: {error}") from error
    except OutcomeUnknown as error:
        raise NotFit(f"it is not known what became of the last messages: {error}") from error


def _bodies(messages: tuple[str, ...]) -> Iterator[list[bytes]]:
    if messages:
        yield [message.encode() for message in messages]
        return
    lines: list[bytes] = []
    for line in sys.stdin.buffer:
        lines.append(line.rstrip(b"\n"))
        if len(lines) == LINES_MAX:
            yield lines
            lines = []
    if lines:
        yield lines


def _tell(receipt: Receipt, count: int, as_json: bool) -> None:
    if as_json:
        click.echo(msgspec.json.encode({"position": receipt.position, "messages": count}).decode())
    elif receipt.position is None:
        click.echo(f"multicast {count} message{'s' if count != 1 else ''}")
    elif count == 1:
        click.echo(f"position {receipt.position:,}")
    else:
        click.echo(f"{count} messages from position {receipt.position:,}")


def _start(context: click.Context, option: click.Parameter, value: str) -> int:
    words = {"earliest": EARLIEST, "latest": LATEST}
    if value in words:
        return words[value]
    if value.isdecimal():
        return int(value)
    raise WrongUse(f"--start: expected a position, earliest or latest, not {value!r}")


@click.command("tail", short_help="Read a group's stream.")
@click.argument("group")
@site_options
@click.option("--start", callback=_start, default="latest", show_default=True, help="A position, earliest or latest.")
@click.option("--final", "final_only", is_flag=True, help="Only what is final: nothing of it is ever taken back.")
@click.option("--limit", type=click.IntRange(1), help="End after so many messages.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line; payloads in base64.")
def tail(
    group: str,
    socket: Path | None,
    cluster_file: Path | None,
    site_name: str | None,
    start: int,
    final_only: bool,
    limit: int | None,
    as_json: bool,
) -> None:
    """Read a group's stream, without being a member: messages and changes in their order, until Ctrl-C."""

    async def read(site: Site) -> None:
        left = limit
        async with site.observe(group, start=start, final_only=final_only) as stream:
            async for event in stream:
                click.echo(_as_json(event) if as_json else _in_words(event))
                if isinstance(event, Delivery) and left is not None:
                    left -= 1
                    if not left:
                        return

    try:
        with_site(socket_of(socket, cluster_file, site_name), read)
    except PositionGone as error:
        remark(str(error))
        click.get_current_context().exit(1)


def _in_words(event: Event) -> str:
    match event:
        case Delivery(position=position, sender=sender, payload=payload, final=final):
            place = "-" if position is None else f"{position}{'' if final else '?'}"
            return f"{place:>10}  {sender}  {payload.decode(errors='backslashreplace')}"
        case ViewChange(view=view, members=members):
            return f"{view:>10}  members: {', '.join(map(str, members)) or 'none'}"
        case Retracted(from_position=position):
            return f"{position:>10}  RETRACTED from here on"
        case Finalized(below=below):
            return f"{below:>10}  final below"
        case Resumed(position=position):
            return f"{position:>10}  resumed"
        case Blocked():
            return f"{'':>10}  BLOCKED: too few sites can be reached"
        case Unblocked():
            return f"{'':>10}  unblocked"


def _as_json(event: Event) -> str:
    kind = type(event).__name__.lower()
    fields = plain(event)
    if isinstance(event, Delivery):
        fields["payload"] = base64.b64encode(event.payload).decode()
        fields["level"] = event.level.name.lower()
    return msgspec.json.encode({"event": kind, **fields}).decode()
