"""The comparison of sites as their order comes: what is found, where, and how much is kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ordercast.core.ids import SiteId, pack_message_id
from ordercast.pipeline.streaming.comparison import NO_MESSAGE, Comparison, Violated, Violation

MESSAGES = np.array([pack_message_id(SiteId(position % 3), 0, position) for position in range(1000)])
MARKS = np.arange(1000) * 7919


class Sites:
    """Three sites that say what their logs hold, and what is read again."""

    def __init__(self, held_max: int = 1 << 20) -> None:
        self.messages = [MESSAGES.copy() for _ in range(3)]
        self.marks = [MARKS.copy() for _ in range(3)]
        self.read_again: list[tuple[int, int, int, int]] = []
        self.comparison = Comparison(["lis1", "lis2", "por1"], 0, self.compare, held_max)

    def say(self, site: int, start: int, stop: int, positions: Any = None) -> None:
        where = np.arange(start, stop) if positions is None else np.array(positions)
        self.comparison.take(site, where, self.messages[site][start:stop], self.marks[site][start:stop])

    def say_all(self, order: tuple[int, ...], size: int) -> None:
        """All that there is, in pieces, the sites in turn."""
        for start in range(0, len(MARKS), size):
            for site in order:
                self.say(site, start, start + size)

    def compare(self, one: int, other: int, start: int, stop: int) -> Violation | None:
        self.read_again.append((one, other, start, stop))
        wrong = np.flatnonzero(self.marks[one][start:stop] != self.marks[other][start:stop])
        names = (self.comparison.names[one], self.comparison.names[other])
        return Violation("order", start + int(wrong[0]), names, "read again") if len(wrong) else None


def found(sites: Sites, site: int, start: int, stop: int, positions: Any = None) -> Violation:
    with pytest.raises(Violated) as caught:
        sites.say(site, start, stop, positions)
    return caught.value.violation


def test_sites_that_agree_are_found_to_agree_in_whatever_pieces_they_come() -> None:
    sites, chance = Sites(), np.random.default_rng(5)
    while sites.comparison.compared < 1000:
        site = int(chance.integers(3))
        start = sites.comparison.next[site]
        sites.say(site, start, min(1000, start + int(chance.integers(0, 90))))
    assert sites.comparison.held == 0
    assert sites.read_again == []


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_one_position_that_differs_is_named_with_both_sites(order: tuple[int, int, int]) -> None:
    sites = Sites()
    sites.marks[1][437] += 1
    with pytest.raises(Violated) as caught:
        sites.say_all(order, 100)
    violation = caught.value.violation
    assert (violation.property, violation.position) == ("order", 437)
    assert "lis2" in violation.sites
    assert len(violation.sites) == 2
    assert len(sites.read_again) == 1, "the witness alone is read"


def test_who_has_set_a_mark_is_remembered() -> None:
    sites = Sites()
    sites.say(0, 0, 100)
    sites.say(1, 0, 300)
    sites.say(0, 100, 400)
    sites.marks[2][250] += 1
    assert found(sites, 2, 0, 300).sites == ("lis2", "por1")
    sites.marks[2][250] -= 1
    sites.marks[2][350] += 1
    sites.say(2, 0, 300)
    assert found(sites, 2, 300, 400).sites == ("lis1", "por1")


def test_a_position_that_is_missing_or_comes_twice_is_named() -> None:
    sites = Sites()
    sites.say(0, 0, 10)
    assert str(found(sites, 0, 10, 13, [10, 12, 13])) == "gap at position 11, lis1: 12 comes next"
    assert str(found(sites, 0, 10, 13, [10, 10, 11])) == "duplicate at position 11, lis1: 10 comes once more"
    assert found(sites, 1, 5, 7).property == "gap"


def test_a_message_that_comes_twice_at_all_sites_is_found() -> None:
    for again, batch in ((17, 20), (17, 1000), (20, 10)):
        sites = Sites()
        sites.messages[0][again] = MESSAGES[again - 3]
        with pytest.raises(Violated) as caught:
            sites.say_all((0,), batch)
        place, life = again - 3, again % 3
        expected = f"message {place} of site {life} in its life 0"
        assert str(caught.value) == (
            f"duplicate at position {again}, lis1: {expected} comes after {expected} at position {place}"
        )


def test_entries_that_are_no_messages_are_compared_and_no_duplicates() -> None:
    sites = Sites()
    for messages in sites.messages:
        messages[::2] = NO_MESSAGE
    sites.say(0, 0, 1000)
    sites.say(1, 0, 1000)
    sites.marks[2][40] += 1
    assert found(sites, 2, 0, 1000).position == 40


def test_a_site_far_behind_costs_no_memory_and_is_compared_by_reading_again() -> None:
    sites = Sites(held_max=100)
    for start in range(0, 600, 50):
        sites.say(0, start, start + 50)
        sites.say(1, start, start + 50)
        assert sites.comparison.held <= 100
    assert sites.comparison.compared == 0
    sites.say(2, 0, 450)
    assert sites.read_again == [(0, 2, 0, 450)]
    sites.say(2, 450, 520)
    assert sites.read_again[1:] == [(0, 2, 450, 500)]
    sites.marks[2][530] += 1
    assert found(sites, 2, 520, 600).position == 530
    assert sites.comparison.compared == 520


def test_what_differs_far_behind_is_found_too() -> None:
    sites = Sites(held_max=100)
    sites.say(0, 0, 600)
    sites.marks[2][30] += 1
    assert found(sites, 2, 0, 100) == Violation("order", 30, ("lis1", "por1"), "read again")
