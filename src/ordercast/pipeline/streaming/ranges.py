"""Ranges of positions of an ordered log: how far it is, where to cut it, and what is in it, as Arrow batches.

What is read depends on the range alone. Meanwhile the site goes on: what was in the tail may have been sealed, and what
is kept no longer is an error that names the first position that is.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

from ordercast.core.errors import NotFit
from ordercast.pipeline.streaming.options import EARLIEST, ReadOptions
from ordercast.records.log_reader import Reader

CHUNK_BYTES = 4 << 20
"""About so much of the tail is read at once."""

FILTERED_BY = ("kind", "void", "group")


def earliest_position(path: Path) -> int:
    """The first that is kept."""
    with closing(Reader(path, beside=True)) as log:
        return log.bounds()[0]


def final_position(path: Path) -> int:
    """The first that is not final yet."""
    with closing(Reader(path, beside=True)) as log:
        return log.final()


def end_of_batch(path: Path, start: int, final: int, positions_max: int | None) -> int:
    """Where a batch from `start` ends: before what is not final, before a hole, and with so many positions at most.

    Raises `Retained` or `Hole` if nothing can be read at `start`.
    """
    if final <= start:
        return start
    with closing(Reader(path, beside=True)) as log:
        whole = log.whole_until(start)
    return min(final, whole, final if positions_max is None else start + positions_max)


def cut(options: ReadOptions, start: int, stop: int) -> list[tuple[int, int]]:
    """A range in pieces of about the same size, one for each task, none of which reads what another one reads."""
    if stop <= start:
        return []
    tasks = options.tasks_for(stop - start)
    cuts = {start, stop}
    with closing(Reader(options.path, beside=True)) as log:
        cuts.update(log.begin_near(start + (stop - start) * index // tasks) for index in range(1, tasks))
    return list(pairwise(sorted(each for each in cuts if start <= each <= stop)))


def batches(options: ReadOptions, start: int, stop: int) -> Iterator[Any]:
    """What is in the log from `start` up to `stop`, as `pyarrow.RecordBatch`es."""
    columns = tuple(dict.fromkeys((*options.columns, *(FILTERED_BY if _is_filtered(options) else ()))))
    with closing(Reader(options.path, beside=True)) as log:
        while start < stop:
            table = log.table(start, stop, CHUNK_BYTES, columns)
            if table.num_rows == 0:
                raise NotFit(f"{options.path}: the log ends at {start}, before {stop}; is it the same one as before?")
            start += table.num_rows
            yield from _chosen(options, table).combine_chunks().to_batches()


def start_of(options: ReadOptions) -> int:
    """Of a batch read."""
    return earliest_position(options.path) if options.start == EARLIEST else int(options.start)


def stop_of(options: ReadOptions, start: int) -> int:
    """Of a batch read: what is not final cannot be read."""
    final = final_position(options.path)
    return max(start, final if isinstance(options.stop, str) else min(options.stop, final))


def _is_filtered(options: ReadOptions) -> bool:
    return options.group is not None or options.rows != "all"


def _chosen(options: ReadOptions, table: Any) -> Any:
    import pyarrow.compute as pc

    if options.rows == "messages":
        table = table.filter(pc.and_(pc.equal(table["kind"], "message"), pc.invert(table["void"])))
    if options.group is not None:
        table = table.filter(pc.equal(table["group"], options.group))
    return table.select(options.columns)
