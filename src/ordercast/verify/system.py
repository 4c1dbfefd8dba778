"""A whole group of sites as the explorer sees it: its states, and what can happen in each.

Not everything that can happen need be tried in every order. What happens at one site neither sees nor changes the
other sites; it only puts messages at the ends of channels. So two happenings at different sites lead to the same
state in either order, and what a site experiences is decided by its own order of happenings alone. Take a set of
sites such that every channel from outside into it holds a message already. Whatever the sites outside do, what can
happen next inside stays the same, as a channel's first message stays first. So it is enough to try the happenings
inside the set: those outside lose nothing by coming later. No history of any site gets lost, only orders that no
site can tell apart. (These are persistent sets in the sense of Godefroid, *Partial-Order Methods for the
Verification of Concurrent Systems*, 1996.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

from ordercast.core.ids import SiteId
from ordercast.core.layer import Layer
from ordercast.verify.channels import EMPTY, Channels
from ordercast.verify.history import Happening
from ordercast.verify.judges import Judge
from ordercast.verify.reactions import Begins, Flushes, Numbered, Reactions, Step

State = tuple[int, ...]
"""The number of each site's state, of each channel's contents, of the judge's record, and whether all have flushed."""

Move = tuple[int, int]
"""A site (or `EVERYONE`) and the number of an event."""

EVERYONE = -1
BROKEN = -1
"""In place of the judge's record: a property has been violated."""


class System:
    """All transitions of one scope."""

    def __init__(
        self,
        layers: Sequence[Layer],
        messages: int,
        clock_us: tuple[int, ...],
        judge: Judge,
        *,
        fifo: bool = True,
        reduce: bool = True,
        watch: Callable[[Step], None] = lambda step: None,
    ) -> None:
        """`reduce` leaves out orders that no site can tell apart."""
        self.members = tuple(SiteId(site) for site in range(len(layers)))
        self.reactions = Reactions(layers, messages, clock_us, watch)
        self.apart = False
        """Whether two sites have ever been apart in how much they had delivered."""
        self.judge = judge
        self._records: Numbered[Any] = Numbered()
        self._judged: dict[tuple[int, int, tuple[Happening, ...]], int] = {}
        self._channels = Channels(fifo=fifo)
        self._reduce = reduce and fifo
        pairs = [(sender, to) for to in self.members for sender in self.members if sender != to]
        self._place = {pair: len(layers) + index for index, pair in enumerate(pairs)}
        self._incoming = [[place for (_, to), place in self._place.items() if to == site] for site in self.members]
        self._enough: dict[tuple[bool, ...], tuple[SiteId, ...]] = {}
        self._flush = self.reactions.events.number(Flushes())

    def start(self) -> State:
        """All sites have installed the one view."""
        sites = tuple(map(self.reactions.start, self.members))
        record = self._records.number(self.judge.start(len(self.members)))
        state = (*sites, *(EMPTY for _ in self._place), record, 0)
        return self._for_everyone(state, self.reactions.events.number(Begins()))

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
        """What can happen, and where it leads. When nothing else can, all sites flush, once."""
        successors: list[tuple[Move, State]] = []
        takes = self._channels.takes
        for site in self._sites_to_try(state):
            for event in self.reactions.own_events(state[site]):
                successors.append(((site, event), self._after(list(state), site, event)))
            for place in self._incoming[site]:
                for event, rest in takes[state[place]]:
                    values = list(state)
                    values[place] = rest
                    successors.append(((site, event), self._after(values, site, event)))
        if not successors and not state[-1]:
            flushed = self._for_everyone((*state[:-1], 1), self._flush)
            successors.append(((EVERYONE, self._flush), flushed))
        return successors

    def _after(self, values: list[int], site: SiteId, event: int) -> State:
        after, sends, happenings = self.reactions.react(values[site], event)
        values[site] = after
        for to, arrival in sends:
            place = self._place[site, to]
            values[place] = self._channels.put(values[place], arrival)
        if happenings:
            values[-2] = self._judgement(values[-2], site, happenings)
        return tuple(values)

    def _for_everyone(self, state: State, event: int) -> State:
        for site in self.members:
            state = self._after(list(state), site, event)
        return state

    def _judgement(self, record: int, site: SiteId, happenings: tuple[Happening, ...]) -> int:
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
