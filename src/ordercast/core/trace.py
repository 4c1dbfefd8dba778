"""The trace record: one flat schema out of every host. Arrow and Spark schemas are derived from it.

What kinds need beside `run`, `site`, `incarnation`, `index` and `at_us` (`core.recorder` writes them all):

- `multicast`: the message, `level`, `size`, `group`; `depends` unless its level is fifo.
- `deliver`: the message, `level`, `size`, `group`, `final`. Agreed and safe ones have `delivery_index`, and on the full
  stack `position`; `view` is then the view that the message follows in the order (null from `recover` or `retract`
  on until a view comes up). Fifo and causal ones have neither, and `view` is the one that is installed.
- `order`: a message has its position in this site's log. Of safe messages, which are delivered later; and, with a
  `delivery_index`, of a message that came up before and is not delivered again.
- `finalize`: everything below `position` is final here. `retract`: everything from `position` on is void.
- `view`: the site installs `view`; `members`, `size` is how many of them must hold what is delivered as safe, and
  `detail` says whether it comes from the view before together with others (`CONTINUES`) or not (`JOINS`). With
  `position` and `delivery_index`: the view comes up in the order.
- `role`: a decision, with its reasons in `detail`; with `position`: a change of role of `origin` comes up in the order.
- `block`: no primary view can be had. `leave`: the others have let the site go, as it had asked: `view` is its last.
  `crash`: the last record of this life.
- `recover`: deliveries go on at `position`; what is below is final, and this site has it otherwise. The first record of
  a life that follows another, and wherever a site begins with a snapshot. Without `position`: recording begins, or goes
  on, in the midst of a life.
- `end`: the last record of a life whose recording has come to an end in good order; `final` says whether nothing was
  under way any more. A life without `end` and `crash` is cut off: nobody knows what it did after its last record.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

CONTINUES = "continues"
JOINS = "joins"


class Kind(enum.StrEnum):
    """What happened."""

    MULTICAST = "multicast"
    SEND = "send"
    RECEIVE = "receive"
    TICKET = "ticket"
    ORDER = "order"
    DELIVER = "deliver"
    FINALIZE = "finalize"
    RETRACT = "retract"
    STABLE = "stable"
    VIEW = "view"
    ROLE = "role"
    CLOCK = "clock"
    SUSPECT = "suspect"
    BLOCK = "block"
    LEAVE = "leave"
    CRASH = "crash"
    RECOVER = "recover"
    END = "end"


class TraceRecord(Struct, frozen=True, kw_only=True, gc=False):
    """One thing that happened at one site. Columns that a kind does not use are null."""

    run: str
    """Names the run, so that traces of many can lie in one place."""
    site: int
    incarnation: int
    index: int
    """Counts all records of a (site, incarnation), without gaps."""
    at_us: int
    """Virtual time, or wall-clock time of a live site."""
    kind: Kind
    group: str | None = None
    view: int | None = None
    members: tuple[int, ...] | None = None
    """The members of a view, on view records only."""
    message: int | None = None
    """Packed origin, incarnation and seq (`core.ids`)."""
    origin: int | None = None
    origin_incarnation: int | None = None
    seq: int | None = None
    level: str | None = None
    position: int | None = None
    delivery_index: int | None = None
    """Counts what comes up in the order at a (site, incarnation), without gaps."""
    final: bool | None = None
    depends: tuple[int, ...] | None = None
    """The fifo and causal messages that directly precede, of each origin the newest."""
    size: int | None = None
    digest: int | None = None
    detail: str | None = None
    """In words: on role records what was measured, and why the role changes."""


class TraceSink(Protocol):
    """Where records go."""

    def write(self, record: TraceRecord) -> None:
        """One record."""

    def write_bundle(self, first: TraceRecord, sizes: Sequence[int]) -> None:
        """The records of a bundle's messages, one for each size. They differ from the first in `size`, and in what
        counts up: index, message, seq, position and delivery_index.
        """
