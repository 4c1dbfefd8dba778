"""How a site's process is set up before the site is."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner

from ordercast.cli.main import main
from ordercast.cli.up import go_first
from ordercast.core.errors import NotFit

CLUSTER = """
cluster = "orders"
[security]
tls = false
[[site]]
name = "lis1"
facility = "lisbon"
address = "127.0.0.1:7400"
"""


def refuse(*arguments: object) -> None:
    raise PermissionError


def test_who_may_not_have_real_time_is_told_so_before_anything_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_setscheduler", refuse)
    file = tmp_path / "cluster.toml"
    file.write_text(CLUSTER)
    done = CliRunner().invoke(main, ["up", str(file), "--site", "lis1", "--real-time"])
    assert done.exit_code == 3
    assert "--real-time: this process may not; give it CAP_SYS_NICE" in done.output
    assert [path.name for path in tmp_path.iterdir()] == ["cluster.toml"]


def test_the_loop_has_real_time_and_the_threads_that_it_starts_have_not() -> None:
    found: list[int] = []

    def note() -> None:
        found.append(os.sched_getscheduler(0))

    def run() -> None:
        try:
            go_first()
        except NotFit:
            return
        note()
        inner = threading.Thread(target=note)
        inner.start()
        inner.join()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if not found:
        pytest.skip("this process may not have real-time priority")
    assert found == [os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.SCHED_OTHER]
    assert os.sched_getscheduler(0) == os.SCHED_OTHER
