"""What several tests of participants need."""

from __future__ import annotations

import socket

import pytest


@pytest.fixture
def unused_port() -> int:
    """Nobody listens there at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
