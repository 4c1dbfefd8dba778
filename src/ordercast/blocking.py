"""The client library for programs without an event loop."""

from __future__ import annotations

from ordercast.client.blocking import Group, Site, connect, embedded

__all__ = ["Group", "Site", "connect", "embedded"]
