"""The reference of metrics: those that the API serves to Prometheus, and those that dbt's semantic layer computes."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from reverie.api.metrics import Metrics
from tools.reference.table import table

FOLDER = Path(__file__).resolve().parents[2] / "dbt" / "models" / "metrics"
_FAMILY = re.compile(r"^# HELP (\S+) (.*)\n# TYPE \S+ (\w+)$", re.MULTILINE)


def metrics_page() -> str:
    """Return the metrics of both sources."""
    return (
        "# Metrics\nEvery metric that Reverie offers, by where it is read. [telemetry.md](../docs/telemetry.md) has "
        "those that OpenTelemetry sends; [operating.md](../docs/operating.md) says which to watch.\n\n"
        "## /metrics of the API\n\nIn Prometheus's text format, without tenants, ids or texts.\n\n"
        f"{table(('metric', 'type', ''), _served())}\n"
        "## The semantic layer\n\nFor BI tools and MetricFlow, by tenant and by day, week, month, quarter or year.\n\n"
        f"{table(('metric', 'type', ''), _computed())}"
    )


def _served() -> list[tuple[str, str, str]]:
    metrics = Metrics()
    for pool in ("reader", "worker", "replica"):
        metrics.watch_pool(pool, dict)
    metrics.watch_replica(lambda: None, lambda: False)
    found = _FAMILY.findall(metrics.text().decode())
    return [(f"`{name}`", kind, text) for name, text, kind in found if not name.endswith("_created")]


def _computed() -> list[tuple[str, str, str]]:
    metrics = [
        metric
        for path in sorted(FOLDER.glob("*.yml"))
        for metric in yaml.safe_load(path.read_text(encoding="utf-8")).get("metrics", ())
    ]
    return [(f"`{each['name']}`", each["type"], each["description"]) for each in metrics]
