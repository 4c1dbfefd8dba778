"""`ordercast plan`: roles, expectations for each scheme and the limit, and how near the expectations come."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from ordercast.cli.main import main
from ordercast.cli.plan import Plan, make_plan
from ordercast.simulator.scenario import Scenario, load, parse
from ordercast.verify.run import run
from tests.cli.scenarios import MATRIX, SMALL, changed

NINE = Path(__file__).parents[2] / "examples" / "nine-scenarios"


def nine(number: int, **protocol: object) -> Scenario:
    """One of the nine scenarios, made shorter, with another protocol."""
    text = (NINE / f"scenario-{number}.toml").read_text(encoding="utf8")
    text = changed(text, "duration_s = 60", "duration_s = 30")
    options = "\n".join(f"{key} = {json.dumps(value).replace(':', ' =')}" for key, value in protocol.items())
    return parse(changed(text, 'name = "hybrid" ', f"{options} #").encode())


def expected(plan: Plan, protocol: str, chosen: str) -> float:
    (scheme,) = (each for each in plan.schemes if (each.protocol, each.chosen) == (protocol, chosen))
    assert scheme.last_ms is not None
    return scheme.last_ms


@pytest.mark.parametrize("number", [1, 4, 8])
def test_expectations_are_near_what_is_measured(number: int) -> None:
    """True rates and delays: within one per cent where few messages are waited for."""
    plan = make_plan(nine(number, name="hybrid"))
    for protocol, chosen, options in [
        ("hybrid", "heuristic", {}),
        ("token-site", "default", {}),
        ("token-site", "best", {"site": _best(plan)}),
    ]:
        measured = run(nine(number, name=protocol, options=options), with_limit=False).latency_ms
        assert measured.last is not None
        assert expected(plan, protocol, chosen) == pytest.approx(measured.last.mean, rel=0.01)


def _best(plan: Plan) -> str:
    (scheme,) = (each for each in plan.schemes if each.chosen == "best")
    site = scheme.options["site"]
    assert isinstance(site, str)
    return site


def test_expectations_by_sender_are_near_what_is_measured() -> None:
    scenario = nine(8, name="hybrid")
    (scheme,) = (each for each in make_plan(scenario).schemes if each.chosen == "heuristic")
    for name, summaries in run(scenario, with_limit=False).latency_ms.per_site.items():
        assert summaries.last is not None
        assert scheme.per_site_ms[name] == pytest.approx(summaries.last.mean, rel=0.03)


def test_symmetric_with_phases_that_mix() -> None:
    """Poisson sources have no phases, so one run of moderate length comes near the mean."""
    text = SMALL.replace("rate = 50", 'rate = 20\nsource = "poisson"').replace(
        "rate = 5\nfrom_s = 1\nuntil_s = 3", 'rate = 20\nsource = "poisson"'
    )
    text = changed(changed(text, "duration_s = 4", "duration_s = 100"), 'options = { active = ["A", "C"] }', "")
    scenario = parse(changed(text, '"hybrid"', '"rs-symmetric"').encode())
    measured = run(scenario, with_limit=False).latency_ms.last
    assert measured is not None
    assert expected(make_plan(scenario), "rs-symmetric", "") == pytest.approx(measured.mean, rel=0.08)


def test_roles_of_the_nine_scenarios() -> None:
    """Sites with high load are active; a passive site asks its own LAN where it can."""
    plan = make_plan(load(NINE / "scenario-6.toml"))
    assert plan.active == ["A", "D"]
    assert plan.sequencers == {"A": "A", "B": "A", "C": "A", "D": "D", "E": "D"}


def test_the_best_token_site_is_where_the_traffic_is() -> None:
    plan = make_plan(load(NINE / "scenario-8.toml"))
    assert _best(plan) == "D"
    assert expected(plan, "token-site", "best") < expected(plan, "token-site", "default")


def test_nothing_is_expected_below_the_limit() -> None:
    for path in sorted(NINE.glob("*.toml")):
        plan = make_plan(load(path))
        assert plan.limit_ms.last is not None
        assert all(scheme.last_ms is None or scheme.last_ms >= plan.limit_ms.last for scheme in plan.schemes)


def test_what_the_file_asks_for_is_among_the_schemes() -> None:
    given = [each for each in make_plan(parse(SMALL.encode())).schemes if each.chosen == "given"]
    assert [each.options for each in given] == [{"active": ["A", "C"]}]
    given = [each for each in make_plan(parse(MATRIX.encode())).schemes if each.chosen == "given"]
    assert [(each.protocol, each.options) for each in given] == [("token-site", {"site": "B"})]


def test_windows_make_a_source_slower() -> None:
    whole = changed(SMALL, "rate = 5\nfrom_s = 1\nuntil_s = 3", "rate = 2.5")
    assert make_plan(parse(SMALL.encode())).schemes == make_plan(parse(whole.encode())).schemes


def test_flush_is_expected_to_be_sooner() -> None:
    flush = changed(SMALL, 'estimates = "known"', 'tickets = "flush"')
    later, sooner = (make_plan(parse(text.encode())) for text in (SMALL, flush))
    assert expected(sooner, "rs-symmetric", "") < expected(later, "rs-symmetric", "")
    assert expected(sooner, "token-site", "best") == expected(later, "token-site", "best")


def test_json_and_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("s.toml").write_text(SMALL)
    plan = json.loads(CliRunner().invoke(main, ["plan", "s.toml", "--json"]).stdout)
    assert list(plan) == ["active", "sequencers", "schemes", "limit_ms"]
    assert list(plan["schemes"][0]) == ["protocol", "options", "chosen", "last_ms", "per_site_ms"]
    done = CliRunner().invoke(main, ["plan", "s.toml"])
    assert (done.exit_code, done.stderr) == (0, "")
    assert f"active are {', '.join(plan['active'])}; " in done.stdout
    lines = [line.split() for line in done.stdout.splitlines()]
    for scheme in plan["schemes"]:
        ratio = scheme["last_ms"] / plan["limit_ms"]["last"]
        assert [f"{scheme['last_ms']:,.1f}", f"{ratio:.2f}"] in [line[-2:] for line in lines]


def test_who_would_wait_for_ever_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """B never multicasts, so symmetric ordering waits for its next message in vain."""
    monkeypatch.chdir(tmp_path)
    Path("s.toml").write_text(MATRIX)
    plan = json.loads(CliRunner().invoke(main, ["plan", "s.toml", "--json"]).stdout)
    (symmetric,) = (scheme for scheme in plan["schemes"] if scheme["protocol"] == "rs-symmetric")
    assert (symmetric["last_ms"], symmetric["per_site_ms"]) == (None, {"A": None})
    lines = [line.split() for line in CliRunner().invoke(main, ["plan", "s.toml"]).stdout.splitlines()]
    assert ["rs-symmetric", "never", "-"] in lines


def test_closed_loops_have_no_rate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("s.toml").write_text(changed(SMALL, "rate = 5\n", "closed_loop = 5\n"))
    done = CliRunner().invoke(main, ["plan", "s.toml", "--json"])
    assert "closed loops have no rate of their own" in done.stderr
    assert json.loads(done.stdout)["schemes"] == json.loads(_planned(SMALL))["schemes"]


def _planned(text: str) -> str:
    Path("s.toml").write_text(text)
    return CliRunner().invoke(main, ["plan", "s.toml", "--json"]).stdout
