"""What one site of the explorer does at one event: the very layers that ship, run once for each distinct question.

A layer is deterministic, so its reaction is a function of its frozen state and the event. States, events and the
contents of channels are numbered: a state of the whole system is then a short tuple of numbers, and most
transitions cost no more than a look into a table.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Generic, NamedTuple, TypeVar

from ordercast.core.effects import Effect
from ordercast.core.events import Event
from ordercast.core.ids import SiteId
from ordercast.core.layer import Layer

Value = TypeVar("Value", bound=Hashable)


class Numbered(Generic[Value]):
    """Gives equal values the same number, in the order in which they first appear."""

    def __init__(self) -> None:
        self._numbers: dict[Value, int] = {}
        self._values: list[Value] = []

    def number(self, value: Value) -> int:
        """The number of a value, a new one if it is new."""
        number = self._numbers.setdefault(value, len(self._values))
        if number == len(self._values):
            self._values.append(value)
        return number

    def __getitem__(self, number: int) -> Value:
        return self._values[number]

    def __len__(self) -> int:
        return len(self._values)


class Reaction(NamedTuple):
    """What an event leads to."""

    after: int
    """The number of the site's state afterwards."""
    sends: tuple[tuple[SiteId, int], ...]
    """To which site, and the number of the event that arriving there will be."""
    happenings: tuple[Any, ...]
    """What the judge is to hear of."""
    incoming: int | None = None
    """The number of an event that befalls all channels to the site."""


class Step(NamedTuple):
    """One reaction in full, for goals and for reports."""

    site: SiteId
    event: Event | None
    effects: tuple[Effect, ...]
    after: Layer | None
    """None where the site is down."""


State = TypeVar("State", bound=Hashable)
HostEvent = TypeVar("HostEvent", bound=Hashable)


class Reactions(ABC, Generic[State, HostEvent]):
    """The sites of one scope, each reacting by itself. Every question is worked out once."""

    def __init__(self, watch: Callable[[Step], None]) -> None:
        """`watch` sees every step that is new, unless it is taken `unseen`."""
        self.states: Numbered[State] = Numbered()
        self.events: Numbered[HostEvent] = Numbered()
        self.awaits: dict[int, tuple[SiteId, ...]] = {}
        """By event: the sites that must be down for it to happen."""
        self._watch = watch
        self._seeing = True
        self._unseen: dict[tuple[int, int], Step] = {}
        """Steps that `watch` has not seen."""
        self._known: dict[tuple[int, int], Reaction] = {}
        self._own_events: dict[int, tuple[int, ...]] = {}

    @abstractmethod
    def first_state(self, site: SiteId) -> State:
        """A site's state before anything has happened."""

    @abstractmethod
    def possible(self, state: State) -> Sequence[HostEvent]:
        """What can happen at the site without any message arriving."""

    def is_up(self, state: int) -> bool:
        """Whether the site is running."""
        return True

    def is_void(self, state: int, arrival: int) -> bool:
        """Whether it is certain that a message changes nothing any more, now or later."""
        return False

    @abstractmethod
    def work_out(self, state: State, event: HostEvent) -> tuple[Reaction, Step]:
        """What a site in this state does at this event, in short and in full."""

    def start(self, site: SiteId) -> int:
        """The number of a site's state before anything has happened."""
        return self.states.number(self.first_state(site))

    def own_events(self, state: int) -> tuple[int, ...]:
        """The events that can happen at the site without any message arriving."""
        if state not in self._own_events:
            self._own_events[state] = tuple(map(self.events.number, self.possible(self.states[state])))
        return self._own_events[state]

    def react(self, state: int, event: int) -> Reaction:
        """What a site in this state does at this event."""
        key = (state, event)
        reaction = self._known.get(key)
        if reaction is None:
            reaction, self._unseen[key] = self.work_out(self.states[state], self.events[event])
            self._known[key] = reaction
        if self._seeing and key in self._unseen:
            self._watch(self._unseen.pop(key))
        return reaction

    @contextmanager
    def unseen(self) -> Iterator[None]:
        """For steps that are no part of the exploration: they meet no goals."""
        before, self._seeing = self._seeing, False
        try:
            yield
        finally:
            self._seeing = before

    def in_full(self, state: int, event: int) -> Step:
        """The same with all details, worked out again."""
        return self.work_out(self.states[state], self.events[event])[1]
