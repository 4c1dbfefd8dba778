"""The figures of a site for Prometheus: made when they are fetched, from what is counted anyway."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Thread
from typing import TYPE_CHECKING, Any

import msgspec
from prometheus_client import CollectorRegistry, generate_latest, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from ordercast.core.errors import NotFit

if TYPE_CHECKING:
    from ordercast.site.daemon import Site

LABELS = ("cluster", "site")


class SiteMetrics:
    """What Prometheus collects of one site."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._labels = (site.cluster, site.name)
        self._registry = CollectorRegistry()
        self._registry.register(self)
        self._server: tuple[Any, Thread] | None = None

    def collect(self) -> Iterator[Metric]:
        """All figures as they are now."""
        site, gateway, log = self._site, self._site.gateway, self._site.log
        yield self._gauge("position", "The next position of the order", gateway.recent.end)
        yield self._gauge("final_position", "Positions below are final", gateway.recent.final)
        yield self._gauge("view", "The number of the view", 0 if site.view is None else site.view.id)
        yield self._gauge("members", "Sites in the view", 0 if site.view is None else len(site.view.members))
        yield self._gauge("blocked", "Whether too few sites can be reached", site.blocked)
        yield self._gauge("participants", "Connected participants", len(gateway.connections))
        yield self._gauge("outstanding_bytes", "Multicast here and not delivered", gateway.pressure.outstanding_bytes)
        yield self._gauge("effects_held_back", "What waits for the disk before it leaves", site.driver.held_back)
        yield self._gauge("log_writes_waiting", "Writes that are not durable yet", log.written - log.durable)
        yield self._counter("events", "Events that the stack has handled", site.driver.events)
        yield self._counter("retractions", "How often tentative deliveries were taken back", gateway.retractions)
        yield self._counter("participants_refused", "Connections of participants closed for bad bytes", gateway.refused)
        yield self._counter("bad_messages", "Frames from sites that held no message", site.bad_messages)
        yield self._counter("alarms", "Final orders that differ from another site's", site.alarms)
        if site.links is not None:
            for name, value in msgspec.structs.asdict(site.links.counters).items():
                yield self._counter(f"link_{name}", f"Links to other sites: {name.replace('_', ' ')}", value)

    def _gauge(self, name: str, words: str, value: float) -> Metric:
        family = GaugeMetricFamily(f"ordercast_{name}", words, labels=LABELS)
        family.add_metric(self._labels, value)
        return family

    def _counter(self, name: str, words: str, value: float) -> Metric:
        family = CounterMetricFamily(f"ordercast_{name}", words, labels=LABELS)
        family.add_metric(self._labels, value)
        return family

    def text(self) -> str:
        """The figures as Prometheus reads them."""
        return generate_latest(self._registry).decode()

    def serve(self, host: str, port: int) -> None:
        """Answer whoever fetches them, from a thread."""
        try:
            self._server = start_http_server(port, host, self._registry)
        except OSError as error:
            raise NotFit(f"metrics cannot be served on {host}:{port} ({error.strerror or error})") from error

    def stop(self) -> None:
        """Answer no more."""
        if self._server is not None:
            server, thread = self._server
            server.shutdown()
            server.server_close()
            thread.join()
            self._server = None
