"""Habits of the repository: what a reviewer should not have to look for."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest
from tools.links import anchors, broken_links, files

from ordercast.cli.main import COMMANDS
from tests.source import ROOT, modules, tree_of
from tools import docs

FILE_LINES_MAX = 400
FUNCTION_LINES_MAX = 60

CODE = modules("src", "tests", "tools", "bench", "examples")
PAGES = list(files(ROOT, ".md"))
TEXTS = [path for path in files(ROOT) if path.suffix not in (".png", ".svg", ".parquet", ".pyc")]

SPOKEN = re.compile(r"(?:^[#\s]*|[`$]\s*|dev run )ordercast ([a-z][\w-]*)", re.MULTILINE)
"""A command of `ordercast` where somebody is told to run it."""

every_module = pytest.mark.parametrize("path", CODE, ids=lambda path: str(path.relative_to(ROOT)))


def found_in(paths: list[Path], pattern: str) -> list[str]:
    """FILE:LINE: TEXT of each line that matches."""
    return [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in paths
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1)
        if re.search(pattern, line)
    ]


# --- every file ---


def test_the_repository_is_seen() -> None:
    """Else all that follows could pass by finding nothing."""
    assert ROOT / "dev" in TEXTS
    assert ROOT / "README.md" in PAGES
    assert len(CODE) > 100


def test_no_file_names_a_package_index() -> None:
    assert found_in(TEXTS, r":/{2}\S*/simple\b|index-url\s*=|registry\s*=\s*.?http") == []


def test_no_file_names_a_place_on_one_machine() -> None:
    here = [re.escape(f"{folder}/") for folder in (ROOT, ROOT.parent, Path.home()) if len(folder.parts) > 1]
    assert found_in(TEXTS, "|".join([*here, r"/(home|Users)/\w"])) == []


def test_nothing_is_left_for_later() -> None:
    assert found_in(TEXTS, r"\bTO[D]O\b|\bFIX[M]E\b|\bXX[X]\b") == []


# --- code ---


@every_module
def test_a_module_says_what_it_is(path: Path) -> None:
    tree = tree_of(path)
    assert ast.get_docstring(tree) or not tree.body, "needs a docstring"


@every_module
def test_files_are_small(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) < FILE_LINES_MAX


@every_module
def test_functions_are_small(path: Path) -> None:
    long = [
        f"{node.name}: {lines} lines"
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (lines := (node.end_lineno or 0) - node.lineno + 1) >= FUNCTION_LINES_MAX
    ]
    assert long == []


def test_imports_can_be_named_by_folder() -> None:
    """Test files of the same name in two folders need those to be packages."""
    names = [path.name for path in modules("tests") if path.name.startswith("test_")]
    doubled = [path for path in modules("tests") if names.count(path.name) > 1]
    assert [str(path) for path in doubled if not (path.parent / "__init__.py").exists()] == []


# --- the two commands ---


def dev_commands() -> list[str]:
    """What `./dev` runs, by the labels of its `case`s."""
    script = (ROOT / "dev").read_text(encoding="utf-8")
    return re.findall(r"^    ([a-z]+)\)", script, re.MULTILINE)


def test_dev_is_a_posix_script() -> None:
    assert (ROOT / "dev").read_text(encoding="utf-8").startswith("#!/bin/sh\n")
    for script in ("dev", ".ci/run"):
        assert subprocess.run(["sh", "-n", ROOT / script], capture_output=True, check=False).stderr == b""
        assert (ROOT / script).stat().st_mode & 0o111, f"{script} must be executable"


def test_dev_tells_all_that_it_can_do() -> None:
    usage = subprocess.run(["sh", ROOT / "dev", "help"], capture_output=True, text=True, check=True).stdout
    assert sorted(re.findall(r"^  ([a-z]+) ", usage, re.MULTILINE)) == sorted(dev_commands())


def test_make_has_the_same_names() -> None:
    """But for those that take arguments of their own, or need more than the environment."""
    names = (ROOT / "Makefile").read_text(encoding="utf-8").splitlines()[0].removeprefix(".PHONY:").split()
    assert sorted(names) == sorted(name for name in dev_commands() if name not in ("run", "lock"))


# --- what it needs ---


def locked() -> list[str]:
    """The entries of the lock: a requirement with its hashes each."""
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8").replace("\\\n", " ")
    return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]


def test_the_lock_pins_everything_by_hash() -> None:
    for line in locked():
        assert re.match(r"[\w.-]+(\[[\w,-]+\])?==\S+ ", line), line
        assert "--hash=sha256:" in line, line


def test_the_lock_names_no_place() -> None:
    assert [line for line in locked() if ":/" in line or line.startswith("-")] == []


def test_the_lock_holds_what_installs_the_project() -> None:
    names = [re.split(r"[=\[ ]", line)[0] for line in locked()]
    assert {"hatchling", "editables", "msgspec", "click"} <= set(names)


# --- documentation ---


def test_every_link_leads_somewhere() -> None:
    assert broken_links(ROOT) == []


def code_in(page: Path) -> str:
    """What a page shows as code: blocks, and words in back quotes."""
    text = page.read_text(encoding="utf-8")
    return "\n".join([*re.findall(r"```.*?```", text, re.DOTALL), *re.findall(r"`[^`\n]+`", text)])


def test_pages_name_only_commands_that_exist() -> None:
    texts = [code_in(page) for page in PAGES] + [path.read_text(encoding="utf-8") for path in files(ROOT, ".toml")]
    named = [name for text in texts for name in re.findall(r"\./dev ([a-z]+)", text)]
    assert set(named) <= set(dev_commands())
    spoken = [name for text in texts for name in SPOKEN.findall(text)]
    assert set(spoken) <= set(COMMANDS)
    assert "demo" in named
    assert "simulate" in spoken


def test_the_page_of_the_command_line_is_current() -> None:
    assert docs.CLI_PAGE.read_text(encoding="utf-8") == docs.cli_page(), "run ./dev docs"


def test_the_page_of_the_command_line_has_every_command() -> None:
    assert all(f"\n## ordercast {name}\n" in docs.cli_page() for name in COMMANDS)


# --- the checks themselves ---


def test_broken_links_are_found(tmp_path: Path) -> None:
    (tmp_path / "there.md").write_text("# A heading, `with` code\n\n# Twice\n\n# Twice\n")
    (tmp_path / "page.md").write_text(
        "[a](there.md) [b](there.md#a-heading-with-code) [c](https://example.org/x) [d](#mine) ![e](there.md#twice-1)\n"
        "# Mine\n[f](gone.md) and [g](there.md#gone)\n```\n[h](no-link.md)\n```\n`[i](no-link.md)`\n[j]: gone.txt\n"
    )
    assert broken_links(tmp_path) == [
        "page.md:3: gone.md does not exist",
        "page.md:3: there.md#gone has no heading 'gone'",
        "page.md:8: gone.txt does not exist",
    ]


def test_anchors_are_those_of_a_renderer() -> None:
    assert anchors("# One Two\n## One, two!\n### [Link](x.md) & co\n```\n# no\n```\n") == [
        "one-two",
        "one-two-1",
        "link--co",
    ]
