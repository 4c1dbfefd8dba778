"""Links in Markdown files to other files of the repository, and to headings."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

IGNORED = (".git", ".venv", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", "__pycache__", "out", "dist")
"""Folders that are not part of the repository."""

_LINK = re.compile(r"\[[^\]]*\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)|^\s*\[[^\]]+\]:\s*(\S+)", re.MULTILINE)
_FENCE = re.compile(r"^\s*(```|~~~)")
_INLINE_CODE = re.compile(r"`[^`]*`")
_HEADING = re.compile(r"#{1,6}\s+(.*?)\s*#*\s*$")


def files(root: Path, suffix: str = "") -> Iterator[Path]:
    """All files of the repository whose name ends so."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in IGNORED)
        yield from (Path(folder, name) for name in sorted(names) if name.endswith(suffix))


def prose(text: str) -> Iterator[tuple[int, str]]:
    """(line number, line) outside code blocks."""
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        if _FENCE.match(line):
            inside = not inside
        elif not inside:
            yield number, line


def anchors(text: str) -> list[str]:
    """The anchors that a Markdown renderer gives to the headings of a text."""
    found: list[str] = []
    for _, line in prose(text):
        if heading := _HEADING.match(line):
            words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1]).lower()
            anchor = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
            taken = sum(1 for other in found if re.fullmatch(re.escape(anchor) + r"(-\d+)?", other))
            found.append(f"{anchor}-{taken}" if taken else anchor)
    return found


def broken_links(root: Path) -> list[str]:
    """One line for each link that leads nowhere."""
    return [
        f"{page.relative_to(root)}:{number}: {target} {reason}"
        for page in files(root, ".md")
        for number, line in prose(page.read_text(encoding="utf-8"))
        for match in _LINK.finditer(_INLINE_CODE.sub("`", line))
        if (target := match[1] or match[2]) and (reason := _wrong(page, target))
    ]


def _wrong(page: Path, target: str) -> str | None:
    """Why the target of a link on this page does not exist; None if it does, or lies elsewhere."""
    if re.match(r"[a-z][a-z+.-]*:", target):
        return None
    path, _, anchor = unquote(target).partition("#")
    file = page.parent / path if path else page
    if not file.exists():
        return "does not exist"
    if anchor and file.suffix == ".md" and anchor not in anchors(file.read_text(encoding="utf-8")):
        return f"has no heading {anchor!r}"
    return None
