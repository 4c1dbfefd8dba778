"""Waiting for a stream: its end, its failure, Ctrl-C."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any

import pytest

from ordercast.cli.following import followed


class Query:
    """Active for so many looks; something happens at one of them."""

    def __init__(self, looks: int, happens: Callable[[], object] = lambda: None, fails: bool = False) -> None:
        self.looks = looks
        self.happens = happens
        self.fails = fails
        self.stopped = False

    @property
    def isActive(self) -> bool:
        self.looks -= 1
        if self.looks == 1:
            self.happens()
        return self.looks > 0

    def awaitTermination(self) -> None:
        if self.fails:
            raise ValueError("failed")

    def stop(self) -> None:
        self.stopped = True


def wait_for(query: Any, **more: Any) -> None:
    followed(query, lambda: "", **more)


def test_a_query_is_waited_for_until_it_ends_or_is_done() -> None:
    query = Query(3)
    wait_for(query, endless=False)
    assert query.looks <= 0
    query = Query(1000)
    wait_for(query, endless=True, done=lambda: True)
    assert query.looks > 900


def test_what_a_query_has_failed_of_is_raised() -> None:
    with pytest.raises(ValueError, match="failed"):
        wait_for(Query(2, fails=True), endless=True)


def test_ctrl_c_is_the_end_of_what_goes_on_for_ever_and_interrupts_all_else() -> None:
    before = signal.getsignal(signal.SIGINT)
    endless = Query(3, lambda: signal.raise_signal(signal.SIGINT))
    wait_for(endless, endless=True)
    assert not endless.stopped
    ending = Query(3, lambda: signal.raise_signal(signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        wait_for(ending, endless=False)
    assert ending.stopped
    assert signal.getsignal(signal.SIGINT) is before
