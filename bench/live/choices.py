"""Options that name several things, with commas between."""

from __future__ import annotations

from collections.abc import Sequence

import click


def numbers(text: str, option: str) -> tuple[int, ...]:
    """Whole numbers."""
    try:
        return tuple(int(part) for part in text.split(",") if part)
    except ValueError:
        raise click.UsageError(f"{option}: expected whole numbers with commas between, not {text!r}") from None


def names(text: str, known: Sequence[str], option: str) -> tuple[str, ...]:
    """Some of what is known."""
    named = tuple(part for part in text.split(",") if part)
    for name in named:
        if name not in known:
            raise click.UsageError(f"{option}: expected some of {', '.join(known)}, not {name!r}")
    return named
