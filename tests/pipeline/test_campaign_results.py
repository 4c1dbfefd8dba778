"""What a worker writes: whole files, the same from whoever does the run, and what is made of torn ones."""

from __future__ import annotations

import math
from pathlib import Path

import msgspec
import pyarrow as pa
import pytest
from msgspec.structs import replace

from ordercast.pipeline.campaign.plan import PlannedRun, planned
from ordercast.pipeline.campaign.results import Outcome, digest_of, read_outcome, result_path, row_of
from ordercast.pipeline.campaign.work import Done, Orders, carry_out, name_of, rooms_of
from ordercast.pipeline.packing import code_digest
from ordercast.records.traces import read_trace
from ordercast.simulator.observer import Measure
from ordercast.simulator.scenario import parse
from ordercast.studies.framework.measures import Silence
from ordercast.verify.run import run
from tests.pipeline.grids import SCENARIO

RUN = planned(parse(SCENARIO.encode()), {})
CRASH = '[[fault]]\nkind = "crash"\nat_s = 0.2\nsites = ["B"]\n'
CRASHING = planned(parse((SCENARIO.replace("ideal", "full") + CRASH).encode()), {})


class Odd(Measure):
    """Figures of which one does not apply."""

    def figures(self) -> dict[str, float]:
        return {"b": math.nan, "a": 1.5}


class Failing(Measure):
    """A bug."""

    def figures(self) -> dict[str, float]:
        raise AssertionError("no figures")


def work(directory: Path, *runs: PlannedRun, trace: bool = False, measure: type[Measure] | None = None) -> list[Done]:
    for name in ("results", "traces"):
        (directory / name).mkdir(parents=True, exist_ok=True)
    encoded = tuple((each.run, msgspec.msgpack.encode(each.scenario)) for each in runs)
    orders = Orders(str(directory), (encoded,), trace, measure)
    batches = iter([pa.record_batch({"id": [0]})])
    return [msgspec.convert(row, Done) for batch in carry_out(orders, batches) for row in batch.to_pylist()]


def outcome_in(directory: Path, run: str = RUN.run) -> Outcome:
    found = read_outcome(directory, run)
    assert found is not None
    return found


def test_a_result_comes_back_whole(tmp_path: Path) -> None:
    assert work(tmp_path, RUN, CRASHING) == [Done(each.run, code_digest(), None) for each in (RUN, CRASHING)]
    for each in (RUN, CRASHING):
        result, row = run(each.scenario), outcome_in(tmp_path, each.run).row
        assert row.whole() == result
        assert row.good == result.good
        assert result.latency_ms.last is not None
        assert (row.last_mean_ms, row.last_p99_ms) == (result.latency_ms.last.mean, result.latency_ms.last.p99)
        assert (row.protocol, row.seed, row.limit_last_ms) == ("hybrid", 1, result.limit_ms.last)
    assert sorted(path.name for path in tmp_path.rglob("*.*")) == sorted(
        f"{each.run}.parquet" for each in (RUN, CRASHING)
    )


def test_whoever_does_a_run_writes_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        work(tmp_path / name, RUN, trace=True)
    for kind in ("results", "traces"):
        one, two = (tmp_path / name / kind / f"{RUN.run}.parquet" for name in ("one", "two"))
        assert one.read_bytes() == two.read_bytes()


def test_a_trace_is_of_the_run_and_goes_with_its_result(tmp_path: Path) -> None:
    work(tmp_path, RUN, trace=True)
    path = tmp_path / "traces" / f"{RUN.run}.parquet"
    assert {record.run for record in read_trace(path)} == {RUN.run}
    result_path(tmp_path, RUN.run).unlink()
    work(tmp_path, RUN)
    assert not path.exists()


def test_what_a_lost_worker_had_finished_of_a_task_is_not_done_again(tmp_path: Path) -> None:
    work(tmp_path, RUN)
    first = result_path(tmp_path, RUN.run).stat().st_mtime_ns
    assert [done.run for done in work(tmp_path, RUN, CRASHING)] == [RUN.run, CRASHING.run]
    assert result_path(tmp_path, RUN.run).stat().st_mtime_ns == first


