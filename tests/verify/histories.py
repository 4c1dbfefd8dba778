"""Histories written by hand."""

from __future__ import annotations

from ordercast.core.ids import MessageId, SiteId, pack_message_id
from ordercast.core.trace import Kind
from ordercast.verify.history import Happening, SiteHistory

KINDS = {"!": Kind.MULTICAST, "?": Kind.RECEIVE}


def message(text: str) -> MessageId:
    """`b2` is message 2 of site B."""
    return pack_message_id(SiteId("abc".index(text[0])), 0, int(text[1:]))


def history(name: str, text: str, *, crashed: bool = False) -> SiteHistory:
    """`!a0 b0` is a site that multicasts message 0 of A and then delivers message 0 of B; `?b0` receives it."""
    happenings = [Happening(KINDS.get(word[0], Kind.DELIVER), message(word.lstrip("!?"))) for word in text.split()]
    return SiteHistory(SiteId("ABC".index(name)), name, happenings, crashed)


def histories(**texts: str) -> list[SiteHistory]:
    """`histories(A="!a0 a0", B="a0")`; a text that ends in `X` is of a site that has crashed."""
    return [history(name, text.removesuffix("X"), crashed=text.endswith("X")) for name, text in texts.items()]
