"""One life of one site, as its records go by, and what its participants multicast in it."""

from __future__ import annotations

from collections import deque

from msgspec import Struct, field

from ordercast.core.ids import INCARNATION_BITS, INCARNATIONS_MAX, SEQ_BITS, SEQS_MAX, MessageId, SiteId
from ordercast.core.trace import Kind, TraceRecord
from ordercast.verify.audit.sparse import Sparse

LifeId = int
"""Site and incarnation, packed as in a message id."""

Code = int
"""What stands at a position: a message's id; for control entries a negative number."""

NO_VIEW = 0


def life_of(message: int) -> LifeId:
    """The life in which a message was multicast."""
    return message >> SEQ_BITS


def seq_in(message: int) -> int:
    """Its sequence number there; the same as `core.ids.seq_of`, for plain integers."""
    return message & SEQS_MAX - 1


def life_name(life: LifeId) -> str:
    """As sentences call it."""
    incarnation = life & INCARNATIONS_MAX - 1
    return f"site {life >> INCARNATION_BITS}" + (f" in its life {incarnation}" if incarnation else "")


def code_of(record: TraceRecord) -> Code:
    """What a record puts at its position."""
    if record.kind is Kind.VIEW:
        return -2 - 2 * (record.view or NO_VIEW)
    if record.kind is Kind.ROLE:
        return -1 - 4 * (record.origin or 0) - 2 * (record.detail == "active")
    return -1 if record.message is None else record.message


def view_of(code: Code) -> int | None:
    """The view that comes up there, if it is one."""
    return (-code - 2) // 2 if code < 0 and code % 2 == 0 else None


def code_name(code: Code) -> str:
    """What stands at a position, in words."""
    if code >= 0:
        return message_name(code)
    view = view_of(code)
    if view is not None:
        return f"view {view}"
    site, active = divmod((-code - 1) // 2, 2)
    return f"site {site} going {'active' if active else 'passive'}"


def message_name(message: int) -> str:
    """A message, in words."""
    life = life_of(message)
    incarnation = life & INCARNATIONS_MAX - 1
    name = f"message {seq_in(message)} of site {life >> INCARNATION_BITS}"
    return name + (f" (life {incarnation})" if incarnation else "")


def messages_in(*codes: Code) -> tuple[MessageId, ...]:
    """Those that are messages."""
    return tuple(MessageId(code) for code in codes if code >= 0)


class Sent(Struct):
    """What a life has multicast, by sequence number; and what became of it at all sites together."""

    levels: Sparse = field(default_factory=lambda: Sparse("b"))
    """Level + 1; 0 was not multicast."""
    newest: int = -1
    known: Sparse = field(default_factory=Sparse)
    """How much of the order its site had, when it multicast."""
    view: Sparse = field(default_factory=Sparse)
    """1 + the view that was installed when it was multicast."""
    depends: dict[int, tuple[int, ...]] = {}
    deliverer: Sparse = field(default_factory=lambda: Sparse("i"))
    """1 + the first site known to have delivered it."""
    placed: Sparse = field(default_factory=Sparse)
    """1 + its position in the order; filled in at the end."""
    first_view: Sparse = field(default_factory=Sparse)
    """Of a fifo or causal message: 1 + the first view in which a site delivered it ..."""
    last_view: Sparse = field(default_factory=Sparse)
    """... 1 + the last ..."""
    cut: Sparse = field(default_factory=Sparse)
    """... and 1 + the view that those who went on from it went through with this message."""


class Life(Struct):
    """What is known of a life so far."""

    id: LifeId
    site: SiteId
    incarnation: int
    next_index: int = 0
    next_delivery: int = 0
    expected: int = 0
    """The position that comes up next."""
    final: int = 0
    """Everything below is final here."""
    installed: int | None = None
    needed: int = 0
    """So many members of the view must hold what is delivered as safe."""
    since: int = NO_VIEW
    """The first of the views that the life has gone through without a break."""
    order_view: int | None = None
    """The newest view that has come up in the order."""
    resumed: bool = False
    """Whether recording has begun, or gone on, in the midst of it: then some of what it did is not in its trace."""
    anywhere: bool = False
    """Whether nobody knows, for that reason, which position comes up next ..."""
    final_is_known: bool = True
    """... and what is final."""
    crashed: bool = False
    ended: bool = False
    settled: bool = False
    """Whether nothing was under way when it ended ..."""
    ended_us: int = 0
    """... and when, by its own clock."""
    pending: deque[tuple[int, Code, int | None]] = field(default_factory=deque)
    """Position, what came up there and in which view, as long as it is tentative."""
    newest: dict[LifeId, int] = {}
    """The newest fifo or causal message delivered, by origin ..."""
    context: dict[LifeId, int] = {}
    """... and since the last break."""

    @property
    def name(self) -> str:
        """As sentences call it."""
        return life_name(self.id)

    @property
    def is_whole(self) -> bool:
        """Whether nothing that it did is missing in its trace."""
        return (self.ended or self.crashed) and not self.resumed
