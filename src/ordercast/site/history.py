"""Old entries for members that come back, read from this site's log in a thread: the disk may be slow."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from ordercast.core.deliveries import History, HistoryWanted
from ordercast.core.errors import NotFit
from ordercast.core.events import Event, FromAbove
from ordercast.records.log_errors import Hole, Retained
from ordercast.site.storage.ordered_log import OrderedLog

PORTION_BYTES = 1 << 20
"""So much goes to a member at a time; it asks again for the rest."""


class Historian:
    """Answers what the stack asks of the log."""

    def __init__(self, log: OrderedLog, handle: Callable[[Event], None], warn: Callable[[str], None]) -> None:
        """`handle` takes the answers; `warn` is told why something cannot be read."""
        self._log = log
        self._handle = handle
        self._warn = warn
        self._reading: set[asyncio.Task[None]] = set()

    def answer(self, wanted: HistoryWanted) -> None:
        """Read, and tell the stack; with no entries if they are kept no longer."""
        task = asyncio.get_running_loop().create_task(self._answer(wanted))
        self._reading.add(task)
        task.add_done_callback(self._reading.discard)

    async def _answer(self, wanted: HistoryWanted) -> None:
        try:
            history = await asyncio.to_thread(self._read, wanted)
        except (Retained, Hole):
            history = History(wanted.asker, wanted.start)
        except NotFit as error:
            self._warn(str(error))
            history = History(wanted.asker, wanted.start)
        self._handle(FromAbove(history))

    def _read(self, wanted: HistoryWanted) -> History:
        log, start = self._log, wanted.start
        before = log.digest_at(start) if start else 0
        if before is None:
            return History(wanted.asker, start)
        chunk = log.read(start, log.end, limit_bytes=PORTION_BYTES)
        return History(wanted.asker, start, chunk.entries, before)

    async def close(self) -> None:
        """Nothing is read any more."""
        for task in self._reading:
            task.cancel()
        await asyncio.gather(*self._reading, return_exceptions=True)
