"""What participants have asked for and have seen, and whether it agrees: nothing lost, nothing twice, one order."""

from __future__ import annotations

from array import array

from msgspec import Struct, field

TOLD_MAX = 20
"""So many problems of one kind are told in full."""


class Asked(Struct):
    """A message that a participant has multicast."""

    at_s: float
    site: str
    has_receipt: bool = False
    """A final one."""
    position: int | None = None
    """What the receipt says; nothing for a message that had come up before it was repeated."""
    unknown: int = 0
    """How often the outcome was not known, so that it was multicast again."""


class Stream(Struct):
    """What one participant has seen of the group."""

    site: str
    at: dict[bytes, int] = {}
    """The position of each message, ..."""
    keys: list[tuple[int, bytes]] = []
    """... and the messages in their order."""
    final_below: int = 0
    retracted: int = 0
    """How many deliveries have been taken back."""
    resumed: int = 0
    """How often the connection came back."""
    problems: list[str] = []
    delivered_s: array[float] = field(default_factory=lambda: array("d"))
    """When each message came, ..."""
    asked_s: array[float] = field(default_factory=lambda: array("d"))
    """... and when it had been multicast."""

    def on_delivery(self, position: int, key: bytes, final: bool) -> None:
        """A message, above all before it."""
        if self.keys and position <= self.keys[-1][0]:
            self._wrong(f"position {position} comes after {self.keys[-1][0]}")
        if position < self.final_below:
            self._wrong(f"position {position} comes when all below {self.final_below} was final")
        if key in self.at:
            self._wrong(f"{key.decode()} at {position} is at {self.at[key]} already")
        self.at[key] = position
        self.keys.append((position, key))
        if final:
            self.on_final(position + 1)

    def on_final(self, below: int) -> None:
        """What is below stays where it is."""
        self.final_below = max(self.final_below, below)

    def on_retracted(self, start: int) -> None:
        """What came from there on is void."""
        if start < self.final_below:
            self._wrong(f"retracted from {start} on, though all below {self.final_below} was final")
        while self.keys and self.keys[-1][0] >= start:
            _, key = self.keys.pop()
            self.at.pop(key, None)
            self.retracted += 1

    def on_end(self, reason: str) -> None:
        """The stream has broken off."""
        self._wrong(f"the stream has ended: {reason}")

    def _wrong(self, what: str) -> None:
        self.problems.append(f"{self.site}: {what}")


class Ledger:
    """Of all participants."""

    def __init__(self, sites: tuple[str, ...]) -> None:
        self.asked: dict[bytes, Asked] = {}
        self.streams = {site: Stream(site) for site in sites}

    def on_asked(self, site: str, key: bytes, at_s: float) -> None:
        """A participant multicasts."""
        self.asked[key] = Asked(at_s, site)

    def on_receipt(self, key: bytes, position: int | None) -> None:
        """It has been told that the message is final."""
        asked = self.asked[key]
        asked.has_receipt, asked.position = True, position

    def on_delivery(self, site: str, position: int, key: bytes, final: bool, at_s: float) -> None:
        """A participant gets a message."""
        stream = self.streams[site]
        asked = self.asked.get(key)
        stream.on_delivery(position, key, final)
        if asked is not None:
            stream.delivered_s.append(at_s)
            stream.asked_s.append(asked.at_s)

    @property
    def receipts(self) -> int:
        """Messages whose participant knows them to be final."""
        return sum(asked.has_receipt for asked in self.asked.values())

    @property
    def repeats(self) -> int:
        """Multicasts that were repeated since their outcome was not known."""
        return sum(asked.unknown for asked in self.asked.values())

    def missing(self) -> list[str]:
        """What some participant has not got yet, or not for good."""
        found = []
        for site, stream in self.streams.items():
            absent = sum(key not in stream.at for key in self.asked)
            if absent or (stream.keys and stream.keys[-1][0] >= stream.final_below):
                end = stream.keys[-1][0] + 1 if stream.keys else 0
                found.append(f"{site}: {absent} messages missing, final below {stream.final_below} of {end}")
        return found

    def problems(self) -> list[str]:
        """All that is wrong in the end, when everything should be delivered everywhere for good."""
        found = [problem for stream in self.streams.values() for problem in few(stream.problems)]
        found += self.missing()
        without = sum(not asked.has_receipt for asked in self.asked.values())
        if without:
            found.append(f"{without} multicasts without a receipt")
        orders = {site: stream.keys for site, stream in self.streams.items()}
        return found + order_problems(self.asked, orders)


def order_problems(asked: dict[bytes, Asked], orders: dict[str, list[tuple[int, bytes]]]) -> list[str]:
    """Where some order disagrees with the others, with a receipt or with what was multicast at all."""
    found: list[str] = []
    known: dict[int, tuple[str, bytes]] = {}
    for where, order in orders.items():
        places: dict[bytes, int] = {}
        wrong: list[str] = []
        for position, key in order:
            first, other = known.setdefault(position, (where, key))
            if other != key:
                wrong.append(f"{where}: {key.decode()} at {position}, where {first} has {other.decode()}")
            if places.setdefault(key, position) != position:
                wrong.append(f"{where}: {key.decode()} at {places[key]} and at {position}")
            if key not in asked:
                wrong.append(f"{where}: {key.decode()} at {position}, which nobody has multicast")
        for key, each in asked.items():
            if not each.has_receipt:
                continue
            if key not in places:
                wrong.append(f"{where}: {key.decode()} is lost, which had a receipt for {each.position}")
            elif each.position not in (None, places[key]):
                wrong.append(f"{where}: {key.decode()} at {places[key]}, its receipt says {each.position}")
        found += few(wrong)
    return found


def few(problems: list[str]) -> list[str]:
    """The first of them, and how many more there are."""
    if len(problems) <= TOLD_MAX:
        return problems
    return [*problems[:TOLD_MAX], f"... and {len(problems) - TOLD_MAX} more like the last"]
