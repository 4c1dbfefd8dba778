"""Crashes as the disk sees them (`bench.crashing`), and what goes wrong when the log is a little less careful."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bench.crashing.disk import (
    DirectorySynced,
    Disk,
    Event,
    Named,
    Recorder,
    Reported,
    Resized,
    Synced,
    Wrote,
    recording,
)
from bench.crashing.lives import CRASHES_PER_LIFE, LIVES_PER_SITE, Violation, crashes
from bench.crashing.vfs import watched

from ordercast.site.clock import ManualClock
from ordercast.site.storage import files
from ordercast.site.storage.keeper import Keeper
from ordercast.site.storage.options import LogOptions
from ordercast.site.storage.ordered_log import OrderedLog
from ordercast.site.storage.store import Store
from tests.site.storage.entries import messages

SEEDS_UNTIL_FOUND = 30


@pytest.mark.parametrize("seed", range(3))
def test_nothing_durable_is_lost_and_nothing_is_doubled(seed: int) -> None:
    seen = list(crashes(1000 + seed))
    assert len(seen) == CRASHES_PER_LIFE * LIVES_PER_SITE
    assert any(crash.found < crash.requests for crash in seen), "or no crash has cost anything"
    assert len({crash.kept for crash in seen}) > 1


def found_within(seeds: int) -> str:
    """What the first violation says."""
    for seed in range(seeds):
        try:
            for _ in crashes(seed):
                pass
        except Violation as violation:
            return str(violation)
    return ""


def never_synced(self: Store, wanted: str) -> None:
    self.connection.execute("PRAGMA synchronous = NORMAL")


def dropped_at_once(self: Keeper) -> Any:
    """The file goes before the list on disk says so."""
    request = drop(self)
    if request is not None:
        for segment in request.segments:
            files.remove(self._segments / segment.file)
    return request


drop = Keeper._drop


def unsynced_life(self: Store) -> int:
    """The number of a life is given out before it is on disk."""
    self.connection.execute("PRAGMA synchronous = NORMAL")
    self.connection.execute("UPDATE standing SET lives = lives + 1")
    (lives,) = self.connection.execute("SELECT lives FROM standing").fetchone()
    return int(lives) - 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "name", "planted", "said"),
    [
        (Store, "_set_synchronous", never_synced, "durable are found|again, after life"),
        (Store, "begin_life", unsynced_life, "again, after life|positions up to"),
        (files, "sync_file", lambda path: None, "is torn|positions"),
        (files, "sync_directory", lambda path: None, "is listed and not there"),
        (Keeper, "_drop", dropped_at_once, "is listed and not there|again|positions"),
    ],
    ids=["never synced", "lives", "torn segment", "unsynced name", "dropped too early"],
)
def test_carelessness_is_found(
    monkeypatch: pytest.MonkeyPatch, target: Any, name: str, planted: Callable[..., Any], said: str
) -> None:
    monkeypatch.setattr(target, name, planted)
    found = found_within(SEEDS_UNTIL_FOUND)
    assert found, "nothing found"
    assert re.search(said, found), found


@pytest.mark.parametrize("careful", [True, False])
def test_a_sync_that_changes_nothing_syncs_what_was_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, careful: bool
) -> None:
    """SQLite does not even write a transaction that changes nothing."""
    if not careful:
        monkeypatch.setattr(Store, "_touch", lambda self: None)
    options, clock, before, after = LogOptions(fsync="interval"), ManualClock(), tmp_path / "before", tmp_path / "after"
    before.mkdir()
    recorder = Recorder(before)
    with watched(recorder), recording(recorder):
        log = OrderedLog(before, options, clock.now)
        log.append(messages(1)[0])
        log.turn()
        assert (log.durable, log.synced) == (1, 0)
        clock.advance(50_000)
        log.finalize(0)
        log.turn()
        assert (log.durable, log.synced) == (2, 2)
        happened = list(recorder.events)
        log.close()
    Disk(happened, random.Random(0), kept=0.0).write_to(after)
    log = OrderedLog(after, options, clock.now)
    assert log.recovered.entries == (tuple(messages(1)) if careful else ())
    log.close()


def test_of_what_was_not_synced_anything_may_be_there() -> None:
    content = bytes(range(250)) * 12
    events: list[Event] = [
        Named({"a": 1}),
        Wrote(1, 0, bytes(3000)),
        Synced(1),
        DirectorySynced(),
        Wrote(1, 0, content),
    ]
    events += [Resized(1, 2000), Named({"a": None, "b": 1}), Reported(0, 0, 0)]
    seen = set()
    for seed in range(300):
        disk = Disk(events, random.Random(seed), kept=0.5)
        (name,) = disk.names
        kept = bytes(disk.contents[1])
        assert len(kept) in (2000, 3000)
        sectors = [kept[begin : begin + 512] for begin in range(0, len(kept), 512)]
        assert all(
            sector in (bytes(len(sector)), content[512 * index :][: len(sector)])
            for index, sector in enumerate(sectors)
        )
        seen.add((name, len(kept), any(sectors[0]), any(sectors[1])))
    assert len(seen) == 16
    assert bytes(Disk(events, random.Random(0), kept=0.0).contents[1]) == bytes(3000)
    assert bytes(Disk(events, random.Random(0), kept=1.0).contents[1]) == content[:2000]
