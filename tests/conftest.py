"""Settings of all tests."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("ordercast", deadline=None, derandomize=True)
settings.load_profile("ordercast")
