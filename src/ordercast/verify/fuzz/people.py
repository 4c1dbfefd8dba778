"""Participants with sessions: they join a group, speak, go on through another site, and multicast again.

Whoever goes on does not know what became of what it said last, and says it again, each message by itself. The site that
it has left notices later, or never.
"""

from __future__ import annotations

from msgspec import Struct

from ordercast.core.events import FromAbove
from ordercast.core.messages import Author, Level
from ordercast.core.participants import Attach, Detach, JoinGroup, LeaveGroup, Speak
from ordercast.simulator.group_site import GroupSite
from ordercast.simulator.simulation import Simulation
from ordercast.verify.fuzz.phases import group_sites

GROUP = "orders"
AGAIN_MAX = 5
"""So many messages are multicast again: as a rule that begins in the midst of a bundle."""

NOTICE_US = 400_000
"""The site that a participant has left finds out so much later."""


class Person(Struct, frozen=True):
    """Speaks from `from_s` to `until_s`; in between, at `moves_s`, it goes on through another site."""

    session: int
    sites: tuple[int, int]
    from_s: float
    moves_s: float
    until_s: float
    gap_s: float
    count: int
    """Messages of a bundle."""
    levels: tuple[Level, ...]
    """Of its bundles, in turn."""
    leaves: bool
    """Whether it leaves the group in the end; else it just goes."""


class _Life:
    """What a person does."""

    def __init__(self, person: Person, simulation: Simulation) -> None:
        self._person = person
        self._simulation = simulation
        self._at = person.sites[0]
        self._number = 0
        self._spoken = 0
        self._said: list[int] = []
        """Numbers of ordered messages."""

    def start(self) -> None:
        person = self._person
        self._later(person.from_s, self._speak)
        self._later(person.moves_s, self._move)
        self._later(person.until_s, self._end)

    def _later(self, at_s: float, do: object) -> None:
        self._simulation.schedule(round(at_s * 1e6), do, None)  # type: ignore[arg-type]

    def _site(self) -> GroupSite | None:
        """The site, with this participant connected to it; None if it cannot be reached."""
        site = group_sites(self._simulation)[self._at]
        if site.crashed or site.paused:
            return None
        if self._person.session not in site.participants.attached:
            site.participant_says(Attach(self._person.session, f"person {self._person.session}"))
            site.participant_says(JoinGroup(self._person.session, GROUP, self._next()))
        return site

    def _next(self, count: int = 1) -> int:
        self._number += count
        return self._number - count

    def _speak(self, _: None) -> None:
        person, now_us = self._person, self._simulation.now_us
        if now_us >= round(person.until_s * 1e6):
            return
        self._simulation.schedule(now_us + round(person.gap_s * 1e6), self._speak, None)
        site = self._site()
        if site is None:
            return
        level = person.levels[self._spoken % len(person.levels)]
        self._spoken += 1
        number = self._next(person.count)
        if level >= Level.AGREED:
            self._said += range(number, number + person.count)
        self._say(site, number, person.count, level)

    def _say(self, site: GroupSite, number: int, count: int, level: Level) -> None:
        author = Author(GROUP, f"person {self._person.session}", self._person.session, number)
        site.participant_says(Speak((b"word",) * count, level, author))

    def _move(self, _: None) -> None:
        left, self._at = self._at, self._person.sites[1]
        if left != self._at:
            self._simulation.schedule(self._simulation.now_us + NOTICE_US, self._notice, left)
        site = self._site()
        if site is not None:
            for number in self._said[-AGAIN_MAX:]:
                self._say(site, number, 1, Level.AGREED)

    def _notice(self, left: int) -> None:
        """The site that was left sees that the connection has ended."""
        self._detach(group_sites(self._simulation)[left])

    def _detach(self, site: GroupSite) -> None:
        """The end of a connection is an event of the host: a paused site sees it as soon as it goes on."""
        if not site.crashed and self._person.session in site.participants.attached:
            site.handle(FromAbove(Detach(self._person.session)))

    def _end(self, _: None) -> None:
        site = self._site()
        if site is None:
            return
        if self._person.leaves:
            site.participant_says(LeaveGroup(self._person.session, GROUP, self._next()))
        else:
            self._detach(site)


def schedule(person: Person, simulation: Simulation) -> None:
    """Put all that it does on the agenda."""
    _Life(person, simulation).start()
