"""A process that writes an ordered log with a site's own storage, at a steady pace, until its input is closed.

    python -m bench.streaming.writer DIR BUNDLES_PER_S BODIES SEGMENT_POSITIONS

It prints the number of positions once all of them are final and durable.
"""

from __future__ import annotations

import sys
import threading
import time
from itertools import count
from pathlib import Path

from bench.log import Load
from ordercast.site.storage.options import LogOptions
from ordercast.site.storage.ordered_log import OrderedLog

BODY_BYTES = 64


def write(log: OrderedLog, gap_s: float, bodies: int, until: threading.Event) -> int:
    """Bundles, one after the other, each of them final as it is there."""
    load, next_s = Load(bodies, BODY_BYTES), time.monotonic()
    for index in count():
        if until.is_set():
            break
        entry = load.entry(index)
        log.append(entry)
        log.finalize(entry.end)
        next_s += gap_s
        time.sleep(max(0.0, next_s - time.monotonic()))
    assert log.wait(log.written, 60.0)
    return log.end


def main() -> None:
    """As said above."""
    directory, bundles_per_s, bodies, segment_positions = sys.argv[1:]
    log = OrderedLog.open(Path(directory), LogOptions(fsync="interval", segment_positions=int(segment_positions)))
    closed = threading.Event()

    def wait() -> None:
        sys.stdin.read()
        closed.set()

    threading.Thread(target=wait, daemon=True).start()
    print(write(log, 1 / float(bundles_per_s), int(bodies), closed), flush=True)
    log.close()


if __name__ == "__main__":
    main()
