"""The code of the project as syntax trees."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "ordercast"


def modules(*folders: str) -> list[Path]:
    """All Python files below these folders of the repository."""
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def tree_of(path: Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def room_of(path: Path) -> str:
    """The first folder below the package; empty for a file of the package itself, but for the one that is a command."""
    parts = path.relative_to(PACKAGE).parts
    if parts == ("__main__.py",):
        return "cli"
    return parts[0] if len(parts) > 1 else ""


def imports(tree: ast.AST) -> Iterator[str]:
    """Every module that is imported, wherever in the file, by its full name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            assert node.module is not None
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def imported_rooms(tree: ast.AST) -> set[str]:
    """The rooms of the package that are imported."""
    return {name.split(".")[1] for name in imports(tree) if name.startswith("ordercast.")}


def imported_packages(tree: ast.AST) -> set[str]:
    """The top names of all that is imported."""
    return {name.split(".")[0] for name in imports(tree)}
