"""What a site tells its host, as trace records: the same for every host.

A host makes a recorder for each life of a site. Bundles are one call each, whatever they hold, so that tracing stays
cheap where many messages travel together.
"""

from __future__ import annotations

from typing import Any

from ordercast.core.deliveries import (
    Delivered,
    Delivery,
    Entered,
    Finalized,
    GroupBlocked,
    GroupLeft,
    Logged,
    Retracted,
    RoleChanged,
    Snapshot,
    ViewChanged,
)
from ordercast.core.effects import Note
from ordercast.core.ids import SEQ_BITS, MessageId, SiteId, incarnation_of, origin_of, seq_of
from ordercast.core.messages import Bundle, Level
from ordercast.core.trace import CONTINUES, JOINS, Kind, TraceRecord, TraceSink
from ordercast.core.views import View

LEVEL_NAMES = tuple(level.name.lower() for level in Level)
_KINDS = {str(kind): kind for kind in Kind}


class Recorder:
    """The records of one life of one site. Call it in the order in which things happen; times are the host's."""

    def __init__(self, run: str, site: SiteId, incarnation: int, sink: TraceSink, resilience: int = 0) -> None:
        self._life: dict[str, Any] = {"run": run, "site": site, "incarnation": incarnation}
        self.sink = sink
        """Where records go; another may take over."""
        self._resilience = resilience
        self._index = 0
        self._delivery_index = 0
        self._installed: int | None = None
        self._order_view: int | None = None
        """The newest view that has come up in the order."""
        self._newest: dict[int, int] = {}
        """By origin and life: the newest fifo or causal message delivered since this site's last causal multicast."""

    # --- on every stack ---

    def on_multicast(self, at_us: int, bundle: Bundle) -> None:
        """A participant of the site multicasts."""
        depends = None
        if bundle.level != Level.FIFO and self._newest:
            depends = tuple(self._newest.values())
            if bundle.level == Level.CAUSAL:
                self._newest.clear()
        self._write_bundle(at_us, Kind.MULTICAST, bundle, view=self._installed, depends=depends)

    def on_note(self, at_us: int, note: Note) -> None:
        """A protocol has left a note; those that are no kind of record are for the host alone."""
        kind = _KINDS.get(note.kind)
        if kind is not None:
            columns = {} if note.message is None else _identity(note.message)
            self._write(at_us, kind, view=self._installed, position=note.position, detail=note.detail, **columns)

    def on_recover(self, at_us: int, position: int) -> None:
        """A life begins that follows another; deliveries go on at a position, below which everything is final."""
        self._order_view = None
        self._write(at_us, Kind.RECOVER, view=self._installed, position=position)

    def on_resume(self, at_us: int) -> None:
        """Recording begins, or goes on, in the midst of a life: what has happened until now is not in the trace."""
        self._installed = self._order_view = None
        self._newest.clear()
        self._write(at_us, Kind.RECOVER)

    def on_crash(self, at_us: int) -> None:
        """The life is over, which only a simulation can tell."""
        self._write(at_us, Kind.CRASH, view=self._installed)

    def on_end(self, at_us: int, settled: bool) -> None:
        """The recording ends in good order; `settled` says that nothing is under way any more."""
        self._write(at_us, Kind.END, view=self._installed, final=settled)

    # --- on the ideal stack ---

    def on_view(self, at_us: int, view: View) -> None:
        """The one view begins."""
        self._installed = self._order_view = view.id
        self._write(at_us, Kind.VIEW, view=view.id, members=view.members)

    def on_deliver(self, at_us: int, bundle: Bundle) -> None:
        """A bundle comes up in the order. Positions stay null: nobody agrees on them with a majority."""
        self._write_counted(at_us, bundle, view=self._order_view)

    # --- on the full stack ---

    def on_group(self, at_us: int, event: Delivery) -> None:
        """What the site group tells its host."""
        match event:
            case Delivered():
                self._on_delivered(at_us, event)
            case Logged(entry=entry):
                if isinstance(entry.content, Bundle) and entry.content.level == Level.SAFE:
                    view = self._installed
                    self._write_bundle(at_us, Kind.ORDER, entry.content, view=view, position=entry.position)
            case Finalized(below=below):
                self._write(at_us, Kind.FINALIZE, view=self._installed, position=below)
            case Retracted(from_position=position):
                self._order_view = None
                self._write(at_us, Kind.RETRACT, view=self._installed, position=position)
            case Entered(view=view, continuing=continuing):
                self._on_entered(at_us, view, continuing)
            case ViewChanged(view=view, position=position):
                self._order_view = view.id
                self._write_control(at_us, Kind.VIEW, position, members=view.members)
            case RoleChanged(change=change, position=position):
                detail = "active" if change.active else "passive"
                self._write_control(at_us, Kind.ROLE, position, origin=change.site, detail=detail)
            case Snapshot(position=position):
                self.on_recover(at_us, position)
            case GroupBlocked():
                self._write(at_us, Kind.BLOCK, view=self._installed)
            case GroupLeft():
                self._write(at_us, Kind.LEAVE, view=self._installed)
            case _:
                pass  # for the host's log, or a question to it

    def _on_delivered(self, at_us: int, event: Delivered) -> None:
        bundle, position = event.bundle, event.position
        if position is None:
            id = bundle.id
            self._newest[id >> SEQ_BITS] = id + len(bundle.bodies) - 1
            self._write_bundle(at_us, Kind.DELIVER, bundle, view=self._installed, final=event.final)
        elif not bundle.void:
            self._write_counted(at_us, bundle, view=self._order_view, position=position, final=event.final)
        else:
            self._write_around_void(at_us, bundle, position, event.final)

    def _write_around_void(self, at_us: int, bundle: Bundle, position: int, final: bool) -> None:
        """Bodies that came up before keep their positions, and are not delivered."""
        for number, body in enumerate(bundle.bodies):
            kind = Kind.ORDER if number in bundle.void else Kind.DELIVER
            one = Bundle(MessageId(bundle.id + number), (body,), bundle.level, author=bundle.author)
            self._write_counted(at_us, one, kind, view=self._order_view, position=position + number, final=final)

    def _on_entered(self, at_us: int, view: View, continuing: bool) -> None:
        self._installed = view.id
        count = len(view.members)
        safe = min(count, max(self._resilience + 1, count // 2 + 1))
        how = CONTINUES if continuing else JOINS
        self._write(at_us, Kind.VIEW, view=view.id, members=view.members, size=safe, detail=how)

    # --- records ---

    def _write_control(self, at_us: int, kind: Kind, position: int, **columns: Any) -> None:
        """A control entry comes up at its position."""
        delivery_index, view = self._delivery_index, self._order_view
        self._delivery_index += 1
        self._write(at_us, kind, view=view, position=position, delivery_index=delivery_index, **columns)

    def _write(self, at_us: int, kind: Kind, **columns: Any) -> None:
        index = self._index
        self._index = index + 1
        self.sink.write(TraceRecord(index=index, at_us=at_us, kind=kind, **self._life, **columns))

    def _write_counted(self, at_us: int, bundle: Bundle, kind: Kind = Kind.DELIVER, **columns: Any) -> None:
        """A bundle comes up in the order."""
        delivery_index = self._delivery_index
        self._delivery_index += len(bundle.bodies)
        self._write_bundle(at_us, kind, bundle, delivery_index=delivery_index, **columns)

    def _write_bundle(self, at_us: int, kind: Kind, bundle: Bundle, **columns: Any) -> None:
        """One record for each message; the first is made here, and the sink counts on from it."""
        index, bodies, author = self._index, bundle.bodies, bundle.author
        self._index = index + len(bodies)
        first = TraceRecord(
            index=index,
            at_us=at_us,
            kind=kind,
            group=None if author is None else author.group,
            level=LEVEL_NAMES[bundle.level],
            size=len(bodies[0]),
            **_identity(bundle.id),
            **self._life,
            **columns,
        )
        if len(bodies) == 1:
            self.sink.write(first)
        else:
            self.sink.write_bundle(first, [len(body) for body in bodies])


def _identity(message: MessageId) -> dict[str, Any]:
    """A message's id, packed and in its parts."""
    return {
        "message": message,
        "origin": origin_of(message),
        "origin_incarnation": incarnation_of(message),
        "seq": seq_of(message),
    }
