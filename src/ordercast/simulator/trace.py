"""What happens in a simulation as trace records on disk."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any

from ordercast.core.effects import Note
from ordercast.core.ids import MessageId, SiteId, incarnation_of, origin_of, seq_of
from ordercast.core.messages import Bundle
from ordercast.core.trace import Kind, TraceRecord
from ordercast.core.views import View
from ordercast.planning.topology import Topology
from ordercast.records.traces import TraceWriter
from ordercast.simulator.observer import Observer


class TraceObserver(Observer):
    """Writes the trace of one run. The file is there once the run has ended, or `close()` was called."""

    def __init__(self, run: str, topology: Topology, directory: Path) -> None:
        self._run = run
        self._writer = TraceWriter(directory, run)
        self._next_index = [0] * len(topology.names)
        self._next_delivery = [0] * len(topology.names)
        self._view: list[int | None] = [None] * len(topology.names)

    @property
    def path(self) -> Path:
        """Where the finished file lies."""
        return self._writer.path

    def on_view(self, at_us: int, site: SiteId, view: View) -> None:
        self._view[site] = view.id
        self._write(at_us, site, Kind.VIEW, members=view.members)

    def on_multicast(self, at_us: int, site: SiteId, bundle: Bundle) -> None:
        for number, body in enumerate(bundle.bodies):
            columns = _identity(MessageId(bundle.id + number))
            self._write(at_us, site, Kind.MULTICAST, level=bundle.level.name.lower(), size=len(body), **columns)

    def on_deliver(self, at_us: int, site: SiteId, bundle: Bundle) -> None:
        """Positions stay null: nothing below the ordering agrees on them with a majority."""
        level = bundle.level.name.lower()
        for number, body in enumerate(bundle.bodies):
            columns = _identity(MessageId(bundle.id + number))
            index = self._next_delivery[site]
            self._next_delivery[site] = index + 1
            self._write(at_us, site, Kind.DELIVER, level=level, size=len(body), delivery_index=index, **columns)

    def on_note(self, at_us: int, site: SiteId, note: Note) -> None:
        columns = {} if note.message is None else _identity(note.message)
        self._write(at_us, site, Kind(note.kind), position=note.position, detail=note.detail, **columns)

    def on_crash(self, at_us: int, site: SiteId) -> None:
        self._write(at_us, site, Kind.CRASH)

    def on_end(self, at_us: int) -> None:
        self.close()

    def _write(self, at_us: int, site: SiteId, kind: Kind, **columns: Any) -> None:
        index = self._next_index[site]
        self._next_index[site] = index + 1
        self._writer.write(
            TraceRecord(
                run=self._run,
                site=site,
                incarnation=0,
                index=index,
                at_us=at_us,
                kind=kind,
                view=self._view[site],
                **columns,
            )
        )

    def close(self) -> None:
        """Write what is left and give the file its name. Closing again does nothing."""
        self._writer.close()

    def __enter__(self) -> TraceObserver:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._writer.__exit__(kind, error, traceback)


def _identity(message: MessageId) -> dict[str, int]:
    """A message's id, packed and in its parts."""
    return {
        "message": message,
        "origin": origin_of(message),
        "origin_incarnation": incarnation_of(message),
        "seq": seq_of(message),
    }
