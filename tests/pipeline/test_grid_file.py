"""What a grid file means, and what is said of a wrong one."""

from __future__ import annotations

from pathlib import Path

import pytest

from ordercast.core.errors import WrongUse
from ordercast.pipeline.campaign.grid_file import RUNS_MAX, column_name, load_grid
from ordercast.pipeline.campaign.plan import Plan, in_tasks
from ordercast.simulator.scenario import parse
from tests.pipeline.grids import GRID, SCENARIO, write_grid_file


def plan_of(directory: Path, axes: str, scenario: str = SCENARIO) -> Plan:
    return load_grid(write_grid_file(directory, f'scenario = "small.toml"\n[grid]\n{axes}', scenario))


def test_every_combination_is_a_run_the_last_key_changing_fastest(tmp_path: Path) -> None:
    plan = load_grid(write_grid_file(tmp_path))
    assert [tuple(each.labels.values()) for each in plan.runs[::2]] == [
        ("small.toml", "hybrid", 30),
        ("small.toml", "hybrid", 60.5),
        ("small.toml", "token-site", 30),
        ("small.toml", "token-site", 60.5),
    ]
    assert list(plan.runs[0].labels) == ["scenario", "protocol_name", "wan_0_delay_ms"]
    assert [each.scenario.wan[0].delay_ms for each in plan.runs] == [30, 30, 60.5, 60.5] * 2
    assert len(plan.distinct) == 8


def test_seeds_follow_from_what_a_run_is_and_not_from_where_it_stands(tmp_path: Path) -> None:
    plan = load_grid(write_grid_file(tmp_path / "one"))
    seeds = {each.run: each.scenario.seed for each in plan.runs}
    assert len(dict.fromkeys(seeds.values())) == 8
    larger = GRID.replace('["hybrid"', '["rs-symmetric", "hybrid"').replace("count = 2", "count = 3")
    assert (
        seeds.items()
        <= {each.run: each.scenario.seed for each in load_grid(write_grid_file(tmp_path / "two", larger)).runs}.items()
    )


def test_without_a_word_about_seeds_each_combination_has_its_own(tmp_path: Path) -> None:
    runs = plan_of(tmp_path, 'duration_s = [0.5, 0.6]\n"protocol.name" = ["hybrid"]').runs
    assert len(runs) == 2
    assert runs[0].scenario.seed != runs[1].scenario.seed != parse(SCENARIO.encode()).seed


@pytest.mark.parametrize("seeds", ["[3, 4, 5]", "{ from = 3, count = 3 }"])
def test_seeds_that_are_given_are_the_same_everywhere(seeds: str, tmp_path: Path) -> None:
    plan = plan_of(tmp_path, f"duration_s = [0.5, 0.6]\nseed = {seeds}")
    assert [each.scenario.seed for each in plan.runs] == [3, 4, 5, 3, 4, 5]


def test_the_same_run_twice_is_one(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, "duration_s = [0.5, 0.50]\nseed = [1]")
    assert len(plan.runs) == 2
    assert len(plan.distinct) == 1


def test_long_runs_go_first(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, '"traffic[0].rate" = [40, 400, 4]\nduration_s = [0.5, 0.75]\nseed = [1]')
    work = [scenario.duration_s * float(str(scenario.traffic[0].rate)) for scenario in plan.distinct.values()]
    assert work == sorted(work, reverse=True)


def test_tasks_get_smaller_and_hold_every_run_once(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, '"traffic[0].rate" = [40, 400, 4]\nseed = { count = 300 }')
    tasks = in_tasks(plan.distinct, 2)
    assert [run for task in tasks for run in task] == list(plan.distinct)
    assert all(tasks)
    assert 20 < len(tasks) < 100
    assert max(len(task) for task in tasks[-8:]) == 1
    assert in_tasks(dict([next(iter(plan.distinct.items()))]), 2) == [[next(iter(plan.distinct))]]
    assert in_tasks({}, 2) == []


