"""Three daemons on loopback with certificates, and the commands of their operator."""

from __future__ import annotations

import base64
import json
import signal
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest
from tools.daemons import PATIENCE_S, Daemons, free_ports, until

from ordercast.site.keys import authority
from ordercast.site.keys.files import KeyFiles

LIS1, LIS2, POR1 = NAMES = ("lis1", "lis2", "por1")

pytestmark = pytest.mark.slow


@pytest.fixture
def daemons(tmp_path: Path) -> Iterator[Daemons]:
    running = Daemons(tmp_path, dict.fromkeys(NAMES, "here"))
    running.up()
    try:
        running.await_members(*NAMES)
        yield running
    finally:
        running.close()


def payloads(daemons: Daemons, site: str, count: int) -> list[str]:
    """The first messages of the group, as the site has them."""
    done = daemons.command("tail", "jobs", "--start", "earliest", "--limit", str(count), "--json", site=site)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    return [base64.b64decode(event["payload"]).decode() for event in events if event["event"] == "delivery"]


def test_what_is_sent_at_one_site_is_read_at_all(daemons: Daemons) -> None:
    assert daemons.command("send", "jobs", "one", "two", site=LIS1).returncode == 0
    sent = daemons.command("send", "jobs", "--json", site=POR1, stdin=b"three\nfour\n")
    assert json.loads(sent.stdout)["messages"] == 2
    for name in NAMES:
        assert payloads(daemons, name, 4) == ["one", "two", "three", "four"]


def test_a_killed_site_comes_back_with_its_log_and_with_what_it_has_missed(daemons: Daemons) -> None:
    daemons.command("send", "jobs", "one", site=LIS1)
    daemons.end(POR1, signal.SIGKILL)
    daemons.await_members(LIS1, LIS2)
    daemons.command("send", "jobs", "two", site=LIS2)
    daemons.up(POR1)
    daemons.await_members(*NAMES)
    status = daemons.status(POR1)
    assert status is not None
    assert status["incarnation"] == 1
    assert payloads(daemons, POR1, 2) == ["one", "two"]


def test_a_site_that_is_told_to_end_leaves(daemons: Daemons) -> None:
    assert daemons.end(LIS2, signal.SIGTERM) == 0
    daemons.await_members(LIS1, POR1)
    assert daemons.journal(LIS2)[-1]["event"] == "stopped"
    assert not daemons.count(LIS2, "leave"), "it was let go in time"


def test_all_sites_may_leave_together(daemons: Daemons) -> None:
    for name in NAMES:
        daemons.send_signal(name, signal.SIGTERM)
    for name in NAMES:
        assert daemons.processes.pop(name).wait(PATIENCE_S) == 0
        assert not daemons.count(name, "leave"), "it was let go in time"


def test_the_whole_group_comes_back_from_its_logs(daemons: Daemons) -> None:
    daemons.command("send", "jobs", "one", site=LIS1)
    for name in NAMES:
        daemons.end(name, signal.SIGKILL)
    daemons.up()
    daemons.await_members(*NAMES)
    daemons.command("send", "jobs", "two", site=POR1)
    for name in NAMES:
        assert payloads(daemons, name, 2) == ["one", "two"]


def test_a_minority_is_blocked_and_comes_back(daemons: Daemons) -> None:
    daemons.end(LIS2, signal.SIGKILL)
    daemons.await_members(LIS1, POR1)
    daemons.send_signal(LIS1, signal.SIGSTOP)  # of two members the half with the lowest id may go on: not por1
    until(lambda: (daemons.status(POR1) or {}).get("state") == "blocked")
    assert daemons.command("status", site=POR1).returncode == 1
    daemons.send_signal(LIS1, signal.SIGCONT)
    daemons.await_members(LIS1, POR1)
    daemons.up(LIS2)
    daemons.await_members(*NAMES)


