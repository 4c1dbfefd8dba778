"""The programs of docs/client.md run, and print what the page says."""

from __future__ import annotations

import asyncio
import contextlib
import io
import re
import subprocess
import sys
from pathlib import Path

import pytest

import ordercast
from ordercast import MessageKey, OutcomeUnknown, Receipt
from tests.client.running import run
from tests.source import ROOT

TEXT = (ROOT / "docs" / "client.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", TEXT, re.DOTALL)
PROGRAMS = [code for kind, code in BLOCKS if kind == "python"]
FIRST, BLOCKING, SURELY, WORK, TEST = PROGRAMS
(PRINTED,) = [text for kind, text in BLOCKS if kind == "text"]

SOCKET = "unix:///run/ordercast/lis1.sock"

CLUSTER = """
cluster = "alone"
security = { tls = false }
log = { fsync = "never" }
[[site]]
name = "lis1"
address = "127.0.0.1:%d"
"""


def embedded(tmp_path: Path, port: int) -> ordercast.Site:
    """The site of which the page speaks."""
    path = tmp_path / "cluster.toml"
    path.write_text(CLUSTER % port)
    return ordercast.embedded(path, "lis1", name="keeper")


async def program(code: str, tmp_path: Path) -> str:
    """What it prints, with the site's socket where the test has it."""
    code = code.replace(SOCKET, str(tmp_path / "run" / "lis1.sock"))
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    printed, complaints = await process.communicate()
    assert process.returncode == 0, complaints.decode()
    return printed.decode()


@pytest.mark.parametrize(("code", "printed"), [(FIRST, PRINTED), (BLOCKING, "bob@lis1 b'hello'\n")])
def test_a_program_that_connects(code: str, printed: str, tmp_path: Path, unused_port: int) -> None:
    assert SOCKET in code

    async def test() -> None:
        async with embedded(tmp_path, unused_port):
            assert await program(code, tmp_path) == printed

    run(test)


def names_of(code: str) -> dict[str, object]:
    """What a program defines."""
    names: dict[str, object] = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(code, "docs/client.md", "exec"), names)
    return names


def test_multicasting_until_it_is_sure() -> None:
    surely = names_of(SURELY)["surely"]
    asked: list[MessageKey | None] = []

    class Shaky:
        """Loses the first two."""

        async def multicast(self, payload: bytes, *, again: MessageKey | None) -> Receipt:
            asked.append(again)
            if len(asked) < 3:
                raise OutcomeUnknown("lost", MessageKey(5, 6))
            return Receipt(None, None, None, True)

    async def test() -> None:
        assert (await surely(Shaky(), b"x")).repeated  # type: ignore[operator]

    run(test)
    assert asked == [None, MessageKey(5, 6), MessageKey(5, 6)]


def test_working_through_what_is_past(tmp_path: Path, unused_port: int) -> None:
    work_through = names_of(WORK)["work_through"]

    async def test() -> None:
        async with embedded(tmp_path, unused_port) as site:
            async with site.join("orders") as group:
                receipt = await group.multicast_many([b"%d" % number for number in range(25)])
            assert receipt.position is not None
            done = await work_through(site, receipt.position - 1)  # type: ignore[operator]
            assert done == receipt.position + 9
            assert await work_through(site, done) == receipt.position + 19  # type: ignore[operator]

    run(test)


def test_the_test_of_an_application() -> None:
    names_of(TEST)