def test_a_scenario_may_stand_in_the_file_and_several_may_be_named(tmp_path: Path) -> None:
    inside = "[scenario]\n" + SCENARIO.replace("[[", "[[scenario.").replace("[protocol]", "[scenario.protocol]")
    (run,) = load_grid(write_grid_file(tmp_path, inside)).runs
    assert run.labels == {}
    (tmp_path / "other.toml").write_text(SCENARIO.replace("rate = 40", "rate = 41"))
    runs = load_grid(write_grid_file(tmp_path, 'scenario = ["small.toml", "other.toml"]')).runs
    assert [each.labels for each in runs] == [{"scenario": "small.toml"}, {"scenario": "other.toml"}]


def test_a_whole_table_can_be_a_value_and_missing_tables_are_made(tmp_path: Path) -> None:
    axes = 'protocol = [{ name = "token-site", options = { site = "B" } }, { name = "hybrid" }]'
    first, second = plan_of(tmp_path, axes).runs
    assert first.labels["protocol"] == '{"name":"token-site","options":{"site":"B"}}'
    assert (first.scenario.protocol.options, second.scenario.protocol.name) == ({"site": "B"}, "hybrid")
    (run,) = plan_of(tmp_path, '"protocol.options.site" = ["B"]', SCENARIO.replace('"hybrid"', '"token-site"')).runs
    assert run.scenario.protocol.options == {"site": "B"}


def test_columns_need_no_quotes() -> None:
    assert column_name("lan[0].sites[12]") == "lan_0_sites_12"


@pytest.mark.parametrize(
    ("grid", "said"),
    [
        ("scenario = [", "grid.toml: is not TOML"),
        ("[grid]", "grid.toml: scenario: missing"),
        ('scenario = "none.toml"', "none.toml: cannot be read"),
        ("scenario = []", "grid.toml: scenario: expected at least one"),
        ('scenario = "small.toml"\ngird = 1', "grid.toml: gird: unknown key, did you mean grid"),
    ],
)
def test_a_wrong_file_is_named(grid: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(WrongUse, match=said):
        load_grid(write_grid_file(tmp_path, grid))


@pytest.mark.parametrize(
    ("axes", "said"),
    [
        ("duration_s = 3", "grid.duration_s: expected a list of values, not 3"),
        ("duration_s = []", "grid.duration_s: expected a list of values, not an empty one"),
        ('"lan[" = [1]', r'grid."lan\[": expected a key of a scenario'),
        ('"lan[2].delay_ms" = [1]', r"has 2 entries there, and \[2\] is asked for"),
        ('"seed[0]" = [1]', "the scenario has no seed"),
        ('"lan.delay_ms" = [1]', "delay_ms would have to be inside a table"),
        (
            '"traffic[0].rates" = [1]',
            r"traffic\[0\].rates = 1: traffic\[0\].rates: unknown key, did you mean rate",
        ),
        ('"protocol.name" = ["hybird"]', 'protocol.name = "hybird": protocol.name: .*did you mean hybrid'),
        ("seed = { first = 1, count = 2 }", r"grid.seed: expected a list of whole numbers, \{ from"),
        ("seed = { from = 1 }", "grid.seed: expected a list of whole numbers"),
        ('seed = { count = "3" }', "grid.seed: expected a list of whole numbers"),
        ("seed = { count = 0 }", "grid.seed.count: expected at least 1"),
        ('seed = ["a"]', "grid.seed: expected a list of whole numbers"),
        (f"duration_s = [1, 2]\nseed = {{ count = {RUNS_MAX} }}", "grid: makes 2,000,000 runs, expected at most"),
    ],
)
def test_a_mistake_names_file_and_key(axes: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(WrongUse, match=said) as raised:
        plan_of(tmp_path, axes)
    assert str(raised.value).startswith(str(tmp_path / "grid.toml"))
    assert "\n" not in str(raised.value)
