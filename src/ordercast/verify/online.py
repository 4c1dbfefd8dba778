"""The same promises as in `verify.properties`, checked while a run goes on and in bounded memory.

All sites must deliver the same sequence, so it is kept once, from the slowest site's place on; what holds of it
holds at every site. A site that leaves the sequence is looked at once and then left alone: all that follows at that
site would be reported otherwise. A violation names the site, the place in the sequence and the messages.
"""

from __future__ import annotations

from collections import deque

from ordercast.core.ids import ORIGIN_SHIFT, SEQ_BITS, MessageId, SiteId, seq_of
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
        self._astray: list[SiteId] = []
        """Sites that have left the sequence."""
        self._sequence: deque[MessageId] = deque()
        self._first = 0
        """The place of the first entry of `_sequence` in the total order."""
        self._outstanding: dict[MessageId, int] = {}
        """Multicast and not yet in the sequence: how much its sender had delivered by then."""
        self._known: dict[MessageId, int] = {}
        """The same for the messages of `_sequence`."""
        self._multicast: dict[int, int] = {}
        """For each origin the first sequence number that it has not multicast yet."""
        self._expected: dict[int, int] = {}
        """For each origin the sequence number that must come next."""

    def on_multicast(self, at_us: int, site: SiteId, bundle: Bundle) -> None:
        self._outstanding[bundle.id] = self.delivered[site]
        self._multicast[bundle.id >> SEQ_BITS] = seq_of(bundle.id) + len(bundle.bodies)

    def on_deliver(self, at_us: int, site: SiteId, bundle: Bundle) -> None:
        place = self.delivered[site]
        self.delivered[site] = place + 1
        if self._astray and site in self._astray:
            return
        index = place - self._first
        sequence = self._sequence
        if index == len(sequence):
            self._append(site, place, bundle)
        elif sequence[index] != bundle.id:
            self._leaves(site, place, bundle.id)
        if index == 0:
            self._forget()

    def _append(self, site: SiteId, place: int, bundle: Bundle) -> None:
        """A message gets its place in the sequence: the rest of the properties is checked once, here."""
        message = bundle.id
        self._sequence.append(message)
        known = self._outstanding.pop(message, None)
        if known is None:
            self._not_outstanding(site, place, message)
            return
        self._known[message] = known
        self._check_causes(site, place, message, known)
        seq, origin = seq_of(message), message >> SEQ_BITS
        expected = self._expected.get(origin, 0)
        if seq != expected:
            self._violated("FIFO order", site, place, message, f", where its message {expected} is next")
        self._expected[origin] = seq + len(bundle.bodies)

    def _leaves(self, site: SiteId, place: int, message: MessageId) -> None:
        """The site's sequence parts from the others': say so, and what else is wrong with the message."""
        entry = self._sequence[place - self._first]
        self._violated("total order", site, place, message, f", another site {self._message(entry)}")
        known = self._outstanding.get(message, self._known.get(message))
        if known is not None:
            self._check_causes(site, place, message, known)
        if message not in self._outstanding and not self._comes_later(place, message):
            self._not_outstanding(site, place, message)
        self._astray.append(site)
        self._forget()

    def _comes_later(self, place: int, message: MessageId) -> bool:
        index = self._sequence.index(message) if message in self._known else -1
        return self._first + index > place

    def _not_outstanding(self, site: SiteId, place: int, message: MessageId) -> None:
        if seq_of(message) < self._multicast.get(message >> SEQ_BITS, 0):
            self._violated("duplication", site, place, message, " again")
        else:
            self._violated("creation", site, place, message, ", which nobody has multicast")

    def _check_causes(self, site: SiteId, place: int, message: MessageId, known: int) -> None:
        if place < known:
            self._violated("causal order", site, place, message, f", whose sender had delivered {known} entries before")

    def _forget(self) -> None:
        """Drop what every site has delivered."""
        gone = self._crashed + self._astray
        slowest = min((count for site, count in enumerate(self.delivered) if site not in gone), default=0)
        while self._first < slowest:
            self._known.pop(self._sequence.popleft(), None)
            self._first += 1

    def on_crash(self, at_us: int, site: SiteId) -> None:
        self._crashed.append(site)
        self._forget()

    def on_end(self, at_us: int) -> None:
        """Validity: what a site that is up has multicast, or any site delivered, every site that is up delivers."""
        longest = self._first + len(self._sequence)
        for site, count in enumerate(self.delivered):
            if count < longest and site not in self._crashed and site not in self._astray:
                self._report(f"validity: {self._names[site]} has delivered {count} of {longest} entries")
        for message in sorted(self._outstanding):
            if message >> ORIGIN_SHIFT not in self._crashed:
                self._report(f"validity: {self._message(message)} has not been delivered anywhere")

    def _violated(self, promise: str, site: SiteId, place: int, message: MessageId, why: str) -> None:
        what = f"{self._names[site]}, as its entry {place}, delivers {self._message(message)}"
        self._report(f"{promise}: {what}{why}")

    def _report(self, violation: str) -> None:
        if len(self.violations) < VIOLATIONS_MAX:
            self.violations.append(violation)

    def _message(self, message: MessageId) -> str:
        origin = message >> ORIGIN_SHIFT
        name = self._names[origin] if 0 <= origin < len(self._names) else f"site {origin}"
        return f"message {seq_of(message)} of {name}"
