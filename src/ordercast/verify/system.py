"""A whole group of sites as the explorer sees it: its states, and what can happen in each.

Not everything that can happen need be tried in every order. What happens at one site neither sees nor changes the
other sites; it only puts messages at the ends of channels. So two happenings at different sites lead to the same
state in either order, and what a site experiences is decided by its own order of happenings alone. Take a set of
sites such that every channel from outside into it holds a message already. Whatever the sites outside do, what can
happen next inside stays the same, as a channel's first message stays first. So it is enough to try the happenings
inside the set: those outside lose nothing by coming later. No history of any site gets lost, only orders that no
site can tell apart. (These are persistent sets in the sense of Godefroid, *Partial-Order Methods for the
Verification of Concurrent Systems*, 1996.)

The argument needs channels that only their receivers take from, at one end. It fails where messages overtake each
other, or where a sender takes back what is under way; there nothing is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple, Protocol

from ordercast.core.ids import SiteId
from ordercast.verify.channels import EMPTY, Takes
from ordercast.verify.judges import Judge
from ordercast.verify.reactions import Numbered, Reactions

State = tuple[int, ...]
"""The number of each site's state, of each channel's contents, of the judge's record, and a last one, 0 at first, with
which the plot marks what comes at the end."""

Move = tuple[int, int]
"""A site (or `EVERYONE`) and the number of an event."""

EVERYONE = -1
BROKEN = -1
"""In place of the judge's record: a property has been violated."""


class Channels(Protocol):
    """What is under way between any two sites, in each direction. Contents are numbered, `EMPTY` being nothing."""

    fifo: bool
    clears: bool
    """Whether messages that change nothing any more are taken out without a move."""
    takes: list[Takes]
    """By number of the contents: what can come out next."""

    def put(self, channel: int, event: int) -> int:
        """What a channel holds after an event: most often, that a message has been sent."""

    def cleared(self, channel: int, is_void: Callable[[int], bool]) -> int:
        """What a channel holds but for such messages."""


class Passage(NamedTuple):
    """Part of a story."""

    words: list[str]
    happenings: list[tuple[SiteId, tuple[Any, ...]]]
    """What the judge is to hear of."""


class Plot(Protocol):
    """How a scope begins and ends, and how its story is told."""

    def begin(self, system: System) -> State:
        """The state from which on everything is tried."""

    def is_over(self, system: System, state: State) -> bool:
        """Whether the end comes although more can happen."""

    def end(self, system: System, state: State) -> tuple[Move, State] | None:
        """What comes when nothing else can happen, or it is over, if anything does."""

    def opening(self, system: System) -> Passage:
        """How it begins."""

    def passage(self, system: System, state: State, move: Move) -> Passage:
        """What a move from a state is about."""


