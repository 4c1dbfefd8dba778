"""The driver of an export is killed again and again while the log grows; each position is in the sink once.

The driver is `ordercast export --follow`, killed with the JVM that it has started, in turn: while a batch is being
written; once one is in; once one is planned and not yet written; once several are in. A process beside it appends to
the log with a site's own storage and seals segments. At the end the same command without `--follow` takes the rest.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import click

from ordercast.core.errors import NotFit
from ordercast.pipeline.streaming.sink import CHECKPOINT, DATA, MANIFEST, manifests

LOOK_S = 0.002
PATIENCE_S = 300.0

BODIES = 10
SEGMENT_POSITIONS = 5_000


class Outcome(NamedTuple):
    """What is in the sink."""

    kills: int
    expected: int
    rows: int
    distinct: int
    batches: int
    stray_files: int
    """Data files that no manifest names."""
    wrong_payloads: int

    @property
    def good(self) -> bool:
        return self.rows == self.distinct == self.expected and self.stray_files == self.wrong_payloads == 0


def run(place: Path, kills: int, bundles_per_s: int, tell: Callable[[str], None] = lambda said: None) -> Outcome:
    """Kill so often, let the rest come in, and look."""
    log, out = place / "log", place / "out"
    moments = (_while_written, _once_in, _once_planned, _once_several_are_in)
    with writing(log, bundles_per_s) as writer:
        for number in range(kills):
            moment = moments[number % len(moments)]
            _kill_when(moment(out), [*_export(log, out), "--follow", "--every", "0"], out)
            tell(f"killed {number + 1} of {kills}: {moment.__name__.strip('_').replace('_', ' ')}")
        expected = int(writer.communicate()[0])
    subprocess.run([*_export(log, out), "--json"], check=True, stdout=subprocess.DEVNULL)
    return _outcome(out, kills, expected)


@contextmanager
def writing(log: Path, bundles_per_s: int) -> Iterator[subprocess.Popen[str]]:
    """A process that appends to a log, steadily; it has begun."""
    arguments = [str(log), str(bundles_per_s), str(BODIES), str(SEGMENT_POSITIONS)]
    command = [sys.executable, "-m", "bench.streaming.writer", *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        _wait_for(lambda: (log / "log.sqlite").exists(), process)
        try:
            yield process
        finally:
            process.kill()


def _export(log: Path, out: Path) -> list[str]:
    command = [sys.executable, "-m", "ordercast", "export", str(log), "--out", str(out), "--tasks", "2"]
    return [*command, "--batch", "10000", "--master", "local[2,4]"]


def _kill_when(has_come: Callable[[], bool], command: list[str], out: Path) -> None:
    environment = {**os.environ, "SPARK_LOCAL_DIRS": str(out.parent / "spark")}  # it cannot clean up by itself
    with subprocess.Popen(command, env=environment, start_new_session=True) as driver:
        try:
            _wait_for(has_come, driver)
        finally:
            os.killpg(driver.pid, signal.SIGKILL)


def _wait_for(has_come: Callable[[], bool], process: subprocess.Popen[str] | subprocess.Popen[bytes]) -> None:
    give_up_s = time.monotonic() + PATIENCE_S
    while not has_come():
        if process.poll() is not None or time.monotonic() > give_up_s:
            raise NotFit(f"{process.args!r} has ended, or did not come so far within {PATIENCE_S:g} s")
        time.sleep(LOOK_S)


# --- moments ---


def _while_written(out: Path) -> Callable[[], bool]:
    begun = _begun(out)
    return lambda: _begun(out) > max(begun, _in(out))


def _once_in(out: Path) -> Callable[[], bool]:
    before = _in(out)
    return lambda: _in(out) > before


def _once_planned(out: Path) -> Callable[[], bool]:
    before = _in(out)
    return lambda: _planned(out) > _in(out) > before


def _once_several_are_in(out: Path) -> Callable[[], bool]:
    before = _in(out)
    return lambda: _in(out) > before + 2


def _begun(out: Path) -> int:
    """Batches of which an attempt has begun to write."""
    return len({path.name.partition("-")[0] for path in (out / DATA).glob("*/*-*")})


def _in(out: Path) -> int:
    return sum(1 for _ in (out / MANIFEST).glob("[!.]*.json"))


def _planned(out: Path) -> int:
    return sum(1 for path in (out / CHECKPOINT / "offsets").glob("[!.]*") if path.name.isdecimal())


# --- what is in ---


def _outcome(out: Path, kills: int, expected: int) -> Outcome:
    import pyarrow as pa
    import pyarrow.parquet as parquet

    held = list(manifests(out))
    named = [file.path for manifest in held for file in manifest.files]
    table = pa.concat_tables([parquet.read_table(out / path, columns=["position", "payload"]) for path in named])
    positions = table["position"].to_pylist()
    payloads = zip(positions, table["payload"].to_pylist(), strict=True)
    return Outcome(
        kills,
        expected,
        len(positions),
        len(set(positions)),
        len(held),
        sum(1 for path in (out / DATA).rglob("*.parquet") if str(path.relative_to(out)) not in named),
        sum(1 for position, payload in payloads if int(payload) != position // BODIES),
    )


@click.command("stream-killed")
@click.option("--kills", default=12, show_default=True, type=click.IntRange(1))
@click.option("--rate", default=2000, show_default=True, type=click.IntRange(1), help="Bundles of ten a second.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
def command(ctx: click.Context, kills: int, rate: int, as_json: bool) -> None:
    """The driver of an export killed while the log grows: rows = distinct = expected."""
    with tempfile.TemporaryDirectory() as place:
        outcome = run(Path(place), kills, rate, lambda said: click.echo(said, err=True))
    click.echo(json.dumps(outcome._asdict()) if as_json else f"{'good' if outcome.good else 'BAD'}: {outcome}")
    if not outcome.good:
        ctx.exit(1)
