"""What can be asked of a site, and told to it, beside the messages of groups: for the commands of operators."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from ordercast.core.stream import Participant

# --- questions ---


class AskStatus(Struct, frozen=True, array_like=True, tag="status"):
    """How is the site?"""


class AskMembers(Struct, frozen=True, array_like=True, tag="members"):
    """Which participants are in which groups?"""


class FollowViews(Struct, frozen=True, array_like=True, tag="views"):
    """Which view are the sites in now, and which ones come? Answered until it is taken back."""


class AskLinks(Struct, frozen=True, array_like=True, tag="links"):
    """How are the ways to the other sites?"""


class AskMetrics(Struct, frozen=True, array_like=True, tag="metrics"):
    """All figures of the site, as text in the format of Prometheus."""


class Emulate(Struct, frozen=True, array_like=True, tag="emulate"):
    """What this site sends to another takes longer, or is lost, from now on (where the cluster file emulates)."""

    to: str
    delay_ms: float
    jitter_ms: float = 0.0
    loss: float = 0.0


class Cut(Struct, frozen=True, array_like=True, tag="cut"):
    """Nothing that this site sends gets to these others (where the cluster file emulates)."""

    to: tuple[str, ...]


class Heal(Struct, frozen=True, array_like=True, tag="heal"):
    """Everything that this site sends gets everywhere again."""


class Trace(Struct, frozen=True, array_like=True, tag="trace"):
    """Write a trace, or stop it."""

    on: bool


class ChangeOrdering(Struct, frozen=True, array_like=True, tag="ordering"):
    """Let the group order by another protocol. Answered once the change has come up in the order."""

    protocol: str
    options: dict[str, Any] = {}


class LeaveSites(Struct, frozen=True, array_like=True, tag="leave-sites"):
    """Leave the group of sites, and end."""


Question = (
    AskStatus
    | AskMembers
    | FollowViews
    | AskLinks
    | AskMetrics
    | Emulate
    | Cut
    | Heal
    | Trace
    | ChangeOrdering
    | LeaveSites
)


# --- answers ---


class Ok(Struct, frozen=True, array_like=True, tag="ok"):
    """It is done."""


class Status(Struct, frozen=True, array_like=True, tag="status"):
    """How a site is."""

    cluster: str
    site: str
    incarnation: int
    state: str
    """`starting`, `in`, `blocked` or `leaving`."""
    view: int
    members: tuple[str, ...]
    """The sites of the view."""
    ordering: str
    position: int
    """The next position."""
    final: int
    """Positions below are final."""
    log: str
    """`accepting`, `full`, `failed`, or `none` without one."""
    participants: int
    outstanding_bytes: int
    """Multicast by participants here, and not delivered yet."""
    waiting_for: str | None = None
    """In words: what must happen before the site can go on."""


class GroupMembers(Struct, frozen=True, array_like=True, tag="group"):
    """Who is in a group."""

    group: str
    members: tuple[Participant, ...]


class Groups(Struct, frozen=True, array_like=True, tag="groups"):
    """All groups that have members."""

    groups: tuple[GroupMembers, ...]


class SiteView(Struct, frozen=True, array_like=True, tag="view"):
    """A view of the sites."""

    view: int
    members: tuple[str, ...]
    position: int | None
    """Of its entry in the order; None for the view that was there before the question."""
    blocked: bool = False
    """Whether too few of its members can be reached."""


class Link(Struct, frozen=True, array_like=True, tag="link"):
    """The way to another site."""

    site: str
    connected: bool
    round_trip_ms: float | None
    """As measured; None if it is not known."""
    full: bool
    """Whether the other site takes no more at the moment."""
    delay_ms: float = 0.0
    loss: float = 0.0
    cut: bool = False
    """What is emulated."""


class Links(Struct, frozen=True, array_like=True, tag="links"):
    """The ways to all other sites."""

    links: tuple[Link, ...]


class Metrics(Struct, frozen=True, array_like=True, tag="metrics"):
    """Figures in the format of Prometheus."""

    text: str


AnswerBody = Ok | Status | Groups | SiteView | Links | Metrics