def reload(daemons: Daemons, *names: str) -> None:
    for name in names:
        before = daemons.count(name, "reloaded")
        daemons.send_signal(name, signal.SIGHUP)
        until(lambda name=name, before=before: daemons.count(name, "reloaded") > before)  # type: ignore[misc]


def test_certificates_are_renewed_while_the_group_runs(daemons: Daemons) -> None:
    files = KeyFiles(daemons.directory / "keys")
    authority.replace_authority(files)
    reload(daemons, *NAMES)
    for name in NAMES:
        authority.issue(files, name)
    reload(daemons, *NAMES)
    authority.retire(files)
    reload(daemons, *NAMES)
    daemons.await_members(*NAMES)
    daemons.command("send", "jobs", "one", site=LIS1)
    assert payloads(daemons, POR1, 1) == ["one"]


def test_a_revoked_site_is_shut_out(daemons: Daemons) -> None:
    authority.revoke(KeyFiles(daemons.directory / "keys"), POR1)
    reload(daemons, LIS1, LIS2)
    daemons.await_members(LIS1, LIS2)
    until(lambda: any("revoked" in line.get("reason", "") for line in daemons.journal(LIS1)))


def test_a_site_moves_to_another_address(daemons: Daemons) -> None:
    daemons.end(POR1, signal.SIGKILL)
    (daemons.ports[POR1],) = free_ports(1)
    daemons.write_file()
    reload(daemons, LIS1, LIS2)
    daemons.up(POR1)
    daemons.await_members(*NAMES)


def test_a_site_is_added_as_the_others_restart_one_after_the_other(daemons: Daemons) -> None:
    daemons.command("send", "jobs", "one", site=LIS1)
    daemons.add("por2", "here")
    for name in NAMES:
        assert daemons.end(name, signal.SIGTERM) == 0
        daemons.up(name)
        daemons.await_members(*NAMES)
    daemons.up("por2")
    daemons.await_members(*NAMES, "por2")
    assert daemons.command("ordering", "token-site", "--option", "site=por2", site=LIS2).returncode == 0
    daemons.command("send", "jobs", "two", site="por2")
    for name in daemons.names:
        assert payloads(daemons, name, 2) == ["one", "two"]


def test_commands_say_who_is_in_and_how_the_links_are(daemons: Daemons) -> None:
    assert daemons.command("links", site=LIS1).returncode == 0
    views = daemons.command("views", "--json", site=LIS1)
    assert json.loads(views.stdout)["members"] == list(NAMES)
    assert daemons.command("members", site=LIS1).returncode == 0


def test_the_ordering_is_changed_while_the_group_runs(daemons: Daemons) -> None:
    daemons.command("send", "jobs", "one", site=LIS1)
    changed = daemons.command("ordering", "token-site", "--option", f"site={LIS2}", site=POR1)
    assert changed.returncode == 0, changed.stderr
    daemons.command("send", "jobs", "two", site=POR1)
    for name in NAMES:
        assert payloads(daemons, name, 2) == ["one", "two"]
        assert daemons.command("ordering", site=name).stdout.strip() == b"token-site"
    wrong = daemons.command("ordering", "tokensite", site=LIS1)
    assert (wrong.returncode, len(wrong.stderr.splitlines())) == (2, 1)


def test_a_running_group_is_measured(daemons: Daemons) -> None:
    for more in ([], ["--rate", "50"]):
        done = daemons.command("bench", "--seconds", "0.5", "--json", *more, site=LIS1)
        figures = json.loads(done.stdout)
        assert figures["messages"] > 0
        assert figures["delivered_ms_p50"] <= figures["delivered_ms_p99"]


def test_figures_can_be_fetched(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    running = Daemons(tmp_path, {LIS1: "lisbon"}, metrics={LIS1: f"127.0.0.1:{port}"})
    running.up()
    try:
        running.await_members(LIS1)
        with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=PATIENCE_S) as answer:
            text = answer.read().decode()
    finally:
        running.close()
    assert 'ordercast_members{cluster="orders",site="lis1"} 1.0' in text
