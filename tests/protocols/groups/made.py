"""Bundles and entries, made in a few letters."""

from __future__ import annotations

from ordercast.core.ids import SiteId, ViewId, pack_message_id
from ordercast.core.messages import Act, Author, Bundle, Level
from ordercast.core.views import View
from tests.layers import sites

A, B, C = sites(3)
VIEW = View(ViewId(1), (A, B, C))


def bundle(
    origin: SiteId,
    seq: int,
    level: Level = Level.AGREED,
    *,
    bodies: int = 1,
    life: int = 0,
    past: tuple[int, ...] = (),
    ordered_past: tuple[int, ...] = (),
) -> Bundle:
    """The bundle that begins with a site's so-manieth message."""
    return Bundle(pack_message_id(origin, life, seq), (b"",) * bodies, level, past, ordered_past)


def authored(
    origin: SiteId,
    seq: int,
    session: int,
    number: int,
    *,
    bodies: int = 1,
    act: Act = Act.SPEAKS,
    group: str = "orders",
    life: int = 0,
    void: tuple[int, ...] = (),
) -> Bundle:
    """A bundle of a participant, whose name is that of its session."""
    author = Author(group, f"p{session}", session, number, act)
    return Bundle(pack_message_id(origin, life, seq), (b"",) * bodies, author=author, void=void)
