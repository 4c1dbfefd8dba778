"""A site's ordered log on disk, as its host, its gateway and its recovery use it."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import msgspec

from ordercast.core.entries import Entry
from ordercast.core.errors import NotFit
from ordercast.core.events import Now
from ordercast.records.log_database import FILE, SEGMENTS, in_one_line
from ordercast.records.log_reader import Chunk, Reader
from ordercast.site.storage.files import lock, make_directory, sync_directory
from ordercast.site.storage.keeper import Keeper
from ordercast.site.storage.options import LogOptions
from ordercast.site.storage.recovery import RecoveredLog, recover
from ordercast.site.storage.requests import Append, Asked, Finalize, RestartAt, Save, Truncate
from ordercast.site.storage.store import Store
from ordercast.site.storage.writer import LogState, Writer

READ_BYTES = 1 << 20

_encode = msgspec.msgpack.Encoder().encode


def machine_now() -> Now:
    """The machine's clocks; how wrong the wall clock is does not matter here."""
    return Now(time.monotonic_ns() // 1000, time.time_ns() // 1000, 0)


class OrderedLog:
    """One writer thread; who appends never waits for the disk. `append` to `restart_at` are for one thread only."""

    def __init__(self, directory: Path, options: LogOptions, now: Callable[[], Now]) -> None:
        """Without threads: whoever makes it so calls `turn`. `open` is for everybody else."""
        self.directory = directory
        self._now = now
        self._options = options
        with ExitStack() as stack:
            make_directory(directory / SEGMENTS)
            stack.callback(os.close, lock(directory))
            store = Store(directory)
            stack.callback(store.close)
            with in_one_line(directory / FILE):
                self._reader, keepers = Reader(directory), Reader(directory)
                stack.callback(self._reader.close)
                stack.callback(keepers.close)
                sync_directory(directory)
                self.recovered: RecoveredLog = recover(directory, store, self._reader)
            self._held = stack.pop_all()
        self._writer = Writer(store, options, now)
        self._keeper = Keeper(directory, keepers, self._writer, options, now)
        self._keeper.on_dropped = self._reader.forget
        self._threads: list[threading.Thread] = []
        self._next = store.standing.end
        """Where the next entry goes, once all that is asked for is done."""

    @classmethod
    def open(
        cls, directory: Path, options: LogOptions | None = None, *, now: Callable[[], Now] = machine_now
    ) -> OrderedLog:
        """Recover what is there and begin a new life. Raises `NotFit`, with one line that says what to do."""
        log = cls(directory, options or LogOptions(), now)
        log._threads = [
            threading.Thread(target=log._writer.run, name="log-writer", daemon=True),
            threading.Thread(target=log._keeper.run, name="log-keeper", daemon=True),
        ]
        for thread in log._threads:
            thread.start()
        return log

    # --- to be written, in order ---

    def append(self, entry: Entry) -> None:
        """Write an entry at the end of the log."""
        assert entry.position == self._next < entry.end, f"the log goes on at {self._next}, not at {entry.position}"
        self._next = entry.end
        self._ask(Append(entry.position, entry.end, self._now().wall_us, _encode(entry)))

    def truncate(self, position: int) -> None:
        """What the log holds from this position on is void."""
        self._next = min(self._next, position)
        self._ask(Truncate(position))

    def finalize(self, below: int) -> None:
        """Positions below this one are final."""
        self._ask(Finalize(below))

    def save(self, key: str, value: bytes, *, binding: bool = True) -> None:
        """Write a value: a binding one is synced whatever the policy, others are as durable as entries."""
        self._ask(Save(key, value, binding))

    def restart_at(self, position: int) -> None:
        """The log goes on at this position, with somebody else's state before it: what is missing is a hole.

        It counts once the site group has saved that it begins there; a life that ends before undoes it.
        """
        self._next = position
        self._ask(RestartAt(position))

    def _ask(self, request: Asked) -> None:
        self._writer.written += 1
        self._writer.ask(request)

    # --- how far it is ---

    @property
    def written(self) -> int:
        """The number of the newest write asked for."""
        return self._writer.written

    @property
    def durable(self) -> int:
        """Everything up to this number is on disk as the fsync policy promises."""
        return self._writer.durable

    @property
    def synced(self) -> int:
        """Everything up to this number has been forced to the disk, whatever the policy."""
        return self._writer.synced

    @property
    def appends_must_be_durable(self) -> bool:
        """Whether others may rely on an entry only once it is on disk (fsync policy `always`)."""
        return self._options.fsync == "always"

    @property
    def state(self) -> LogState:
        """Whether the log takes what it is given; `reason` says in one line why not."""
        return self._writer.state

    @property
    def reason(self) -> str:
        return self._writer.reason

    @property
    def keeping_trouble(self) -> str:
        """Why segments cannot be sealed or dropped at the moment; empty if they can. The tail grows meanwhile."""
        return self._keeper.trouble

    def on_durable(self, callback: Callable[[int], None]) -> None:
        """Call back, from the writer's thread, whenever more is durable."""
        self._writer.on_durable.append(callback)

    def on_state(self, callback: Callable[[LogState, str], None]) -> None:
        """Call back, from the writer's thread, when the state changes, with the reason."""
        self._writer.on_state.append(callback)

    def wait(self, number: int, timeout_s: float) -> bool:
        """Block until everything up to a number is durable. Raises `NotFit` once it cannot become so."""
        writer = self._writer
        with writer.changed:
            writer.changed.wait_for(lambda: writer.durable >= number or writer.state is LogState.FAILED, timeout_s)
        if writer.durable < number and writer.state is LogState.FAILED:
            raise NotFit(writer.reason)
        return writer.durable >= number

    # --- reading ---

    @property
    def end(self) -> int:
        """The position after the last entry that can be read."""
        return self._writer.standing.end

    @property
    def final(self) -> int:
        """Everything that can be read below this position is the same at every site, for ever."""
        return self._writer.standing.final

    @property
    def earliest(self) -> int:
        """The first position that is kept. Looks it up on the disk."""
        return self._reader.bounds()[0]

    def read(self, start: int, stop: int, *, limit_bytes: int = READ_BYTES) -> Chunk:
        """Consecutive entries below `stop` from the one that holds `start` on; none at the end of the log.

        Go on at the chunk's end. Blocks on the disk; any thread may read. Raises `Retained` for what is kept no longer,
        `Hole` for what never was in this log, `BadSegment` for a file that cannot be read.
        """
        return self._reader.read(start, stop, limit_bytes)

    def digest_at(self, position: int) -> int | None:
        """The order digest of everything below a position where an entry ends; None if that is not kept."""
        return self._reader.digest_at(position)

    # --- the end ---

    def turn(self) -> None:
        """Without threads: do what has been asked for, and what is to be done beside it."""
        self._writer.turn()
        self._keeper.turn()

    def close(self) -> None:
        """Write what has been asked for, unless the disk is full, and let go of the files."""
        self._keeper.stop()
        self._writer.stop()
        for thread in self._threads:
            thread.join()
        if not self._threads:
            self._writer.run()
        self._held.close()
