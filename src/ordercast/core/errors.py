"""Errors that are the caller's to mend. Bad bytes are `core.wire.BadBytes`; our own bugs are assertions."""

from __future__ import annotations


class WrongUse(Exception):
    """Something asked for cannot be done; the message says what to do instead. Command line: exit 2."""


class NotFit(Exception):
    """The environment lacks something; the message says how to get it. Command line: exit 3."""
