"""How fast the switch of `tools.wan` is, and how much longer than asked a packet takes through it.

Two sites 5 ms apart; one sends packets of 100 bytes to the other. Added is what a packet took beyond the 5 ms, from
just before it was sent until the kernel had it at the other end. Each case has so many processes beside it that only
compute, at ordinary priority. Streams are one TCP connection, and count what the reader has got.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

import click
from tools.wan.emulation import Wan

from ordercast.core.errors import NotFit
from ordercast.planning.topology import Delays, Topology, from_delays

DELAY_MS = 5.0
PORT = 7100
TABLE_WIDTH = 110
STREAM_WRITE_BYTES = 16_384
BUSY = "while True: pass"


class Effort(NamedTuple):
    """How much is measured."""

    rates: tuple[float, ...]
    """Packets per second; 0 is as many as the sender can."""
    duration_s: float
    busy: tuple[int, ...]
    """Numbers of processes beside it that only compute."""
    stream_delays_ms: tuple[float, ...]


NORMAL = Effort((100, 1_000, 10_000, 0), 2.0, (0, 1, 2), (0.0, 20.0))
SMOKE = Effort((200,), 0.2, (0,), (0.0,))


class Packets(NamedTuple):
    """Of one case."""

    realtime: bool
    busy: int
    rate: float
    sent_per_s: float
    received_per_s: float
    lost: int
    added_us_p50: float
    added_us_p99: float
    added_us_max: float
    processor: float
    """Of the switch, as a part of one core."""


class Stream(NamedTuple):
    """Of one case."""

    mtu: int
    offload: bool
    delay_ms: float
    megabytes_per_s: float
    frames_per_megabyte: float
    processor_us_per_megabyte: float


def topology(delay_ms: float) -> Topology:
    """Two sites."""
    return from_delays(Delays(sites=["A", "B"], one_way_ms=[[0, delay_ms], [delay_ms, 0]]))


@contextmanager
def busy_processes(count: int) -> Iterator[None]:
    """So many processes that only compute."""
    with ExitStack() as stack:
        for _ in range(count):
            process = subprocess.Popen([sys.executable, "-c", BUSY])
            stack.callback(process.wait)
            stack.callback(process.kill)
        yield


def _python(module: str, *arguments: str) -> list[str]:
    return [sys.executable, "-m", module, *arguments]


def _quantile(values: Sequence[float], part: float) -> float:
    return values[min(len(values) - 1, int(len(values) * part))]


def measure_packets(rate: float, busy: int, duration_s: float, *, realtime: bool) -> Packets:
    """One case."""
    with Wan(topology(DELAY_MS), realtime=realtime) as wan, busy_processes(busy):
        there = (wan.address("B"), str(PORT))
        receiver = wan.exec("B", _python("bench.wan_traffic", "receive", *there), stdout=subprocess.PIPE, text=True)
        assert receiver.stdout is not None
        receiver.stdout.readline()
        before_s = wan.processor_s()
        wan.exec("A", _python("bench.wan_traffic", "send", *there, str(rate), str(duration_s))).wait()
        processor_s = wan.processor_s() - before_s
        result = json.loads(receiver.communicate()[0])
    added_us = sorted(took_us - DELAY_MS * 1e3 for took_us in result["took_us"])
    return Packets(
        realtime,
        busy,
        rate,
        result["sent"] / duration_s,
        len(added_us) / duration_s,
        result["sent"] - len(added_us),
        _quantile(added_us, 0.5),
        _quantile(added_us, 0.99),
        added_us[-1],
        processor_s / duration_s,
    )


SEND_STREAM = """
import socket, sys, time
stream = socket.create_connection((sys.argv[1], int(sys.argv[2])))
end_s = time.monotonic() + float(sys.argv[3])
while time.monotonic() < end_s:
    stream.sendall(bytes(int(sys.argv[4])))
"""

RECEIVE_STREAM = """
import socket, sys, time
listener = socket.create_server((sys.argv[1], int(sys.argv[2])))
print("ready", flush=True)
stream, _ = listener.accept()
begin_s, count, buffer = time.monotonic(), 0, bytearray(1 << 20)
while received := stream.recv_into(buffer):
    count += received
