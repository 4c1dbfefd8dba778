"""What a site tells its operator: one JSON object a line, on the error output."""

from __future__ import annotations

import json
import sys
import time
from typing import Any, TextIO

REPEAT_S = 10.0
"""A warning that is the same as before is told again after so long, with how often it came."""


class Journal:
    """Lines with time, level and event; warnings that come again and again are told now and then."""

    def __init__(self, site: str = "", stream: TextIO | None = None) -> None:
        self._site = site
        self._stream = stream
        self._told: dict[str, tuple[float, int]] = {}
        """For each warning when it was told last, and how often it has come since."""

    def write(self, event: str, **details: Any) -> None:
        """Something worth knowing."""
        self._line("info", event, details)

    def warn(self, event: str, **details: Any) -> None:
        """Something that may need attention."""
        key = json.dumps([event, details], default=str)
        told_s, since = self._told.get(key, (-REPEAT_S, 0))
        now_s = time.monotonic()
        if now_s - told_s < REPEAT_S:
            self._told[key] = (told_s, since + 1)
            return
        self._told[key] = (now_s, 0)
        self._line("warning", event, details | ({"times": since + 1} if since else {}))

    def alarm(self, event: str, **details: Any) -> None:
        """Something that needs attention now."""
        self._line("error", event, details)

    def _line(self, level: str, event: str, details: dict[str, Any]) -> None:
        at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime())
        line = {"at": f"{at}.{time.time_ns() // 1_000_000 % 1000:03d}Z", "level": level, "event": event}
        if self._site:
            line["site"] = self._site
        print(json.dumps(line | details, default=str), file=self._stream or sys.stderr, flush=True)


class Silent(Journal):
    """Says nothing: for groups inside a test."""

    def _line(self, level: str, event: str, details: dict[str, Any]) -> None:
        pass
