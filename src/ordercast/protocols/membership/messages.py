"""What the membership layers of sites tell each other, and the layers above and below them."""

from __future__ import annotations

from typing import Generic, TypeVar

from msgspec import Struct

from ordercast.core.ids import SiteId, ViewId
from ordercast.core.views import View

Payload = TypeVar("Payload")

Ballot = tuple[int, SiteId]
"""(round, proposer). Higher ones win."""

NO_BALLOT: Ballot = (0, SiteId(0))


class Floor(Struct, frozen=True, array_like=True, gc=False):
    """A log that is the whole order of the old view, whatever else follows from the messages of the cut."""

    length: int
    digest: int
    """Of all its entries: logs of one length can differ."""


class Cut(Struct, frozen=True, array_like=True, gc=False):
    """How far one sender's messages of the old view count, and a site that has them all."""

    sender: SiteId
    count: int
    holder: SiteId


class Successor(Struct, frozen=True, array_like=True):
    """What members agree on: the next view, and what of the old one is delivered before it."""

    view: View
    cuts: tuple[Cut, ...]
    aligned: tuple[SiteId, ...]
    """The members that hold the whole order up to the new view; the others fetch it from them."""
    floor: Floor | None
    """If the order is that of the log of a member that has restarted, or has closed the view before; then only those
    who have just this log are aligned. None, as a rule: then it follows from the cut."""


class Alive(Struct, frozen=True, array_like=True, tag="alive"):
    """The heartbeat, to every configured site."""

    incarnation: int
    view: View
    sent_us: int
    echo_us: int
    """`sent_us` of the receiver's newest heartbeat here, -1 if none has come ..."""
    echo_age_us: int
    """... and how long ago it came: together they give the receiver a round trip."""
    handed: tuple[int, ...]
    """How many messages of each member of the view have been handed up, in the view's order. What is received once
    the view is changing does not count: it may lie outside the cut."""
    suspects: tuple[SiteId, ...]
    hears: tuple[SiteId, ...]
    joining: bool
    leaving: bool
    stopped: bool
    """Whether the sender takes no more messages in its view, since somebody has begun to change it."""


class Prepare(Struct, frozen=True, array_like=True, tag="prepare"):
    """Asks the members of a view to stop, and to tell what they have."""

    view: ViewId
    ballot: Ballot


class Promise(Struct, frozen=True, array_like=True, tag="promise"):
    """The sender has stopped, and will not accept anything under a lower ballot."""

    view: ViewId
    ballot: Ballot
    incarnation: int
    running: bool
    """Whether it has been in the view without a restart since."""
    aligned: bool
    closed: bool
    """Whether it has closed the view with a successor that was not decided: it cannot close it with another."""
    ordered: int
    """Length of its log: the entries that it has ordered, tentative ones included."""
    digest: int
    """Of its log."""
    held: tuple[int, ...]
    accepted: tuple[Ballot, Successor] | None
    whole: bool
    """Whether the log held the whole order up to the accepted successor."""
    suspects: tuple[SiteId, ...]
    hears: tuple[SiteId, ...]


class Refuse(Struct, frozen=True, array_like=True, tag="refuse"):
    """A higher ballot has been promised."""

    view: ViewId
    promised: Ballot


class Accept(Struct, frozen=True, array_like=True, tag="accept"):
    """Asks to agree to a successor."""

    view: ViewId
    ballot: Ballot
    successor: Successor


class Accepted(Struct, frozen=True, array_like=True, tag="accepted"):
    """The sender holds all messages of the cut, has ordered them, and agrees to the successor."""

    view: ViewId
    ballot: Ballot
    whole: bool
    """Whether its log holds the whole order up to the successor. Nothing is decided before somebody's does."""


class Decided(Struct, frozen=True, array_like=True, tag="decided"):
    """A quorum of the view has agreed: its successor is certain."""

    view: ViewId
    successor: Successor


class Want(Struct, frozen=True, array_like=True, tag="want"):
    """Asks for messages of the old view that the cut includes: those of `sender` after the first `have`."""

    view: ViewId
    sender: SiteId
    have: int
    upto: int


class Cast(Struct, Generic[Payload], frozen=True, array_like=True, tag="cast", gc=False):
    """A multicast within a view; each sender numbers its own from 1."""

    view: ViewId
    number: int
    payload: Payload


class Supply(Struct, Generic[Payload], frozen=True, array_like=True, tag="supply"):
    """Answers `Want`: messages of `sender` from number `first` on."""

    view: ViewId
    sender: SiteId
    first: int
    payloads: tuple[Payload, ...]


class Direct(Struct, Generic[Payload], frozen=True, array_like=True, tag="direct", gc=False):
    """A message to one member, within a view."""

    view: ViewId
    payload: Payload


# --- between the layers of one site; none of these travels ---


class Stop(Struct, frozen=True):
    """To above: the view is about to change. Answer with `Progress`."""


class Progress(Struct, frozen=True):
    """From above: how long the log is, the digest of it, and whether it has no hole."""

    ordered: int
    digest: int
    aligned: bool


class Leave(Struct, frozen=True):
    """From above: let the next view be without us."""


class Close(Struct, frozen=True):
    """To above: everything of this view that counts has been handed up; order all of it now."""

    successor: Successor


class Installed(Struct, frozen=True):
    """To above: the new view, who of it holds the whole order, and whether this site is expected to."""

    successor: Successor
    continuing: bool
    """Whether this site was in the previous view and closed it with this very successor."""


class Adopted(Struct, frozen=True):
    """To above: this site is a member of the view in a life that has ended. It takes no part, but can agree on the
    next view; `aligned` tells whether its log held everything up to this view."""

    view: View
    aligned: bool


class Stable(Struct, frozen=True):
    """To above: so many of this site's own multicasts in the view are held by every member."""

    count: int


class Dismissed(Struct, frozen=True):
    """To above: this site wants to leave, and may: the others go on without it, or all leave together."""


class Blocked(Struct, frozen=True):
    """To above: too few members of the last primary view can be reached; nothing is agreed until that changes."""
