"""`ordercast study` from the command line to the report, on a study that takes no time."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Sequence
from functools import partial
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from msgspec.structs import replace

from ordercast.cli.study import command
from ordercast.core.errors import WrongUse
from ordercast.studies import nine_scenarios
from ordercast.studies.framework import study as framework
from ordercast.studies.framework.claims import Claim, Verdict, outcome
from ordercast.studies.framework.grid import run_grid
from ordercast.studies.framework.results import Results, Run
from ordercast.studies.framework.study import Size, Study
from ordercast.studies.framework.tables import Table


def tiny(study: Study, *claims: Claim) -> Study:
    """The same study with runs so short that their figures mean nothing, and other claims."""

    def grid(size: Size) -> list[Run]:
        short = {"duration_s": 1.5, "warmup_s": 0.2}
        return [replace(run, scenario={**run.scenario, **short}) for run in study.grid(Size.QUICK)]

    return replace(study, grid=grid, claims=claims)


HOLDS = Claim("One is one.", "nowhere", lambda results: outcome(True, "1"))
DIFFERS = Claim("Two is one.", "nowhere", lambda results: outcome(False, "2", explained=True, because="it is two"))
FAILS = Claim("Three is <one>.", "nowhere", lambda results: outcome(False, "3"))


def invoke(arguments: Sequence[str]) -> Result:
    """As the main command would: click keeps the names of the help option that a command was first invoked with."""
    return CliRunner().invoke(command, list(arguments), help_option_names=["-h", "--help"])


def run(monkeypatch: pytest.MonkeyPatch, study: Study, *arguments: str) -> Result:
    """With one process, so that nothing has to be started."""
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    monkeypatch.setattr(framework, "all_studies", lambda: [study])
    return invoke(arguments)


class References(HTMLParser):
    """Whatever a page would have to fetch or could lead to."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.found += [value or "" for name, value in attrs if name in ("src", "href", "srcset", "data", "action")]


def test_the_list_names_every_study() -> None:
    listed = invoke(["--list"])
    assert listed.exit_code == 0
    assert all(name in listed.stdout for name in ("nine-scenarios", "rate-synchronisation", "thirty-processes"))
    as_data = json.loads(invoke(["--list", "--json"]).stdout)
    assert [each["study"] for each in as_data] == [study.name for study in framework.all_studies()]


