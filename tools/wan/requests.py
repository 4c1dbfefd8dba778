"""What can be asked of a running emulation, and what it answers: JSON lines over its Unix socket."""

from __future__ import annotations

import socket
from pathlib import Path

import msgspec
from msgspec import Struct

from ordercast.core.errors import NotFit, WrongUse

LINE_BYTES_MAX = 1 << 20
ANSWER_WAIT_S = 30.0


class Change(Struct, frozen=True, forbid_unknown_fields=True, tag_field="do", tag="set", kw_only=True):
    """Give pairs another delay, variance or loss; what is left out stays."""

    sites: list[str]
    to: list[str] = []
    """Empty: all others."""
    one_way: bool = False
    delay_ms: float | None = None
    variance: float | None = None
    """In ms²."""
    loss: float | None = None
    """A probability."""


class Cut(Struct, frozen=True, forbid_unknown_fields=True, tag_field="do", tag="cut", kw_only=True):
    """Let nothing pass between these sites and those, or only not from these to those."""

    sites: list[str]
    to: list[str] = []
    """Empty: all others."""
    one_way: bool = False


class Heal(Struct, frozen=True, forbid_unknown_fields=True, tag_field="do", tag="heal", kw_only=True):
    """End cuts in both directions: all of them, or those between these sites and those."""

    sites: list[str] = []
    to: list[str] = []


class Report(Struct, frozen=True, forbid_unknown_fields=True, tag_field="do", tag="status"):
    """Tell settings and counters."""


class Down(Struct, frozen=True, forbid_unknown_fields=True, tag_field="do", tag="down"):
    """Take everything down."""


Request = Change | Cut | Heal | Report | Down


class SiteStatus(Struct, frozen=True):
    """Where a site is."""

    name: str
    namespace: str
    address: str


class PairStatus(Struct, frozen=True):
    """Settings and counters of one direction between two sites. Counters are of frames since the beginning."""

    source: str
    to: str
    delay_ms: float
    variance: float
    loss: float
    cut: bool
    carried: int
    bytes: int
    """Of the frames carried, headers included."""
    queued_bytes: int
    """Under way now."""
    dropped_by_cut: int
    dropped_by_loss: int
    dropped_by_overflow: int
    """Too much was under way already."""
    dropped_by_receiver: int
    """Its device was down."""


class Status(Struct, frozen=True):
    """All there is to know of a running emulation."""

    number: int
    realtime: bool
    """Whether the switch runs at real-time priority; if not, a busy machine makes it late."""
    mtu: int
    offload: bool
    late_frames: int
    """That left more than a millisecond after their time, because the switch could not run."""
    late_ms_max: float
    sites: list[SiteStatus]
    pairs: list[PairStatus]


class Answer(Struct, frozen=True, omit_defaults=True):
    """To every request one line."""

    error: str = ""
    """What was wrong with it; empty if it was carried out."""
    status: Status | None = None


def ask(path: Path, request: Request) -> Answer:
    """Send one request and wait until it has been carried out."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(ANSWER_WAIT_S)
        try:
            connection.connect(str(path))
            connection.sendall(msgspec.json.encode(request) + b"\n")
            with connection.makefile("rb") as lines:
                line = lines.readline()
        except OSError as error:
            raise NotFit(
                f"{path}: nobody answers ({error}); `python -m tools.wan clean` removes what is left"
            ) from error
    if not line:
        raise NotFit(f"{path}: the emulation has ended")
    answer = msgspec.json.decode(line, type=Answer)
    if answer.error:
        raise WrongUse(answer.error)
    return answer
