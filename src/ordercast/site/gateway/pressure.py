"""When participants have to wait: the site has too much under way, its links or its log cannot take more."""

from __future__ import annotations

from collections.abc import Callable

from ordercast.core.ids import SiteId
from ordercast.core.views import View

OUTSTANDING_BYTES = 16 << 20
"""So much of its participants' messages may be multicast by a site and not have come back to it."""


class Pressure:
    """Says when to stop taking requests, and when to go on."""

    def __init__(self, on_change: Callable[[bool], None], bound_bytes: int = OUTSTANDING_BYTES) -> None:
        self.is_high = False
        self.outstanding_bytes = 0
        self._on_change = on_change
        self._bound_bytes = bound_bytes
        self._congested: list[SiteId] = []
        self._log_waits = False
        self._ending = False
        self._over = False
        """Over the bound, and not yet back at half of it."""

    def add(self, weight: int) -> None:
        """So much more is under way."""
        self.outstanding_bytes += weight
        if not self._over and self.outstanding_bytes > self._bound_bytes:
            self._over = True
            self._judge()

    def release(self, weight: int) -> None:
        """So much has come back."""
        self.outstanding_bytes -= weight
        if self._over and self.outstanding_bytes <= self._bound_bytes // 2:
            self._over = False
            self._judge()

    def on_congestion(self, site: SiteId, full: bool) -> None:
        """The link to a site takes no more, or takes more again."""
        if site in self._congested:
            self._congested.remove(site)
        if full:
            self._congested.append(site)
        self._judge()

    def on_view(self, view: View) -> None:
        """Nobody waits for sites that are out."""
        self._congested = [site for site in self._congested if site in view.members]
        self._judge()

    def on_log(self, waits: bool) -> None:
        """The ordered log cannot be written, or can be again."""
        self._log_waits = waits
        self._judge()

    def on_end(self) -> None:
        """The site is about to end."""
        self._ending = True
        self._judge()

    def _judge(self) -> None:
        high = self._over or self._log_waits or self._ending or bool(self._congested)
        if high != self.is_high:
            self.is_high = high
            self._on_change(high)