def test_a_study_prints_its_table_and_verdicts_and_writes_a_report(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    out = tmp_path / "deep" / "out"
    done = run(monkeypatch, tiny(nine_scenarios.STUDY, HOLDS, DIFFERS), "nine-scenarios", "--out", str(out))
    assert done.exit_code == 0, done.output
    assert "HLLHH" in done.stdout
    assert "reproduced" in done.stdout
    assert "… it is two." in done.stdout
    assert "2 of 3 claims reproduced, 1 differs for a reason that is understood." in done.stdout
    assert done.stdout.rstrip().endswith(f"Report with pictures: {out / 'report.html'}")
    assert sorted(path.name for path in out.iterdir()) == [
        "nine-scenarios.png",
        "nine-scenarios.svg",
        "report.html",
        "report.md",
    ]
    assert (out / "nine-scenarios.png").read_bytes().startswith(b"\x89PNG")
    assert "![" in (out / "report.md").read_text()
    assert "(nine-scenarios.svg)" in (out / "report.md").read_text()


def test_the_html_report_refers_to_nothing_outside_itself(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    run(monkeypatch, tiny(nine_scenarios.STUDY, HOLDS, FAILS), "nine-scenarios", "--out", str(tmp_path))
    page = (tmp_path / "report.html").read_text()
    references = References()
    references.feed(page)
    assert references.tags.isdisjoint({"link", "script", "iframe", "object", "base"})
    assert "url(" not in page
    assert "@import" not in page
    images = [each for each in references.found if not each.startswith("#")]
    assert len(images) == 1
    head, _, data = images[0].partition(",")
    assert head == "data:image/svg+xml;base64"
    picture = base64.b64decode(data).decode()
    assert all(target.startswith("#") for target in re.findall(r'href="([^"]*)"', picture))
    assert "Three is &lt;one&gt;." in page


def test_several_studies_begin_with_a_table_of_all_claims(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    first = replace(tiny(nine_scenarios.STUDY, HOLDS, FAILS), name="first", grid=lambda size: [], tables=no_tables)
    second = replace(first, name="second", source="Figure <2>", pictures=(), claims=(DIFFERS,))
    first = replace(first, pictures=())
    monkeypatch.setattr(framework, "all_studies", lambda: [first, second])
    assert invoke(["all", "--out", str(tmp_path)]).exit_code == 1
    page, text = (tmp_path / "report.html").read_text(), (tmp_path / "report.md").read_text()
    for name, number in (("first", 1), ("first", 2), ("first", 3), ("second", 1), ("second", 2)):
        target = f"{name}-claim-{number}"
        assert page.index(f'href="#{target}"') < page.index(f'id="{target}"')
        assert text.index(f"(#{target})") < text.index(f'id="{target}"')
    assert 'href="#second"' in page
    assert 'id="second"' in page
    assert "Figure &lt;2&gt;" in page
    assert "1 of 5 claims reproduced, 1 differs for a reason that is understood, 3 not reproduced." in page
    assert "1 of 5 claims reproduced, 1 differs for a reason that is understood, 3 not reproduced." in text
    assert "| [second](#second) | **differs, because** | [Two is one.](#second-claim-1) |" in text


def test_a_report_tells_grid_metric_and_what_was_published(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    claim = Claim("One is one.", "Figure 1", lambda results: outcome(True, "1"), published="“one”")
    done = run(
        monkeypatch, tiny(nine_scenarios.STUDY, claim, HOLDS), "nine-scenarios", "--quick", "--out", str(tmp_path)
    )
    assert "Published: “one”." in done.stdout
    page, text = (tmp_path / "report.html").read_text(), (tmp_path / "report.md").read_text()
    for report in (page, text):
        assert nine_scenarios.STUDY.metric in report
        assert "45 runs, size quick; source: quasi-periodic; estimates: known; scenario: 1, 2, 3, 4," in report
    assert "<td>1</td><td>“one”</td><td>Figure 1</td>" in page
    assert "| One is one. | 1 | “one” | Figure 1 |" in text
    assert "| One is one. | 1 | – | nowhere |" in text


def no_tables(results: Results) -> list[Table]:
    return []


def test_a_missed_claim_is_exit_code_1(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    done = run(monkeypatch, tiny(nine_scenarios.STUDY, FAILS), "all", "--out", str(tmp_path))
    assert done.exit_code == 1
    assert "not reproduced" in done.stdout
    assert "1 of 2 claims reproduced, 1 not reproduced." in done.stdout


def test_json_is_one_object_and_the_same_bytes_every_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    study = tiny(nine_scenarios.STUDY, HOLDS, FAILS)
    outputs = [run(monkeypatch, study, "nine-scenarios", "--json", "--out", str(tmp_path)) for _ in range(2)]
    assert outputs[0].stdout_bytes == outputs[1].stdout_bytes
    assert outputs[0].exit_code == 1
    value = json.loads(outputs[0].stdout)
    assert value["report"] == str(tmp_path / "report.html")
    (only,) = value["studies"]
    assert only["good"] is False
    assert only["runs"] == 45
    assert only["metric"] == study.metric
    assert only["grid"]["scenario"] == list(range(1, 10))
    assert [claim["published"] for claim in only["claims"]] == [None] * 3
    assert [claim["verdict"] for claim in only["claims"]] == ["reproduced", "not reproduced", "reproduced"]
    assert len(only["tables"][0]["rows"]) == 9
    assert all(isinstance(row[column], float) for row in only["tables"][0]["rows"] for column in (2, 6, 7, 8))


def test_equal_results_give_equal_pictures(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    study = tiny(nine_scenarios.STUDY, HOLDS)
    for name in ("first", "second"):
        run(monkeypatch, study, "nine-scenarios", "--out", str(tmp_path / name))
    for file in ("nine-scenarios.svg", "nine-scenarios.png", "report.html", "report.md"):
        assert (tmp_path / "first" / file).read_bytes() == (tmp_path / "second" / file).read_bytes(), file


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((), "study: expected a NAME: complex-scenario, crash, "),
        (("ten-scenarios",), "no study 'ten-scenarios': expected one of "),
        (("nine-scenarios", "--quick", "--full"), "expected --quick or --full, not both"),
    ],
)
def test_wrong_use_is_named(arguments: tuple[str, ...], expected: str) -> None:
    error = invoke(arguments).exception
    assert isinstance(error, WrongUse)
    assert expected in str(error)


def test_a_file_is_no_place_for_a_report(tmp_path: Path) -> None:
    file = tmp_path / "out"
    file.write_text("")
    error = invoke(["nine-scenarios", "--out", str(file)]).exception
    assert isinstance(error, WrongUse)
    assert str(error) == f"--out: {file} is a file, expected a directory"


def test_a_real_study_in_miniature_judges_its_own_claims(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    study = tiny(nine_scenarios.STUDY, *nine_scenarios.STUDY.claims)
    done = framework.conduct(study, Size.QUICK, runner=partial(run_grid, workers=1))
    verdicts = {claim.text[:20]: found.verdict for claim, found in done.outcomes}
    assert verdicts["Every run delivers o"] is Verdict.REPRODUCED
    assert len(done.results.entries) == 45
    assert len(verdicts) == 7
