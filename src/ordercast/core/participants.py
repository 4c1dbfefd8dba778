"""Participants and their groups: who is in, and what a host asks for on their behalf."""

from __future__ import annotations

from msgspec import Struct

from ordercast.core.ids import SiteId
from ordercast.core.messages import Author, Level


class Member(Struct, frozen=True, array_like=True, gc=False):
    """A participant in a group, by way of one life of one site."""

    session: int
    name: str
    site: SiteId
    incarnation: int
    since: int
    """The position at which it became a member: the lower, the more senior."""


class Attach(Struct, frozen=True):
    """From the host: a participant has connected, under a name."""

    session: int
    name: str


class Detach(Struct, frozen=True):
    """From the host: it is gone, and with it its memberships by way of this site."""

    session: int


class JoinGroup(Struct, frozen=True):
    """From the host: an attached participant wants to be a member. Once it speaks through another site, it says so
    again there, with a new number."""

    session: int
    group: str
    number: int
    """Among the messages of the session."""


class LeaveGroup(Struct, frozen=True):
    """From the host: an attached participant wants to be a member no longer."""

    session: int
    group: str
    number: int


class Speak(Struct, frozen=True, gc=False):
    """From the host: a participant multicasts. The stack makes a bundle of it, with the next ids of the site."""

    bodies: tuple[bytes, ...]
    level: Level
    author: Author
