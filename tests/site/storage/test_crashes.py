"""Crashes as the disk sees them (`bench.crashing`), and what goes wrong when the log is a little less careful."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from bench.crashing.lives import CRASHES_PER_LIFE, LIVES_PER_SITE, Violation, crashes

from ordercast.site.storage import files
from ordercast.site.storage.keeper import Keeper
from ordercast.site.storage.store import Store

SEEDS_UNTIL_FOUND = 30


@pytest.mark.parametrize("seed", range(4))
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


def untouched(self: Store) -> None:
    """As if a transaction that changes nothing synced those before it."""


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


@pytest.mark.parametrize(
    ("target", "name", "planted", "said"),
    [
        (Store, "_set_synchronous", never_synced, "durable are found|again, after life"),
        (Store, "_touch", untouched, "durable are found"),
        (Store, "begin_life", unsynced_life, "again, after life|positions up to"),
        (files, "sync_file", lambda path: None, "is torn|positions"),
        (files, "sync_directory", lambda path: None, "is listed and not there"),
        (Keeper, "_drop", dropped_at_once, "is listed and not there|again|positions"),
    ],
    ids=["never synced", "nothing touched", "lives", "torn segment", "unsynced name", "dropped too early"],
)
def test_carelessness_is_found(
    monkeypatch: pytest.MonkeyPatch, target: Any, name: str, planted: Callable[..., Any], said: str
) -> None:
    monkeypatch.setattr(target, name, planted)
    found = found_within(SEEDS_UNTIL_FOUND)
    assert found, "nothing found"
    assert re.search(said, found), found
