"""The auditor on line: sites that agree, and what is planted in the log of one of them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from ordercast.core.entries import Content, Entry, RoleChange
from ordercast.core.errors import WrongUse
from ordercast.core.ids import SiteId
from ordercast.pipeline.streaming.comparison import Violation
from ordercast.pipeline.streaming.watch import Watch, first_difference
from ordercast.site.storage.ordered_log import OrderedLog
from tests.pipeline.streaming.logs import add, log_in
from tests.site.storage.entries import bundle, entries, view

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CONTENTS: tuple[Content, ...] = tuple(bundle(2 * number, b"a", bytes([number])) for number in range(20))
"""Forty positions."""


def swapped(contents: Sequence[Content], place: int) -> list[Content]:
    """Two neighbours change places."""
    return [*contents[:place], contents[place + 1], contents[place], *contents[place + 2 :]]


def logs(directory: Path, stack: ExitStack, *orders: Sequence[Entry]) -> list[OrderedLog]:
    """Of sites that seal at different positions."""
    made = [log_in(directory / f"site{number}", segment_positions=8 + 5 * number) for number in range(len(orders))]
    for log, order in zip(made, orders, strict=True):
        stack.enter_context(closing(log))
        add(log, order)
    return made


def named(logs: Sequence[OrderedLog]) -> dict[str, Path]:
    return {f"site{number}": log.directory for number, log in enumerate(logs)}


def watched(spark: SparkSession, sites: dict[str, Path], start: int | None = None) -> Watch:
    """Up to what is final now."""
    watch = Watch(sites, start)
    with watch.following(spark, once=True) as query:
        query.awaitTermination()
    return watch


def test_a_violation_ends_a_query_that_goes_on(spark: SparkSession, tmp_path: Path) -> None:
    """Sites that agree, as they grow; then one orders two messages otherwise than the others, and so it is named."""
    same, otherwise = entries(*CONTENTS), entries(*swapped(CONTENTS, 15))
    with ExitStack() as stack:
        opened = logs(tmp_path, stack, same[:10], same[:12], same[:5])
        watch = Watch(named(opened))
        with watch.following(spark) as query:
            query.processAllAvailable()
            assert (watch.comparison.compared, watch.comparison.next) == (10, [20, 24, 10])
            add(opened[2], same[5:15])
            add(opened[0], same[10:])
            query.processAllAvailable()
            assert (watch.comparison.compared, watch.comparison.held) == (24, 16)
            assert (watch.violation, watch.found.is_set()) == (None, False)
            add(opened[2], otherwise[15:])
            assert watch.found.wait(120)
            add(opened[1], same[12:])
            query.processAllAvailable()
            assert watch.comparison.compared == 24, "after a violation nothing more is compared"
        violation = watch.violation
        assert violation is not None
        assert str(violation).startswith("order at position 30, site0 and site2: ")
        assert "seq is 30 and 32" in violation.said


def test_what_is_not_the_same_is_found_whatever_it_is(spark: SparkSession, tmp_path: Path) -> None:
    """A body that was changed after it was ordered: the digests agree."""
    order = entries(view(1), RoleChange(SiteId(2), True), *CONTENTS)
    other = [*order[:12], replace(order[12], content=bundle(20, b"a", b"!")), *order[13:]]
    with ExitStack() as stack:
        sites = named(logs(tmp_path, stack, order, order))
        agreeing = watched(spark, sites)
        assert (agreeing.violation, agreeing.comparison.compared) == (None, 42)
        (changed_log,) = logs(tmp_path / "other", stack, other)
        sites["site2"] = changed_log.directory
        found = watched(spark, sites, start=3).violation
        position = order[12].position + 1
        assert found == Violation("order", position, ("site0", "site2"), "payload is b'\\n' and b'!'")
        assert watched(spark, sites, start=position + 1).violation is None


def test_the_first_difference_of_two_logs_is_found_by_reading_both(tmp_path: Path) -> None:
    with ExitStack() as stack:
        one, other = logs(tmp_path, stack, entries(*CONTENTS), entries(*swapped(CONTENTS, 15)))
        paths = (one.directory, other.directory)
        assert first_difference(*paths, 0, 30) is None
        found = first_difference(*paths, 0, 40)
        assert found is not None
        assert found[0] == 30
        assert first_difference(*paths, 40, 50) is None


def test_one_site_alone_has_nothing_to_be_compared_with(tmp_path: Path) -> None:
    with pytest.raises(WrongUse, match="name the log directories of two sites or more"):
        Watch({"lis1": tmp_path})
