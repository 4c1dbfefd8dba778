"""One member of a PySyncObj cluster under load: `... PERIOD_MS WINDOW ADDRESSES` and what every member is told.

A `PERIOD_MS` of 0 leaves PySyncObj's own periods as they are.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any

from pysyncobj import FAIL_REASON, SyncObj, SyncObjConf, replicated

from bench.peers.member import SECOND_NS, Member

BEGIN_S = 60.0
POLL_S = 0.0005
NO_COMPACTION = 1 << 62


class Order(SyncObj):  # type: ignore[misc]  # PySyncObj has no types
    """The replicated state: what has been delivered."""

    def __init__(self, member: Member, addresses: list[str], configuration: SyncObjConf) -> None:
        others = [each for each in addresses if each != addresses[member.me]]
        super().__init__(addresses[member.me], others, configuration)
        self._member = member

    @replicated  # type: ignore[untyped-decorator]
    def deliver(self, payload: bytes) -> None:
        self._member.on_delivered((payload,))


def _configuration(period_ms: float) -> SyncObjConf:
    tuned = {"autoTickPeriod": period_ms / 1000, "appendEntriesPeriod": period_ms / 1000} if period_ms else {}
    return SyncObjConf(logCompactionMinEntries=NO_COMPACTION, logCompactionMinTime=NO_COMPACTION, **tuned)


def _await_all(order: Order, members: int) -> None:
    until_s = time.monotonic() + BEGIN_S
    while not (order.isReady() and _connected(order) == members - 1):
        if time.monotonic() > until_s:
            sys.exit("PySyncObj: not all members have come")
        time.sleep(0.05)


def _connected(order: Order) -> int:
    status = order.getStatus()
    return sum(value == 2 for key, value in status.items() if key.startswith("partner_node_status_server_"))


def _on_done(result: Any, error: int) -> None:
    if error != FAIL_REASON.SUCCESS:
        print(f"PySyncObj has refused a message, reason {error}", file=sys.stderr, flush=True)
        os._exit(1)


def _flood(order: Order, member: Member, window: int) -> None:
    while time.monotonic_ns() < member.until_ns:
        if member.under_way < window:
            order.deliver(member.message(time.monotonic_ns()), callback=_on_done)
        else:
            time.sleep(POLL_S)


def _pace(order: Order, member: Member) -> None:
    for due_ns in member.dues_ns():
        ahead_ns = due_ns - time.monotonic_ns()
        if ahead_ns > 0:
            time.sleep(ahead_ns / SECOND_NS)
        order.deliver(member.message(due_ns), callback=_on_done)


def main() -> None:
    period_ms, window, addresses, *arguments = sys.argv[1:]
    member = Member(arguments)
    order = Order(member, addresses.split(","), _configuration(float(period_ms)))
    _await_all(order, member.load.members)
    member.await_start()
    time.sleep(max(0, member.start_ns - time.monotonic_ns()) / SECOND_NS)
    if member.load.rate:
        _pace(order, member)
    else:
        _flood(order, member, int(window))
    order.deliver(member.last_message(), callback=_on_done)
    while not member.has_ended:
        time.sleep(0.01)
    time.sleep(0.5)  # the others may still need this member to come to the end
    member.report()
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
