"""What can be chosen about an ordered log, and what each choice promises."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Fsync = Literal["always", "interval", "never"]
"""When what is written is forced to the disk. Whatever the choice, a crash leaves a prefix of what was asked for.

- `always`: before `durable` says so. A crash of the process, of the machine or of its power loses nothing durable.
- `interval`: at most `interval_ms` after it was written. A crash of the process loses nothing durable, one of the
  machine or of its power what was written in the last interval.
- `never`: whenever the operating system likes. A crash of the process loses nothing durable, one of the machine may
  lose much.

What is saved under a key (promises, views), all that was written before it, and the number of the site's life are
forced to the disk under each of them, before `durable` says so.
"""


class LogOptions(Struct, frozen=True, kw_only=True):
    """The `[log]` table of a cluster file, in the units of the machine."""

    fsync: Fsync = "always"
    interval_ms: float = 50.0
    segment_positions: int = 100_000
    """Final positions are sealed into a segment once there are so many ..."""
    segment_bytes: int = 32 << 20
    """... or so many bytes of them ..."""
    segment_age_s: float = 600.0
    """... or the oldest has waited so long."""
    retention_bytes: int | None = None
    """Old segments are dropped while all together are larger ..."""
    retention_s: float | None = None
    """... or while the newest message of the oldest is older. The rest that a restart needs is never dropped."""
    retry_ms: float = 500.0
    """How often a full disk is tried again."""
