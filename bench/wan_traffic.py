"""The two ends of a measurement of `tools.wan`, each a process of its own: `send` and `receive`.

Each packet tells when it was sent. When it arrived is told by the kernel, so that a receiver that has to wait for a
processor does not count against the switch.
"""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import sys
import time

HEADER = struct.Struct("!Qq")
"""Number of the packet, and when it was sent."""

STAMP = struct.Struct("@qq")
END = (1 << 64) - 1
SIZE_BYTES = 100
BUFFER_BYTES = 1 << 26
PATIENCE_S = 30.0

SO_TIMESTAMPNS, SO_RCVBUFFORCE, SO_SNDBUFFORCE = 35, 33, 32
SLEEP_AHEAD_S = 0.0002
ENDS = 20
"""The last packet is sent so often: one may be lost."""


def send(address: str, port: int, rate: float, duration_s: float) -> None:
    """Packets at this rate; as many as can be if it is 0."""
    endpoint = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    endpoint.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, BUFFER_BYTES)
    endpoint.connect((address, port))
    padding = bytes(SIZE_BYTES - HEADER.size)
    begin_s, number = time.monotonic(), 0
    while (elapsed_s := time.monotonic() - begin_s) < duration_s:
        if rate:
            ahead_s = number / rate - elapsed_s
            if ahead_s > 0:
                if ahead_s > SLEEP_AHEAD_S:
                    time.sleep(ahead_s - SLEEP_AHEAD_S / 2)
                continue
        endpoint.send(HEADER.pack(number, time.time_ns()) + padding)
        number += 1
    # Once the receiver has gone, its kernel says so.
    with contextlib.suppress(ConnectionRefusedError):
        for _ in range(ENDS):
            time.sleep(0.05)
            endpoint.send(HEADER.pack(END, number) + padding)


def receive(address: str, port: int) -> None:
    """Prints how many were sent and how many came, and how long each took."""
    endpoint = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    endpoint.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES)
    endpoint.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    endpoint.bind((address, port))
    endpoint.settimeout(PATIENCE_S)
    print("ready", flush=True)
    took_us: list[float] = []
    while True:
        packet, ancillary, _, _ = endpoint.recvmsg(SIZE_BYTES, socket.CMSG_SPACE(STAMP.size))
        number, sent_ns = HEADER.unpack_from(packet)
        if number == END:
            break
        seconds, nanoseconds = STAMP.unpack(ancillary[0][2])
        took_us.append((seconds * 1_000_000_000 + nanoseconds - sent_ns) / 1e3)
    # The last packet carries the number of all in the place of the time.
    print(json.dumps({"sent": sent_ns, "took_us": took_us}), flush=True)


if __name__ == "__main__":
    role, address, port, *rest = sys.argv[1:]
    if role == "send":
        send(address, int(port), *map(float, rest))
    else:
        receive(address, int(port))
