"""Processor time of a piece of work, and of its parts."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

Result = TypeVar("Result")

Part = tuple[type, str, str]
"""A class, the name of one of its methods, and the account that the method's time goes to."""

CALIBRATION_CALLS = 100_000


def timed(work: Callable[[], Result]) -> tuple[Result, float]:
    """What it returns, and the processor time it takes."""
    gc.collect()
    begin_s = time.process_time()
    result = work()
    return result, time.process_time() - begin_s


class Stopwatch:
    """Divides time among accounts: each moment counts for the method that was entered last and has not returned.

    Taking the time takes time itself, a part of it in the account that is entered and the rest in the one around it.
    Both parts are measured with a method that does nothing, and taken off.
    """

    def __init__(self, outermost: str) -> None:
        self.outermost = outermost
        self.spent_ns: dict[str, int] = {outermost: 0}
        self.calls: dict[str, int] = {outermost: 0}
        self.left: dict[str, int] = {outermost: 0}
        """How often an account was left for another, and come back to."""
        self._open: list[str] = [outermost]
        self._since_ns = 0

    def start(self) -> None:
        """From now on; what was booked before does not count."""
        for figures in (self.spent_ns, self.calls, self.left):
            figures.update(dict.fromkeys(figures, 0))
        self._since_ns = time.perf_counter_ns()

    def stop(self) -> None:
        """Book what is left."""
        self._book(time.perf_counter_ns())

    def _book(self, now_ns: int) -> None:
        self.spent_ns[self._open[-1]] += now_ns - self._since_ns
        self._since_ns = now_ns

    def watching(self, method: Callable[..., Any], account: str) -> Callable[..., Any]:
        """The method, with its time booked to the account."""
        for figures in (self.spent_ns, self.calls, self.left):
            figures.setdefault(account, 0)
        clock, spent, open_accounts = time.perf_counter_ns, self.spent_ns, self._open

        def watched(*arguments: Any, **named: Any) -> Any:
            around = open_accounts[-1]
            now_ns = clock()
            spent[around] += now_ns - self._since_ns
            self._since_ns = now_ns
            self.calls[account] += 1
            self.left[around] += 1
            open_accounts.append(account)
            result = method(*arguments, **named)
            now_ns = clock()
            spent[account] += now_ns - self._since_ns
            self._since_ns = now_ns
            open_accounts.pop()
            return result

        return watched

    def seconds(self) -> dict[str, float]:
        """By account, without what taking the time has cost."""
        inside_ns, around_ns = _cost_ns()
        return {
            account: max(0.0, spent - inside_ns * self.calls[account] - around_ns * self.left[account]) / 1e9
            for account, spent in self.spent_ns.items()
        }


def _cost_ns() -> tuple[float, float]:
    """What one call costs: in the account that it enters, and in the one around it."""
    watch = Stopwatch("around")
    bare: Callable[[], None] = lambda: None  # noqa: E731
    watched = watch.watching(bare, "inside")

    def loop(method: Callable[[], None]) -> None:
        for _ in range(CALIBRATION_CALLS):
            method()

    _, bare_s = timed(lambda: loop(bare))
    watch.start()
    loop(watched)
    watch.stop()
    inside_ns = watch.spent_ns["inside"] / CALIBRATION_CALLS
    return inside_ns, max(0.0, watch.spent_ns["around"] / CALIBRATION_CALLS - bare_s * 1e9 / CALIBRATION_CALLS)


@contextmanager
def watched(watch: Stopwatch, parts: Sequence[Part]) -> Iterator[None]:
    """As long as this lasts, these methods are watched."""
    originals = [(kind, name, kind.__dict__[name]) for kind, name, _ in parts]
    for (kind, name, original), (_, _, account) in zip(originals, parts, strict=True):
        setattr(kind, name, watch.watching(original, account))
    try:
        yield
    finally:
        for kind, name, original in originals:
            setattr(kind, name, original)
