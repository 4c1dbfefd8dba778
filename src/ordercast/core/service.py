"""What a participant and its site say to each other, over the site's Unix socket.

A connection begins with the participant's `Hello` and the site's `Welcome`; from there on requests go one way, replies
and the events of joined groups the other. Each message has its length before it and is msgpack.

Multicasts travel by the bundle: what a participant multicasts in one turn of its loop is one `Submit`, the site makes
one bundle of it, or of several that have come at once, and what the site delivers is forwarded as it came up.
"""

from __future__ import annotations

import enum
from struct import Struct as Layout

from msgspec import Struct

from ordercast.core.administration import AnswerBody, Question
from ordercast.core.ids import MessageId
from ordercast.core.messages import UNNUMBERED, Level
from ordercast.core.stream import Happening
from ordercast.core.wire import BadBytes, Wire

VERSION = 1
"""Of all that travels between a participant and its site."""

FRAME_BYTES_MAX = 32 << 20
"""What claims to be longer is no message."""

MESSAGE_BYTES_MAX = 8 << 20
"""So long may the body of a message be."""

BUNDLE_BYTES_MAX = 256 << 10
BUNDLE_BODIES_MAX = 1000
"""A client makes no larger bundles (a longer body has one to itself), and a site takes none with more bodies."""

NAME_CHARACTERS_MAX = 200
"""So long may the name of a participant or a group be."""

WINDOW_BYTES = 8 << 20
"""So much may be on its way to a reader who has not read it, unless it asks for another bound."""

EARLIEST = -1
"""Begin to read with the oldest position that is kept."""

LATEST = -2
"""Begin to read with what comes up from now on."""


class Wait(enum.IntEnum):
    """What a participant waits for when it multicasts."""

    ACCEPTED = 0
    """Its site has taken the message."""
    ORDERED = 1
    """The message has been delivered at its site."""
    FINAL = 2
    """And its position is final."""


# --- requests ---


class Hello(Struct, frozen=True, array_like=True, tag="hello"):
    """Who calls. The same session may call again, after it has lost its connection."""

    version: int
    name: str
    session: int


class History(Struct, frozen=True, array_like=True, gc=False):
    """What a reader has seen of the order of a site, so that it can go on there."""

    incarnation: int
    """Of the site."""
    retractions: int
    """How often that life of it has taken something back."""


class Join(Struct, frozen=True, array_like=True, tag="join"):
    """Take part in a group and read its stream, or only read it."""

    group: str
    start: int = LATEST
    """A position, `EARLIEST` or `LATEST`."""
    number: int = UNNUMBERED
    """Of the joining, among the session's messages."""
    member: bool = True
    final_only: bool = False
    finality: bool = False
    """Whether to be told of `Finalized`."""
    window_bytes: int = WINDOW_BYTES
    seen: History | None = None
    """Of the reader's earlier subscription, if it goes on with that ..."""
    final_below: int = 0
    """... and below which position it knew all to be final."""


class Leave(Struct, frozen=True, array_like=True, tag="leave"):
    """Take part no more, and read no more."""

    group: str
    number: int = UNNUMBERED


class Submit(Struct, frozen=True, array_like=True, tag="submit", gc=False):
    """Multicast these messages as one bundle."""

    request: int
    group: str
    bodies: tuple[bytes, ...]
    number: int
    """Of the first message, among those of its session."""
    level: Level = Level.AGREED
    wait: Wait = Wait.FINAL
    session: int | None = None
    """The session that has multicast these messages before; None: they are new, and of this one."""


class Consumed(Struct, frozen=True, array_like=True, tag="consumed", gc=False):
    """The reader of a group has taken so much out of its queue."""

    group: str
    weight: int


class Ask(Struct, frozen=True, array_like=True, tag="ask"):
    """Something about the site, or for it to do."""

    request: int
    question: Question


