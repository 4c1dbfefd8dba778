"""The one writer: takes what is asked for off a queue, commits much of it at once, and says what is durable."""

from __future__ import annotations

import enum
import sqlite3
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue

from ordercast.core.events import Now
from ordercast.records.log_database import CHECKPOINT_BYTES, PAGE_BYTES, is_refused
from ordercast.site.storage.options import LogOptions
from ordercast.site.storage.requests import Append, Drop, Request, Save, Seal
from ordercast.site.storage.store import Standing, Store

BATCH_BYTES = 4 << 20
"""No more than about so much goes into one transaction."""

GATHER_S = 0.005
GATHER_REQUESTS_MAX = 32
"""Under policies that promise nothing at once, what comes so soon after each other is one transaction, up to so many:
each transaction costs as much as a dozen entries, and takes turns with the site's loop at the interpreter."""

IDLE_S = 3600.0


class LogState(enum.StrEnum):
    """Whether the log takes what it is given."""

    ACCEPTING = "accepting"
    FULL = "full"
    """The disk takes no more. What was asked for waits, and is tried again."""
    FAILED = "failed"
    """Nothing more becomes durable. The site has to stop; its next life finds what is durable."""


class Writer:
    """Runs in a thread of its own, or turn by turn."""

    def __init__(self, store: Store, options: LogOptions, now: Callable[[], Now]) -> None:
        self.written = 0
        """The number of the newest request."""
        self.durable = 0
        """Everything up to this number is on disk as the policy promises."""
        self.synced = 0
        """Everything up to this number has been forced to the disk."""
        self.state = LogState.ACCEPTING
        self.reason = ""
        self.on_durable: list[Callable[[int], None]] = []
        self.on_state: list[Callable[[LogState, str], None]] = []
        self.on_kept: Callable[[Seal | Drop], None] = lambda request: None
        self.changed = threading.Condition()
        self._store = store
        self._options = options
        self._now = now
        self._queue: SimpleQueue[Request | None] = SimpleQueue()
        self._batch: list[Request] = []
        self._closing = False
        self._hurry = threading.Event()
        """Somebody waits for what is on the queue."""
        self._synced_us = now().monotonic_us
        self._unchecked_bytes = 0

    # --- for others ---

    @property
    def standing(self) -> Standing:
        """Where the log stands, as far as it is committed."""
        return self._store.standing

    def ask(self, request: Request) -> None:
        """Put it on the queue."""
        if self.state is not LogState.FAILED:
            self._queue.put(request)
            if _must_sync(request):
                self._hurry.set()

    def stop(self) -> None:
        """Do what is on the queue, if it can be done, and end."""
        with self.changed:
            self._closing = True
            self.changed.notify_all()
        self._queue.put(None)
        self._hurry.set()

    # --- the thread ---

    def run(self) -> None:
        """Until `stop`, or until nothing can be written any more."""
        try:
            while not self._is_done():
                self.turn(self._wait_s())
                if self.state is LogState.FULL:
                    self._rest()
        except BaseException as error:
            self._enter(LogState.FAILED, f"{self._store.path}: the writer has stopped ({error!r})")
            raise

    def _is_done(self) -> bool:
        if self.state is LogState.FAILED:
            return True
        return self._closing and (self.state is LogState.FULL or (not self._batch and self._queue.empty()))

    def turn(self, wait_s: float = 0.0) -> None:
        """Wait for something to do, and do it."""
        if not self._batch:
            self._batch = self._take(wait_s)
        try:
            if self._batch:
                self._commit()
            elif self._sync_due():
                self._store.sync()
                self._after_sync(self.durable)
        except sqlite3.Error as error:
            self._on_error(error)
        if self._unchecked_bytes >= CHECKPOINT_BYTES:
            self._checkpoint()

    def _take(self, wait_s: float) -> list[Request]:
        """What is on the queue, up to the size of a batch."""
        batch: list[Request] = []
        size = 0
        try:
            request = self._queue.get(timeout=wait_s) if wait_s > 0 else self._queue.get_nowait()
            if wait_s > 0:
                self._gather()
            while True:
                if request is None:
                    break
                batch.append(request)
                if type(request) is Append:
                    size += len(request.data)
                    if size >= BATCH_BYTES:
                        break
                request = self._queue.get_nowait()
        except Empty:
            pass
        return batch

    def _gather(self) -> None:
        """Let more come, unless there is enough, or somebody waits."""
        if self._options.fsync != "always" and self._queue.qsize() < GATHER_REQUESTS_MAX:
            self._hurry.wait(min(GATHER_S, self._wait_s()))
            self._hurry.clear()

    def _commit(self) -> None:
        batch = self._batch
        sync = self._sync_due() or self._options.fsync == "always" or any(map(_must_sync, batch))
        self._store.commit(batch, sync)
        self._batch = []
        self._unchecked_bytes += PAGE_BYTES + sum(len(each.data) for each in batch if type(each) is Append)
        durable = self.durable + sum(1 for each in batch if type(each) not in (Seal, Drop))
        if sync:
            self._after_sync(durable)
        self._enter(LogState.ACCEPTING, "")
        self._tell(durable)
        for each in batch:
            if isinstance(each, Seal | Drop):
                self.on_kept(each)

    def _checkpoint(self) -> None:
        """What is in the write-ahead log is safe there: if the file cannot take it now, it will later."""
        self._unchecked_bytes = 0
        try:
            self._store.checkpoint()
        except sqlite3.Error as error:
            if not is_refused(error):
                self._on_error(error)

    def _tell(self, durable: int) -> None:
        with self.changed:
            self.durable = durable
            self.changed.notify_all()
        for callback in self.on_durable:
            callback(durable)

    # --- when to sync ---

    def _sync_due(self) -> bool:
        return self._sync_wait_s() <= 0

    def _sync_wait_s(self) -> float:
        """How long until what is committed must be synced."""
        if self._options.fsync != "interval" or (self.synced == self.durable and not self._batch):
            return IDLE_S
        passed_us = self._now().monotonic_us - self._synced_us
        return self._options.interval_ms / 1e3 - passed_us / 1e6

    def _after_sync(self, durable: int) -> None:
        self.synced = durable
        self._synced_us = self._now().monotonic_us

    def _wait_s(self) -> float:
        return max(0.0, self._sync_wait_s())

    # --- errors ---

    def _on_error(self, error: sqlite3.Error) -> None:
        """Nothing of the batch has been written."""
        path = self._store.path
        if is_refused(error):
            self._enter(LogState.FULL, f"{path}: the disk takes no more ({error}); free some space")
        else:
            self._enter(
                LogState.FAILED, f"{path}: cannot be written ({error}); check the disk, then start the site again"
            )

    def _enter(self, state: LogState, reason: str) -> None:
        if state is self.state:
            return
        with self.changed:
            self.state, self.reason = state, reason
            self.changed.notify_all()
        for callback in self.on_state:
            callback(state, reason)

    def _rest(self) -> None:
        """Before a full disk is tried again."""
        with self.changed:
            self.changed.wait_for(lambda: self._closing, self._options.retry_ms / 1e3)


def _must_sync(request: Request) -> bool:
    """Whatever the policy."""
    return type(request) is Drop or (type(request) is Save and request.binding)