def test_a_run_that_stalls_or_violates_says_so(tmp_path: Path) -> None:
    lossy = SCENARIO + '[[fault]]\nkind = "loss"\nat_s = 0\nprobability = 0.3\n'
    stalling = planned(parse(lossy.encode()), {})
    work(tmp_path, stalling)
    row = outcome_in(tmp_path, stalling.run).row
    assert not row.good
    assert row.stalled_site is not None
    violated = replace(run(RUN.scenario), violations=["fifo: A"])
    assert row_of("", "", RUN.scenario, violated).violations == ("fifo: A",)


def test_measures_add_figures_and_are_part_of_what_a_run_is(tmp_path: Path) -> None:
    assert work(tmp_path, RUN, measure=Odd) == [Done(RUN.run, code_digest(), None)]
    figures = outcome_in(tmp_path).figures
    assert figures["a"] == 1.5
    assert math.isnan(figures["b"])
    assert name_of(Silence) == "ordercast.studies.framework.measures.Silence"
    assert rooms_of(Silence) == ("studies",)
    assert code_digest() != code_digest("studies")


@pytest.mark.parametrize("size", [0, 4, 1000, -1])
def test_a_torn_file_is_as_good_as_none(size: int, tmp_path: Path) -> None:
    work(tmp_path, RUN)
    path = result_path(tmp_path, RUN.run)
    path.write_bytes(path.read_bytes()[:size])
    assert read_outcome(tmp_path, RUN.run) is None


def test_a_byte_that_changed_on_disk_is_noticed(tmp_path: Path) -> None:
    work(tmp_path, RUN)
    path = result_path(tmp_path, RUN.run)
    data = bytearray(path.read_bytes())
    data[len(data) // 4] ^= 1
    path.write_bytes(data)
    assert read_outcome(tmp_path, RUN.run) is None


def test_a_file_of_another_run_is_as_good_as_none(tmp_path: Path) -> None:
    work(tmp_path, RUN)
    result_path(tmp_path, RUN.run).rename(result_path(tmp_path, "another"))
    assert read_outcome(tmp_path, "another") is None


def test_what_hinders_writing_is_reported_not_raised(tmp_path: Path) -> None:
    (done,) = work(tmp_path / "a", RUN)
    assert done.problem is None
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "results").write_text("in the way")
    with pytest.raises(FileExistsError):
        work(tmp_path / "b", RUN)
    orders = Orders(str(tmp_path / "b"), (((RUN.run, msgspec.msgpack.encode(RUN.scenario)),),), False, None)
    (batch,) = carry_out(orders, iter([pa.record_batch({"id": [0]})]))
    assert "results" in batch.to_pylist()[0]["problem"]


def test_a_bug_names_the_run(tmp_path: Path) -> None:
    with pytest.raises(AssertionError) as raised:
        work(tmp_path, RUN, measure=Failing)
    assert RUN.run in raised.value.__notes__[0]
    assert list(tmp_path.rglob("*.parquet")) == []


def test_a_digest_is_of_what_came_out_whoever_wrote_it(tmp_path: Path) -> None:
    work(tmp_path, RUN, CRASHING)
    outcomes = [outcome_in(tmp_path, each.run) for each in (RUN, CRASHING)]
    other = replace(outcomes[0], row=replace(outcomes[0].row, code="other"))
    assert digest_of(outcomes) == digest_of(reversed(outcomes)) == digest_of([other, outcomes[1]])
    less = replace(outcomes[0], row=replace(outcomes[0].row, result_json=outcomes[1].row.result_json))
    assert len({digest_of(outcomes), digest_of(outcomes[:1]), digest_of([less, outcomes[1]])}) == 3
    assert digest_of([replace(outcomes[0], figures={"a": math.nan})]) != digest_of(outcomes[:1])
