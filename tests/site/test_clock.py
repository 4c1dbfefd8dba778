"""The clock of the machine: what has arrived is handled before what is due, after the loop was held up."""

from __future__ import annotations

import asyncio
import socket
import time

import pytest
import uvloop

from ordercast.site.clock import HELD_UP_NS, SystemClock

LOOPS = {"asyncio": asyncio.SelectorEventLoop, "uvloop": uvloop.Loop}


@pytest.mark.parametrize("loop", LOOPS)
def test_what_has_arrived_while_the_loop_was_held_up_comes_first(loop: str) -> None:
    async def hold_up() -> list[str]:
        happened: list[str] = []
        running, ended = asyncio.get_running_loop(), asyncio.Event()
        mine, others = socket.socketpair()
        mine.setblocking(False)

        def hear() -> None:
            said = mine.recv(5).decode()
            happened.append(said)
            if said == "first":
                others.sendall(b"again")
                time.sleep(2 * HELD_UP_NS / 1e9)

        def go_off() -> None:
            happened.append("due")
            ended.set()

        with mine, others:
            running.add_reader(mine, hear)
            SystemClock(running).call_later(1000, go_off)
            others.sendall(b"first")
            await ended.wait()
            running.remove_reader(mine)
        return happened

    with asyncio.Runner(loop_factory=LOOPS[loop]) as runner:
        assert runner.run(hold_up()) == ["first", "again", "due"]


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("held_up", [False, True])
def test_what_is_taken_back_does_not_go_off(loop: str, held_up: bool) -> None:
    async def take_back() -> list[str]:
        happened: list[str] = []
        running = asyncio.get_running_loop()
        clock, ended = SystemClock(running), asyncio.Event()
        alarm = clock.call_later(1000, lambda: happened.append("went off"))
        if held_up:
            time.sleep(2 * HELD_UP_NS / 1e9)
            await asyncio.sleep(0)  # it has seen that it is late, and waits
        alarm.cancel()
        clock.call_later(2000, ended.set)
        await ended.wait()
        return happened

    with asyncio.Runner(loop_factory=LOOPS[loop]) as runner:
        assert runner.run(take_back()) == []