class System:
    """All transitions of one scope."""

    def __init__(
        self,
        sites: int,
        reactions: Reactions[Any, Any],
        channels: Channels,
        judge: Judge,
        plot: Plot,
        *,
        reduce: bool = True,
    ) -> None:
        """`reduce` leaves out orders that no site can tell apart, where the channels allow it."""
        self.members = tuple(SiteId(site) for site in range(sites))
        self.reactions = reactions
        self.judge = judge
        self.plot = plot
        self.apart = False
        """Whether two sites have ever been apart in how much they had delivered."""
        self._records: Numbered[Any] = Numbered()
        self._judged: dict[tuple[int, int, tuple[Hashable, ...]], int] = {}
        self._channels = channels
        self._reduce = reduce and channels.fifo
        pairs = [(sender, to) for to in self.members for sender in self.members if sender != to]
        self._place = {pair: sites + index for index, pair in enumerate(pairs)}
        self._incoming = [[place for (_, to), place in self._place.items() if to == site] for site in self.members]
        self._cleared: dict[tuple[int, int], int] = {}
        self._enough: dict[tuple[bool, ...], tuple[SiteId, ...]] = {}

    def start(self) -> State:
        """Where the exploration begins."""
        return self.plot.begin(self)

    def nothing_yet(self) -> State:
        """Before anything has happened."""
        sites = tuple(map(self.reactions.start, self.members))
        record = self._records.number(self.judge.start(len(self.members)))
        return (*sites, *(EMPTY for _ in self._place), record, 0)

    def broken(self, state: State) -> bool:
        """Whether a property has been violated."""
        return state[-2] == BROKEN

    def complete(self, state: State) -> bool:
        """Whether everything has been delivered everywhere."""
        return self.judge.complete(self._records[state[-2]])

    def record(self, state: State) -> Any:
        """The judge's record."""
        return self._records[state[-2]]

    def successors(self, state: State) -> list[tuple[Move, State]]:
        """What can happen, and where it leads."""
        successors = [] if self.plot.is_over(self, state) else self._moves(state)
        if not successors and (last := self.plot.end(self, state)) is not None:
            successors.append(last)
        return successors

    def _moves(self, state: State) -> list[tuple[Move, State]]:
        successors: list[tuple[Move, State]] = []
        awaits = self.reactions.awaits
        for site in self._sites_to_try(state):
            for event in self.reactions.own_events(state[site]):
                if event in awaits and any(self.reactions.is_up(state[other]) for other in awaits[event]):
                    continue
                successors.append(((site, event), self.after(state, site, event)))
            for event, taken in self.arrivals(state, site):
                successors.append(((site, event), self.after(taken, site, event)))
        return successors

    def arrivals(self, state: State, site: SiteId) -> list[tuple[int, State]]:
        """What can arrive at a site: the event, and the state with the message taken out of its channel."""
        takes = self._channels.takes
        return [
            (event, (*state[:place], rest, *state[place + 1 :]))
            for place in self._incoming[site]
            for event, rest in takes[state[place]]
        ]

    def after(self, state: State, site: SiteId, event: int) -> State:
        """The state after an event at a site."""
        values = list(state)
        reaction = self.reactions.react(state[site], event)
        values[site] = reaction.after
        put = self._channels.put
        for to, sent in reaction.sends:
            place = self._place[site, to]
            values[place] = put(values[place], sent)
        if reaction.incoming is not None:
            for place in self._incoming[site]:
                values[place] = put(values[place], reaction.incoming)
        if reaction.happenings:
            values[-2] = self._judgement(values[-2], site, reaction.happenings)
        if self._channels.clears:
            self._clear(values, site)
            for to, _ in reaction.sends:
                self._clear(values, to)
        return tuple(values)

    def _clear(self, values: list[int], site: SiteId) -> None:
        """Let what changes nothing any more arrive at a site."""
        state = values[site]
        for place in self._incoming[site]:
            key = (state, values[place])
            if key not in self._cleared:
                self._cleared[key] = self._channels.cleared(key[1], partial(self.reactions.is_void, state))
            values[place] = self._cleared[key]

    def in_all_channels(self, state: State, event: Any) -> State:
        """The state after an event in every channel."""
        number = self.reactions.events.number(event)
        channels = [self._channels.put(state[place], number) for place in self._place.values()]
        return (*state[: len(self.members)], *channels, *state[-2:])

    def for_everyone(self, state: State, event: int) -> State:
        """The state after an event at all sites."""
        for site in self.members:
            state = self.after(state, site, event)
        return state

    def _judgement(self, record: int, site: SiteId, happenings: tuple[Hashable, ...]) -> int:
        if record == BROKEN:
            return BROKEN
        key = (record, site, happenings)
        after = self._judged.get(key)
        if after is None:
            value = self.judge.after(self._records[record], site, happenings)
            after = self._judged[key] = BROKEN if value is None else self._records.number(value)
            self.apart = self.apart or (value is not None and self.judge.apart(value))
        return after

    def _sites_to_try(self, state: State) -> tuple[SiteId, ...]:
        """The smallest set of sites into which every channel from outside holds a message."""
        if not self._reduce:
            return self.members
        pattern = tuple(map(bool, state[len(self.members) : -2]))
        enough = self._enough.get(pattern)
        if enough is None:
            enough = self._enough[pattern] = self._smallest_set(pattern)
        return enough

    def _smallest_set(self, pattern: tuple[bool, ...]) -> tuple[SiteId, ...]:
        waiting = {pair for pair, holds in zip(self._place, pattern, strict=True) if holds}
        for size in range(1, len(self.members)):
            for chosen in combinations(self.members, size):
                others = [site for site in self.members if site not in chosen]
                if all((other, site) in waiting for other in others for site in chosen):
                    return chosen
        return self.members
