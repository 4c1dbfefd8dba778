"""A process that writes a log is killed, for real, and the log is opened again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ordercast.site.storage.options import Fsync, LogOptions
from ordercast.site.storage.ordered_log import OrderedLog
from tests.site.storage.entries import messages, read_all

WRITER = """
import sys
from pathlib import Path
from ordercast.site.storage.options import LogOptions
from ordercast.site.storage.ordered_log import OrderedLog
from tests.site.storage.entries import messages

log = OrderedLog.open(Path(sys.argv[1]), LogOptions(fsync=sys.argv[2], segment_positions=50))
log.on_durable(lambda number: print(number, flush=True))
for entry in messages(int(sys.argv[3]), log.end):
    log.append(entry)
    log.finalize(entry.end)
    if entry.end % 20 == 0:
        log.wait(log.written, 60.0)
"""

ENTRIES = 100_000
"""More than it comes to write."""

KILLED_AFTER = (1, 40, 400)
"""Requests that the process has said are durable."""


@pytest.mark.parametrize("fsync", ["always", "interval", "never"])
def test_a_killed_process_has_lost_nothing_that_it_said_was_durable(tmp_path: Path, fsync: Fsync) -> None:
    end = 0
    for after in KILLED_AFTER:
        command = [sys.executable, "-c", WRITER, str(tmp_path), fsync, str(ENTRIES)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            durable = next(number for line in process.stdout if (number := int(line)) >= after)
            process.kill()
            rest = process.stdout.read().rpartition("\n")[0].split()
        durable = max([durable, *map(int, rest)])
        log = OrderedLog.open(tmp_path, LogOptions(fsync=fsync))
        assert log.end >= end + (durable + 1) // 2, "every second request is an entry"
        assert log.final >= end + durable // 2
        end = log.end
        assert [entry.position for entry in read_all(log)] == list(range(end))
        assert [entry.content for entry in log.recovered.entries] == [entry.content for entry in messages(end)]
        log.close()
