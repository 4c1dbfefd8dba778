"""`ordercast bench`: what a running group delivers, and after how long, as one participant sees it."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import click
from msgspec import Struct

from ordercast.cli.output import number, print_json
from ordercast.cli.reaching import site_options, socket_of, with_site
from ordercast.client.group import Group
from ordercast.client.site import Site
from ordercast.core.stream import Batch

UNDER_WAY = 8
"""So many bundles without a receipt, when it is to be as fast as it goes."""

BUNDLE_BODIES = 500
BUNDLE_BYTES = 256 << 10


class Figures(Struct):
    """What `--json` prints. Latencies are from the multicast to the delivery here, and to the receipt."""

    messages: int
    seconds: float
    per_second: float
    delivered_ms_p50: float | None
    delivered_ms_p99: float | None
    final_ms_p50: float | None
    final_ms_p99: float | None


class Load:
    """One participant's messages, each known again by its number."""

    def __init__(self, group: Group, size: int) -> None:
        self._group = group
        self._filling = b"." * max(0, size - 8)
        self._sent = 0
        self._sent_s: list[float] = []
        self.delivered_s: list[float] = []
        self.final_s: list[float] = []

    def bodies(self, count: int) -> list[bytes]:
        """The next messages."""
        now_s = time.monotonic()
        made = [(self._sent + index).to_bytes(8, "big") + self._filling for index in range(count)]
        self._sent += count
        self._sent_s.extend([now_s] * count)
        return made

    async def send(self, count: int) -> None:
        """Multicast so many in one bundle, and wait for the receipt."""
        bodies = self.bodies(count)
        began_s = self._sent_s[-1]
        await self._group.multicast_many(bodies)
        self.final_s.extend([time.monotonic() - began_s] * count)

    async def read(self) -> None:
        """What comes back: tentative deliveries count."""
        async for event in self._group.batches():
            if isinstance(event, Batch):
                now_s = time.monotonic()
                for payload in event.payloads:
                    self.delivered_s.append(now_s - self._sent_s[int.from_bytes(payload[:8], "big")])


@click.command(short_help="What a running group delivers, and after how long.")
@site_options
@click.option("--seconds", type=click.FloatRange(0.1), default=5.0, show_default=True)
@click.option("--rate", type=click.FloatRange(0, min_open=True), help="Messages per second; else as fast as it goes.")
@click.option("--size", type=click.IntRange(8, 8 << 20), default=64, show_default=True, help="Bytes of a message.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def command(
    socket: Path | None,
    cluster_file: Path | None,
    site_name: str | None,
    seconds: float,
    rate: float | None,
    size: int,
    as_json: bool,
) -> None:
    """What a running group delivers, and after how long, as one participant of one site sees it.

    It multicasts to a group of its own, so other participants are not troubled by what it sends, though by how much.

    \b
      ordercast bench --socket run/lis1.sock                as fast as it goes
      ordercast bench --socket run/lis1.sock --rate 200     the latency of single messages
    """

    async def run(site: Site) -> Figures:
        async with site.join(f"bench-{time.time_ns():x}") as group:
            load = Load(group, size)
            reader = asyncio.create_task(load.read())
            began_s = time.monotonic()
            await (_paced(load, rate, seconds) if rate else _flat_out(load, size, seconds))
            took_s = time.monotonic() - began_s
            reader.cancel()
            return _figures(load, took_s)

    figures = with_site(socket_of(socket, cluster_file, site_name), run)
    if as_json:
        print_json(figures)
    else:
        _print(figures)


async def _flat_out(load: Load, size: int, seconds: float) -> None:
    count = max(1, min(BUNDLE_BODIES, BUNDLE_BYTES // size))
    until_s = time.monotonic() + seconds

    async def keep_sending() -> None:
        while time.monotonic() < until_s:
            await load.send(count)

    await asyncio.gather(*(keep_sending() for _ in range(UNDER_WAY)))


async def _paced(load: Load, rate: float, seconds: float) -> None:
    begin_s = time.monotonic()
    sending: list[asyncio.Task[None]] = []
    for index in range(round(rate * seconds)):
        await _until(begin_s + index / rate)
        sending.append(asyncio.create_task(load.send(1)))
    await asyncio.gather(*sending)


async def _until(due_s: float) -> None:
    delay_s = due_s - time.monotonic()
    if delay_s > 0:
        await asyncio.sleep(delay_s)


def _figures(load: Load, took_s: float) -> Figures:
    count = len(load.final_s)
    delivered, final = sorted(load.delivered_s), sorted(load.final_s)
    return Figures(
        count,
        took_s,
        count / took_s,
        _part(delivered, 0.5),
        _part(delivered, 0.99),
        _part(final, 0.5),
        _part(final, 0.99),
    )


def _part(sorted_s: list[float], part: float) -> float | None:
    return sorted_s[int(len(sorted_s) * part)] * 1000 if sorted_s else None


def _print(figures: Figures) -> None:
    click.echo(f"{figures.messages:,} messages in {figures.seconds:.1f} s: {figures.per_second:,.0f} per second")
    delivered = f"p50 {number(figures.delivered_ms_p50, 2)} ms, p99 {number(figures.delivered_ms_p99, 2)} ms"
    final = f"p50 {number(figures.final_ms_p50, 2)} ms, p99 {number(figures.final_ms_p99, 2)} ms"
    click.echo(f"delivered here after {delivered}; final after {final}")
