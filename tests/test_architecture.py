"""The rules between the rooms of the package (docs/ARCHITECTURE.md)."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.set_iteration import set_iterations
from tests.source import PACKAGE, imported_packages, imported_rooms, modules, room_of, tree_of

MAY_IMPORT: dict[str, tuple[str, ...]] = {
    "": ("client", "core"),
    "core": (),
    "planning": ("core",),
    "protocols": ("core", "planning"),
    "records": ("core",),
    "simulator": ("core", "planning", "protocols", "records"),
    "verify": ("core", "planning", "protocols", "simulator"),
    "site": ("core", "planning", "protocols", "records"),
    "client": ("core", "site"),
    "studies": ("core", "planning", "protocols", "records", "simulator", "verify"),
    "pipeline": ("core", "planning", "protocols", "records", "simulator", "verify"),
    "cli": ("core", "planning", "protocols", "records", "simulator", "site", "verify", "studies", "client", "pipeline"),
}
"""For each room those that it may import, beside itself. A new room needs a line here."""

HEAVY = ("cryptography", "matplotlib", "numpy", "pandas", "pyarrow", "pyspark", "rich", "scipy")
IMPURE = ("asyncio", "datetime", "os", "random", "secrets", "select", "signal", "socket", "threading", "time", "uuid")
FILES = modules("src")

every_file = pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
every_protocol_file = pytest.mark.parametrize(
    "path",
    [path for path in FILES if room_of(path) == "protocols"],
    ids=lambda path: str(path.relative_to(PACKAGE)),
)


def test_every_room_has_its_rule() -> None:
    assert {room_of(path) for path in FILES} == set(MAY_IMPORT)


@every_file
def test_rooms_import_only_what_they_may(path: Path) -> None:
    rooms = imported_rooms(tree_of(path)) - {"__version__"}
    assert rooms <= {room_of(path), *MAY_IMPORT[room_of(path)]}


@every_file
def test_of_the_client_only_two_files_know_a_site(path: Path) -> None:
    if room_of(path) == "client" and path.name not in ("embedded.py", "testing.py"):
        assert "site" not in imported_rooms(tree_of(path))


@every_file
def test_the_core_needs_no_more_than_msgspec(path: Path) -> None:
    if room_of(path) == "core":
        assert imported_packages(tree_of(path)) <= {"ordercast", "msgspec", *sys.stdlib_module_names}


@every_protocol_file
def test_protocols_touch_no_clock_no_socket_and_no_chance(path: Path) -> None:
    packages = imported_packages(tree_of(path))
    assert packages.isdisjoint(IMPURE)
    assert packages <= {"ordercast", "msgspec", *sys.stdlib_module_names}


@every_protocol_file
def test_protocols_iterate_no_sets(path: Path) -> None:
    assert set_iterations(tree_of(path)) == []


@every_file
def test_of_all_planning_only_the_limits_need_numbers(path: Path) -> None:
    if room_of(path) == "planning" and path.name != "limits.py":
        assert imported_packages(tree_of(path)).isdisjoint({"numpy", "scipy"})


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]])
def test_help_answers_without_heavy_imports(arguments: list[str]) -> None:
    code = (
        "import sys\n"
        "from ordercast.cli.main import main\n"
        f"main({arguments!r}, standalone_mode=False)\n"
        f"sys.exit(' '.join(name for name in {HEAVY!r} if name in sys.modules))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.strip() == ""
    assert "ordercast" in done.stdout


# --- the checks themselves ---


@pytest.mark.parametrize(
    "code",
    [
        "for x in {1, 2}: pass",
        "for x in set(things): pass",
        "[x for x in {y for y in z}]",
        "tuple({1, 2})",
        "list(frozenset(z))",
        "[*{1, 2}]",
        "mine = {1}\nfor x in mine | other: pass",
        "class A:\n    held: set[int]\n    def f(self):\n        return next(iter(self.held))",
        "def f(a: frozenset[int] | None):\n    return [x for x in a]",
        "a = {1}\nfor x in a.union(b): pass",
        "a = set()\na.pop()",
        "', '.join({'a', 'b'})",
    ],
)
def test_an_iteration_over_a_set_is_found(code: str) -> None:
    assert len(set_iterations(ast.parse(code))) == 1


@pytest.mark.parametrize(
    "code",
    [
        "for x in sorted({1, 2}): pass",
        "x in {1, 2}",
        "len({1, 2}), min({1, 2}), sum({1})",
        "for x in {1: 2}: pass",
        "a = {1}\nb = a | {2}\nassert b >= a",
        "a = [1]\na.pop()",
        "for x in (1, 2): pass",
    ],
)
def test_what_does_not_depend_on_the_order_of_a_set_is_not(code: str) -> None:
    assert set_iterations(ast.parse(code)) == []


def test_imports_are_found_wherever_they_stand() -> None:
    tree = ast.parse(
        "import os.path\nfrom ordercast.core import ids\n"
        "def f():\n    from ordercast.cli.main import main\n    import numpy as np\n"
    )
    assert imported_rooms(tree) == {"core", "cli"}
    assert imported_packages(tree) == {"os", "ordercast", "numpy"}
