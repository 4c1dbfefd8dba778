"""The same properties as in `verify.properties`, checked while a run goes on and in bounded memory.

All sites must deliver the same sequence, so it is kept once, from the slowest site's place on; what holds of it
holds at every site. A violation names the site, the place in the sequence and the messages.
"""

from __future__ import annotations

from collections import deque

from ordercast.core.ids import ORIGIN_SHIFT, MessageId, SiteId, seq_of
from ordercast.core.messages import Bundle
from ordercast.simulator.observer import Observer

VIOLATIONS_MAX = 20
"""A broken protocol violates something at every delivery; so many are enough to see why."""


class OrderChecker(Observer):
    """Total order, no creation, no duplication, FIFO and causal order; validity at the end."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.violations: list[str] = []
        self.delivered = [0] * len(names)
        """How many entries each site has delivered."""
        self._names = names
        self._crashed: list[SiteId] = []
        self._sequence: deque[MessageId] = deque()
        self._first = 0
        """The place of the first entry of `_sequence` in the total order."""
        self._multicast: dict[MessageId, int] = {}
        """Multicast and not yet in the sequence: how much its sender had delivered by then."""
        self._next_seq: dict[int, int] = {}

    def on_multicast(self, at_us: int, site: SiteId, bundle: Bundle) -> None:
        self._multicast[bundle.id] = self.delivered[site]

    def on_deliver(self, at_us: int, site: SiteId, bundle: Bundle) -> None:
        place = self.delivered[site]
        self.delivered[site] = place + 1
        index = place - self._first
        sequence = self._sequence
        if index == len(sequence):
            self._append(site, place, bundle)
        elif sequence[index] != bundle.id:
            self._violated(
                f"total order: {self._at(site, place)} delivers {self._message(bundle.id)}, "
                f"another site {self._message(sequence[index])}"
            )
        if index == 0:
            self._forget()

    def _append(self, site: SiteId, place: int, bundle: Bundle) -> None:
        """A message gets its place in the sequence: the rest of the properties is checked once, here."""
        message = bundle.id
        self._sequence.append(message)
        known = self._multicast.pop(message, None)
        if known is None:
            self._violated(
                f"creation or duplication: {self._at(site, place)} delivers {self._message(message)}, "
                "which is not outstanding"
            )
            return
        if place < known:
            self._violated(
                f"causal order: {self._at(site, place)} delivers {self._message(message)}, "
                f"whose sender had delivered {known} entries before"
            )
        seq, origin = seq_of(message), message >> ORIGIN_SHIFT
        expected = self._next_seq.get(origin, 0)
        if seq != expected:
            self._violated(f"FIFO: {self._at(site, place)} delivers {self._message(message)}, expected is {expected}")
        self._next_seq[origin] = seq + len(bundle.bodies)

    def _forget(self) -> None:
        """Drop what every site has delivered."""
        slowest = min((count for site, count in enumerate(self.delivered) if site not in self._crashed), default=0)
        while self._first < slowest:
            self._sequence.popleft()
            self._first += 1

    def on_crash(self, at_us: int, site: SiteId) -> None:
        self._crashed.append(site)

    def on_end(self, at_us: int) -> None:
        """Validity: what a site that is up has multicast is delivered at every site that is up."""
        longest = self._first + len(self._sequence)
        for site, count in enumerate(self.delivered):
            if site not in self._crashed and count < longest:
                self._violated(f"validity: {self._names[site]} has delivered {count} of {longest} entries")
        for message in sorted(self._multicast):
            if message >> ORIGIN_SHIFT not in self._crashed:
                self._violated(f"validity: {self._message(message)} has not been delivered anywhere")

    def _violated(self, what: str) -> None:
        if len(self.violations) < VIOLATIONS_MAX:
            self.violations.append(what)

    def _at(self, site: SiteId, place: int) -> str:
        return f"{self._names[site]}, as its entry {place},"

    def _message(self, message: MessageId) -> str:
        return f"message {seq_of(message)} of {self._names[message >> ORIGIN_SHIFT]}"