print(count, time.monotonic() - begin_s, flush=True)
"""


def measure_stream(mtu: int, delay_ms: float, duration_s: float, *, offload: bool) -> Stream:
    """One case."""
    with Wan(topology(delay_ms), mtu=mtu, offload=offload) as wan:
        there = [wan.address("B"), str(PORT)]
        receiver = wan.exec("B", [sys.executable, "-c", RECEIVE_STREAM, *there], stdout=subprocess.PIPE, text=True)
        assert receiver.stdout is not None
        receiver.stdout.readline()
        before_s = wan.processor_s()
        arguments = [*there, str(duration_s), str(STREAM_WRITE_BYTES)]
        wan.exec("A", [sys.executable, "-c", SEND_STREAM, *arguments]).wait()
        count, took_s = map(float, receiver.communicate()[0].split())
        processor_s = wan.processor_s() - before_s
        frames = sum(pair.carried for pair in wan.status().pairs)
    megabytes = count / 1e6
    return Stream(mtu, offload, delay_ms, megabytes / took_s, frames / megabytes, processor_s * 1e6 / megabytes)


def all_packets(effort: Effort) -> list[Packets]:
    """Every rate beside every load, and the heaviest load once more without real-time priority."""
    cases = [(busy, True) for busy in effort.busy] + [(effort.busy[-1], False)]
    return [
        measure_packets(rate, busy, effort.duration_s, realtime=realtime)
        for busy, realtime in cases
        for rate in effort.rates
    ]


def all_streams(effort: Effort) -> list[Stream]:
    """Small and large packets, with and without offload."""
    return [
        measure_stream(mtu, delay_ms, effort.duration_s, offload=offload)
        for delay_ms in effort.stream_delays_ms
        for mtu, offload in ((1500, False), (1500, True), (9000, False), (9000, True), (65_000, False), (65_000, True))
    ]


@click.command("wan")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
@click.option("--smoke", is_flag=True, help="The least that runs everything once; the figures mean nothing.")
def command(as_json: bool, smoke: bool) -> None:
    """Packets per second through tools/wan, and the delay that it adds."""
    effort = SMOKE if smoke else NORMAL
    begin_s = time.monotonic()
    try:
        packets, streams = all_packets(effort), all_streams(effort)
    except NotFit as error:
        click.echo(str(error), err=True)
        sys.exit(3)
    if as_json:
        value = {"packets": [each._asdict() for each in packets], "streams": [each._asdict() for each in streams]}
        click.echo(json.dumps(value, indent=2))
    else:
        _print_tables(packets, streams)
        click.echo(f"measured in {time.monotonic() - begin_s:.0f} s", err=True)


def _print_tables(packets: list[Packets], streams: list[Stream]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False, width=TABLE_WIDTH)
    title = f"Packets of 100 bytes, {DELAY_MS:g} ms one way; what each took beyond that, µs"
    table = Table("priority", title=title, title_justify="left", box=SIMPLE_HEAD)
    for heading in ("busy", "asked/s", "sent/s", "received/s", "lost", "p50", "p99", "max", "switch, cores"):
        table.add_column(heading, justify="right")
    for case in packets:
        asked = f"{case.rate:,.0f}" if case.rate else "all it can"
        rates = (f"{case.sent_per_s:,.0f}", f"{case.received_per_s:,.0f}", f"{case.lost:,}")
        added = tuple(f"{value:,.0f}" for value in (case.added_us_p50, case.added_us_p99, case.added_us_max))
        priority = "real-time" if case.realtime else "ordinary"
        table.add_row(priority, str(case.busy), asked, *rates, *added, f"{case.processor:.2f}")
    console.print(table)
    title = f"One TCP stream, written {STREAM_WRITE_BYTES} bytes at a time"
    table = Table("mtu", title=title, title_justify="left", box=SIMPLE_HEAD)
    for heading in ("offload", "one way, ms", "MB/s", "frames/MB", "switch, µs/MB"):
        table.add_column(heading, justify="right")
    for each in streams:
        figures = (each.megabytes_per_s, each.frames_per_megabyte, each.processor_us_per_megabyte)
        cells = tuple(f"{value:,.0f}" for value in figures)
        table.add_row(str(each.mtu), "on" if each.offload else "off", f"{each.delay_ms:g}", *cells)
    console.print(table)
