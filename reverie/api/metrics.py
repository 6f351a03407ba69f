"""Metrics for Prometheus: requests by route template and status, time, pool, recalls; no tenant, id or text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import nan

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector

__all__ = ["CONTENT_TYPE_LATEST", "Metrics"]

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.2, 0.3, 0.5, 1, 2.5, 5, 10)


class Metrics:
    """The metrics of one app, in a registry of its own, so that two apps in one process do not add up."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self.seconds = Histogram(
            "reverie_request_seconds",
            "Time until the answer was sent, by method and route template.",
            ("method", "route"),
            registry=self._registry,
            buckets=_SECONDS,
        )
        self.answers = Counter(
            "reverie_answers", "Answers by method, route template and status.", ("method", "route", "status"),
            registry=self._registry,
        )  # fmt: skip
        self.in_flight = Gauge("reverie_requests_in_flight", "Requests in work.", registry=self._registry)
        self.unlogged = Counter(
            "reverie_unlogged",
            "Recalls and contexts that were answered and could not be logged.",
            registry=self._registry,
        )

        self.flushed = Counter(
            "reverie_flushed_turns", "Turns that this process moved to the log.", registry=self._registry
        )
        self.flush_failures = Counter(
            "reverie_flush_failures", "Failed searches for quiet sessions.", registry=self._registry
        )

    def watch_pool(self, role: str, figures: Callable[[], dict[str, int]]) -> None:
        """Report on a pool of connections; `figures` are those of `AsyncStore.figures`."""
        self._registry.register(_Pool(role, figures))

    def watch_replica(self, lag: Callable[[], float | None], is_used: Callable[[], bool]) -> None:
        """Report on the read replica: its lag in seconds (None: unknown) and whether it answers reads."""
        seconds = Gauge(
            "reverie_replica_lag_seconds",
            "Seconds by which the read replica is behind at most; NaN: not known.",
            registry=self._registry,
        )
        seconds.set_function(lambda: nan if (behind := lag()) is None else behind)
        used = Gauge(
            "reverie_replica_used", "1: reads are answered by the replica, 0: by the primary.", registry=self._registry
        )
        used.set_function(lambda: float(is_used()))

    def text(self) -> bytes:
        """Return all metrics in Prometheus's text format."""
        return generate_latest(self._registry)


class _Pool(Collector):
    def __init__(self, role: str, figures: Callable[[], dict[str, int]]) -> None:
        self._role, self._figures = role, figures

    def collect(self) -> Iterator[GaugeMetricFamily]:
        found = self._figures()
        for name, key, meaning in (
            ("connections", "pool_size", "Connections to Postgres."),
            ("connections_free", "pool_available", "Connections that nobody uses."),
            ("requests_waiting", "requests_waiting", "Requests that wait for a connection."),
        ):
            family = GaugeMetricFamily(f"reverie_pool_{self._role}_{name}", meaning)
            family.add_metric((), found.get(key, 0))
            yield family
