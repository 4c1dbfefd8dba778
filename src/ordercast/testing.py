"""For tests of applications: a whole group in one process."""

from __future__ import annotations

from ordercast.client.testing import LocalGroup

__all__ = ["LocalGroup"]
