"""Traces of any length, made at once: a group of five sites under steady load that does nothing wrong.

What takes a simulation minutes takes numpy seconds. Each site writes a file of its own, as live sites do.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
from msgspec import Struct

from ordercast.core.ids import ORIGIN_SHIFT
from ordercast.core.trace import JOINS, Kind
from ordercast.records.schema import trace_schema

SITES = 5
ROWS_PER_GROUP = 1 << 18
MULTICAST_AHEAD = 200
"""So many positions before its own a message is multicast ..."""
FINAL_AFTER = 100
"""... and so many after it it is final."""
FINALIZED_AT_ONCE = 32
US_PER_POSITION = 100

KINDS = [Kind.VIEW, Kind.MULTICAST, Kind.DELIVER, Kind.FINALIZE, Kind.END]
VIEW, MULTICAST, DELIVER, FINALIZE, END = range(len(KINDS))


class Order(Struct, frozen=True):
    """What stands at each position: 0 is the view, then messages."""

    message: Any
    origin: Any
    seq: Any

    @property
    def positions(self) -> int:
        """How many positions there are."""
        return len(self.message)


def drawn_order(positions: int, seed: int = 1, sites: int = SITES) -> Order:
    """Messages of all sites in a random order, each sender's in its own."""
    origin = np.random.default_rng(seed).integers(0, sites, positions)
    seq = np.zeros(positions, dtype=np.int64)
    origin[0] = -1
    for site in range(sites):
        own = origin == site
        seq[own] = np.arange(own.sum())
    return Order(origin << ORIGIN_SHIFT | seq, origin, seq)


def swapped(order: Order) -> tuple[Order, int]:
    """Two neighbouring messages of one sender change places, somewhere behind the middle; and where."""
    at = order.positions // 2 + int(np.argmax(np.diff(order.origin[order.positions // 2 :]) == 0))
    message, seq = order.message.copy(), order.seq.copy()
    for column in (message, seq):
        column[[at, at + 1]] = column[[at + 1, at]]
    return Order(message, order.origin, seq), at


def write_trace(directory: Path, order: Order, run: str = "made", seen: dict[int, Order] | None = None) -> int:
    """One file for each site, which sees the order, or something of its own; returns how many records there are."""
    directory.mkdir(parents=True, exist_ok=True)
    rows = 0
    for site in range(SITES):
        table = _site_table(site, order, (seen or {}).get(site, order), run)
        path = directory / f"{run}-{site}.parquet"
        parquet.write_table(table, path, compression="zstd", row_group_size=ROWS_PER_GROUP, write_page_checksum=True)
        rows += table.num_rows
    return rows


def _site_table(site: int, order: Order, seen: Order, run: str) -> Any:
    """All that one site records, in its order."""
    positions = order.positions
    own = np.flatnonzero(order.origin == site)
    finalized = np.append(np.arange(FINALIZED_AT_ONCE, positions, FINALIZED_AT_ONCE), positions)
    parts = [
        (VIEW, np.array([-2]), np.array([0])),
        (VIEW, np.array([-1]), np.array([0])),
        (DELIVER, np.arange(1, positions) * 4 + 2, np.arange(1, positions)),
        (MULTICAST, np.maximum(own - MULTICAST_AHEAD, 0) * 4, own),
        (FINALIZE, np.minimum(finalized + FINAL_AFTER, positions) * 4 + 3, finalized),
        (END, np.array([positions * 4 + 4]), np.array([0])),
    ]
    kind = np.concatenate([np.full(len(keys), kind, np.int8) for kind, keys, _ in parts])
    keys = np.concatenate([keys for _, keys, _ in parts])
    place = np.concatenate([place for _, _, place in parts])
    by_time = np.argsort(keys, kind="stable")
    return _table(site, order, seen, run, kind[by_time], keys[by_time], place[by_time])


def _table(site: int, order: Order, seen: Order, run: str, kind: Any, keys: Any, place: Any) -> Any:
    rows = len(kind)
    deliver, view, multicast, finalize = (kind == which for which in (DELIVER, VIEW, MULTICAST, FINALIZE))
    comes_up = view & (keys == -1)
    installed = view & ~comes_up
    told = deliver | multicast
    inside = np.where(told, place, 0)
    known = {name: np.where(deliver, getattr(seen, name)[inside], getattr(order, name)[inside]) for name in SEEN}
    positioned = deliver | comes_up
    columns = {
        "run": _constant(run, rows),
        "site": np.full(rows, site),
        "incarnation": np.zeros(rows, np.int64),
        "index": np.arange(rows),
        "at_us": np.maximum(keys, 0) * (US_PER_POSITION // 4) + 7 * site,
        "kind": pa.DictionaryArray.from_arrays(kind, [str(each) for each in KINDS]).cast(pa.string()),
        "view": pa.array(np.ones(rows, np.int64), mask=np.zeros(rows, bool)),
        "members": pa.array([list(range(SITES)) if each else None for each in view[:2]]).take(
            pa.array(np.where(np.arange(rows) < 2, np.arange(rows), -1), mask=np.arange(rows) > 1)
        ),
        "message": pa.array(known["message"], mask=~told),
        "origin": pa.array(known["origin"], mask=~told),
        "origin_incarnation": pa.array(np.zeros(rows, np.int64), mask=~told),
        "seq": pa.array(known["seq"], mask=~told),
        "level": pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int8), mask=~told), ["agreed"]).cast(
            pa.string()
        ),
        "position": pa.array(place, mask=~(positioned | finalize)),
        "delivery_index": pa.array(place, mask=~positioned),
        "final": pa.array(kind == END, mask=~(deliver | (kind == END))),
        "size": pa.array(np.where(installed, SITES // 2 + 1, 100), mask=~(told | installed)),
        "detail": pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int8), mask=~installed), [JOINS]).cast(
            pa.string()
        ),
    }
    schema = trace_schema()
    arrays = [
        _array(columns[field.name], field.type) if field.name in columns else pa.nulls(rows, field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


SEEN = ("message", "origin", "seq")


def _constant(text: str, rows: int) -> Any:
    return pa.DictionaryArray.from_arrays(np.zeros(rows, np.int8), [text]).cast(pa.string())


def _array(column: Any, kind: Any) -> Any:
    return column.cast(kind) if isinstance(column, pa.Array) else pa.array(column, kind)
