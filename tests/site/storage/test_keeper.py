"""Sealing and dropping segments. Turn by turn, so that nothing depends on when threads run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as parquet
import pytest

from ordercast.records.log_errors import Hole, Retained
from ordercast.records.segments import BadSegment
from ordercast.site.clock import ManualClock
from ordercast.site.storage import files
from ordercast.site.storage.options import LogOptions
from ordercast.site.storage.ordered_log import OrderedLog
from tests.site.storage.entries import messages, mixed, read_all, save_base

HOUR_US = 3_600_000_000


class Site:
    """A log, and a clock that stands still."""

    def __init__(self, directory: Path, **options: Any) -> None:
        self.clock = ManualClock(HOUR_US)
        self.directory = directory
        self.options = LogOptions(**options)
        self.log = OrderedLog(directory, self.options, self.clock.now)

    def write(self, count: int, *, size: int = 10) -> None:
        """So many more messages, all of them final."""
        start = self.log.end
        for entry in messages(count, start, size):
            self.log.append(entry)
        self.log.finalize(start + count)
        self.turn()

    def turn(self) -> None:
        for _ in range(20):
            self.log.turn()

    def needs_from(self, base: int) -> None:
        save_base(self.log, base)
        self.turn()

    def again(self) -> None:
        """The next life."""
        self.log.close()
        self.log = OrderedLog(self.directory, self.options, self.clock.now)

    def segments(self) -> list[tuple[int, int]]:
        """Those in the directory."""
        names = sorted(path.stem.split("-") for path in (self.directory / "segments").glob("*.parquet"))
        return [(int(first), int(stop)) for first, stop in names]


def test_final_positions_are_sealed_when_there_are_enough(tmp_path: Path) -> None:
    site = Site(tmp_path, segment_positions=10)
    site.write(9)
    assert site.segments() == []
    site.write(15)
    assert site.segments() == [(0, 10), (10, 20)]
    assert list(read_all(site.log)) == [*messages(9), *messages(15, start=9)]
    site.log.close()


def test_what_is_not_final_is_not_sealed(tmp_path: Path) -> None:
    site = Site(tmp_path, segment_positions=2)
    for entry in mixed():
        site.log.append(entry)
    site.log.finalize(5)
    site.turn()
    assert site.segments() == [(0, 4)], "the bundle at 1 is not divided, and one position more is not enough"
    site.log.close()


def test_enough_bytes_are_sealed(tmp_path: Path) -> None:
    site = Site(tmp_path, segment_bytes=5_000)
    site.write(7, size=1_000)
    assert site.segments() == [(0, 5)]
    site.log.close()


def test_what_has_waited_long_enough_is_sealed(tmp_path: Path) -> None:
    site = Site(tmp_path, segment_age_s=60.0)
    site.write(3)
    site.clock.advance(59_000_000)
    site.turn()
    assert site.segments() == []
    site.clock.advance(1_000_000)
    site.turn()
    assert site.segments() == [(0, 3)]
    site.log.close()


def test_a_segment_does_not_reach_over_a_hole(tmp_path: Path) -> None:
    site = Site(tmp_path, segment_positions=4)
    site.write(3)
    site.log.restart_at(10)
    site.needs_from(10)
    site.write(5)
    assert site.segments() == [(0, 3), (10, 14)]
    assert [entry.position for entry in site.log.read(0, 99).entries] == [0, 1, 2]
    with pytest.raises(Hole):
        site.log.read(3, 99)
    assert [entry.position for entry in site.log.read(10, 99).entries] == [10, 11, 12, 13]
    assert [entry.position for entry in site.log.read(14, 99).entries] == [14]
    site.log.close()


def test_the_next_life_reads_what_it_needs_from_segments(tmp_path: Path) -> None:
    site = Site(tmp_path, segment_positions=4)
    site.write(10)
    site.needs_from(2)
    site.again()
    assert site.segments() == [(0, 4), (4, 8)]
    assert list(site.log.recovered.entries) == messages(10)[2:]
    assert site.log.digest_at(4) == messages(10)[3].digest
    site.log.close()


# --- retention ---


def test_the_oldest_are_dropped_while_there_is_too_much(tmp_path: Path) -> None:
    site = Site(tmp_path, segment_positions=4, retention_bytes=20_000)
    site.write(40)
    site.needs_from(40)
    kept = site.segments()
    assert 0 < len(kept) < 10
    assert kept[-1] == (36, 40)
    size = sum(path.stat().st_size for path in (tmp_path / "segments").iterdir())
    assert size <= 20_000
    assert site.log.earliest == kept[0][0]
    with pytest.raises(Retained) as caught:
        site.log.read(0, 40)
    assert caught.value.first == site.log.earliest
    assert list(read_all(site.log, site.log.earliest)) == messages(40)[site.log.earliest :]
    assert site.log.digest_at(site.log.earliest) is None
    site.log.close()


def test_the_oldest_are_dropped_when_they_are_too_old(tmp_path: Path) -> None:
    site = Site(tmp_path, segment_positions=4, retention_s=60.0)
    site.write(4)
    site.clock.advance(30_000_000)
    site.write(4)
    site.needs_from(8)
    assert site.segments() == [(0, 4), (4, 8)]
    site.clock.advance(30_000_001)
    site.turn()
    assert site.segments() == [(4, 8)]
    site.log.close()


def test_what_the_next_life_needs_is_never_dropped(tmp_path: Path) -> None:
    site = Site(tmp_path, segment_positions=4, retention_bytes=1, retention_s=0.001)
    site.write(12)
    site.clock.advance(HOUR_US)
    site.needs_from(5)
    assert site.segments() == [(4, 8), (8, 12)]
    site.again()
    assert list(site.log.recovered.entries) == messages(12)[5:]
    site.log.close()


def test_a_reader_in_a_segment_that_goes_is_told(tmp_path: Path) -> None:
    site = Site(tmp_path, segment_positions=4, retention_bytes=1)
    site.write(8)
    assert site.log.read(1, 3).end == 3
    site.needs_from(8)
    with pytest.raises(Retained) as caught:
        site.log.read(3, 8)
    assert caught.value.first == site.log.earliest == 8
    site.again()
    assert (site.log.earliest, site.log.end, site.log.final) == (8, 8, 8)
    site.log.close()


def test_a_hole_before_the_first_position_that_is_kept_is_none(tmp_path: Path) -> None:
    site = Site(tmp_path, segment_positions=4, retention_bytes=1)
    site.write(4)
    site.log.restart_at(10)
    site.needs_from(10)
    site.write(2)
    site.again()
    assert site.log.earliest == 10
    with pytest.raises(Retained):
        site.log.read(5, 12)
    site.log.close()


# --- files ---


def test_files_that_are_not_listed_are_swept_away(tmp_path: Path) -> None:
    site = Site(tmp_path, segment_positions=4)
    site.write(4)
    segments = tmp_path / "segments"
    (segments / "0000000000000004-0000000000000008.parquet").write_bytes(b"not listed")
    (segments / ".0000000000000004-0000000000000008.parquet.unfinished").write_bytes(b"torn")
    (segments / "README").write_text("somebody else's")
    site.again()
    assert sorted(path.name for path in segments.iterdir()) == ["0000000000000000-0000000000000004.parquet", "README"]
    site.log.close()


def test_a_segment_that_is_gone_is_named(tmp_path: Path) -> None:
    site = Site(tmp_path, segment_positions=4)
    site.write(4)
    next((tmp_path / "segments").iterdir()).unlink()
    with pytest.raises(BadSegment, match=r"0000000000000004\.parquet: is listed and not there; restore it from a copy"):
        site.again()


def test_a_segment_of_another_size_is_named(tmp_path: Path) -> None:
    site = Site(tmp_path, segment_positions=4)
    site.write(4)
    path = next((tmp_path / "segments").iterdir())
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(BadSegment, match=r"0000000000000004.parquet: is torn: it has \d+ bytes, not \d+"):
        site.again()


def test_a_segment_that_cannot_be_read_costs_its_readers_only(tmp_path: Path) -> None:
    site = Site(tmp_path, segment_positions=4)
    site.write(4)
    path = next((tmp_path / "segments").iterdir())
    path.write_bytes(bytes(path.stat().st_size))
    with pytest.raises(BadSegment, match="is torn, or no Parquet file"):
        site.log.read(0, 4)
    site.write(2)
    assert site.log.read(4, 6).end == 6
    site.log.close()


def test_sealing_that_fails_is_told_and_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = Site(tmp_path, segment_positions=4)

    def full(path: Path) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(files, "sync_file", full)
        site.write(4)
        assert "No space left on device" in site.log.keeping_trouble
        assert list((tmp_path / "segments").iterdir()) == []
        assert list(read_all(site.log)) == messages(4)
    site.turn()
    assert site.log.keeping_trouble == ""
    assert site.segments() == [(0, 4)]
    site.log.close()


def test_the_tail_gives_its_rows_away(tmp_path: Path) -> None:
    """Each position is in one place, and Spark reads the same entries that the log reads."""
    site = Site(tmp_path, segment_positions=4)
    site.write(10)
    rows = [row for path in sorted((tmp_path / "segments").iterdir()) for row in parquet.read_table(path).to_pylist()]
    assert [row["position"] for row in rows] == list(range(8))
    assert {row["wall_us"] for row in rows} == {HOUR_US}
    count = site.log._writer._store.connection.execute("SELECT count(*) FROM entries").fetchone()
    assert count == (2,)
    site.log.close()


def test_the_threads_do_the_same(tmp_path: Path) -> None:
    log = OrderedLog.open(tmp_path, LogOptions(segment_positions=10, fsync="never"))
    written = messages(200)
    for entry in written:
        log.append(entry)
        log.finalize(entry.end)
    assert log.wait(log.written, 60.0)
    log._keeper._wake.set()
    while len(list((tmp_path / "segments").glob("*.parquet"))) < 3:
        assert list(read_all(log)) == written
    log.close()
    log = OrderedLog.open(tmp_path)
    assert list(log.recovered.entries) == written
    log.close()