class Unask(Struct, frozen=True, array_like=True, tag="unask"):
    """No more answers to a question that is answered again and again."""

    request: int


Request = Hello | Join | Leave | Submit | Consumed | Ask | Unask


# --- replies and events ---


class Welcome(Struct, frozen=True, array_like=True, tag="welcome"):
    """The site answers."""

    version: int
    cluster: str
    site: str
    incarnation: int


class Refused(Struct, frozen=True, array_like=True, tag="refused"):
    """The site hangs up, and says why."""

    reason: str


class Joined(Struct, frozen=True, array_like=True, tag="joined"):
    """The stream of a group begins at this position; events follow."""

    group: str
    position: int
    history: History
    resumed: bool = False
    """Whether it goes on where the reader's earlier one ended; else what was tentative there is void."""


class Entered(Struct, frozen=True, array_like=True, tag="entered"):
    """The participant is a member of the group: its joining has come up in the order."""

    group: str


class NotJoined(Struct, frozen=True, array_like=True, tag="not-joined"):
    """It cannot be."""

    group: str
    reason: str
    first: int | None = None
    """The first position that can be read, if the one asked for cannot."""


class Left(Struct, frozen=True, array_like=True, tag="left"):
    """No more events of the group follow."""

    group: str


class Broken(Struct, frozen=True, array_like=True, tag="broken"):
    """The stream has ended: the site cannot read its log."""

    group: str
    reason: str


class Pace(Struct, frozen=True, array_like=True, tag="pace"):
    """Multicast nothing more for now, or go on. What is under way is taken; who does not keep to it is not read."""

    hold: bool


class Happened(Struct, frozen=True, array_like=True, tag="happened", gc=False):
    """The next event of a group's stream."""

    group: str
    event: Happening
    final_below: int
    """Everything at positions below this one was final when it came up."""


class TooSlow(Struct, frozen=True, array_like=True, tag="too-slow"):
    """The stream has ended: its reader has not kept up. It can join again at this position."""

    group: str
    position: int


class Gone(Struct, frozen=True, array_like=True, tag="gone"):
    """The stream has ended: what comes next in it is not kept any more, or never was here."""

    group: str
    position: int
    first: int
    """The first position from there on that can be read."""


class Done(Struct, frozen=True, array_like=True, tag="done", gc=False):
    """What a multicast waited for has come."""

    request: int
    message: MessageId | None
    """Of its first message; None as long as the site has only accepted it."""
    position: int | None
    repeated: bool = False
    """Whether some of its messages had come up before, so that their positions are not known here."""


class NotDone(Struct, frozen=True, array_like=True, tag="not-done", gc=False):
    """A multicast has not been sent, and will not be; or, if it has been, nobody can tell what becomes of it."""

    request: int
    reason: str
    sent: bool = False


class Answer(Struct, frozen=True, array_like=True, tag="answer"):
    """To a question; some questions are answered again and again."""

    request: int
    answer: AnswerBody | None
    """None if it cannot be done, ..."""
    error: str = ""
    """... and why not."""


Reply = (
    Welcome
    | Refused
    | Pace
    | Broken
    | Joined
    | Entered
    | NotJoined
    | Left
    | Happened
    | TooSlow
    | Gone
    | Done
    | NotDone
    | Answer
)

REQUESTS = Wire(Request)
REPLIES = Wire(Reply)

_HEADER = Layout("!I")
HEADER_BYTES = _HEADER.size


def header_of(message: bytes) -> bytes:
    """What goes before the message as it travels."""
    return _HEADER.pack(len(message))


def framed(message: bytes) -> bytes:
    """The message as it travels."""
    return header_of(message) + message


def length_of(data: memoryview, start: int) -> int:
    """How long the message is whose header begins here."""
    (length,) = _HEADER.unpack_from(data, start)
    if length > FRAME_BYTES_MAX:
        raise BadBytes(f"a message of {length} bytes, more than {FRAME_BYTES_MAX}")
    return int(length)
