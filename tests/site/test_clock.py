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
        running = asyncio.get_running_loop()
        mine, others = socket.socketpair()
        mine.setblocking(False)
        with mine, others:
            running.add_reader(mine, lambda: happened.append(f"heard {mine.recv(10).decode()}"))
            ended = asyncio.Event()
            SystemClock(running).call_later(1000, lambda: (happened.append("due"), ended.set())[0])
            others.sendall(b"alive")
            time.sleep(2 * HELD_UP_NS / 1e9)
            await ended.wait()
            running.remove_reader(mine)
        return happened

    with asyncio.Runner(loop_factory=LOOPS[loop]) as runner:
        assert runner.run(hold_up()) == ["heard alive", "due"]


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
