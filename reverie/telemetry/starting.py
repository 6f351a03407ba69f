"""Turns on what the environment sets: traces and metrics by OTEL_EXPORTER_OTLP_ENDPOINT, lineage by OPENLINEAGE_URL.

The programs' entry points call it when they open the database. Without these variables it only reads the environment.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from reverie.errors import SettingsError
from reverie.installing import install_command
from reverie.telemetry import lineage, spans
from reverie.telemetry.lineage import Database, Emitter, StageTables

#: The variable that turns on traces and metrics. OpenTelemetry's other variables say how they are sent.
ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
#: Any of these turns lineage events on: a URL, a file of OpenLineage's settings, or its transport, such as `file`.
LINEAGE = ("OPENLINEAGE_URL", "OPENLINEAGE_CONFIG", "OPENLINEAGE__TRANSPORT__TYPE")


def start_tracing() -> None:
    """Turn on traces and metrics if the environment sets them, once per process.

    Raises SettingsError: the extra `telemetry` is not installed.
    """
    if not os.environ.get(ENDPOINT) or spans.recorder() is not None:
        return
    if os.environ.get("OTEL_SDK_DISABLED", "").lower() != "true":
        spans.record_to(_extra("reverie.telemetry.export", ENDPOINT).OtelRecorder())


def start_lineage(url: str, tables: Mapping[str, StageTables]) -> None:
    """Turn on lineage events if the environment sets them, once per process. `url`: the database's; `tables`: by stage.

    Raises SettingsError: the extra `telemetry` is not installed, or OpenLineage's settings cannot be used.
    """
    chosen = next((name for name in LINEAGE if os.environ.get(name)), None)
    if chosen is None or lineage.emitting() or os.environ.get("OPENLINEAGE_DISABLED", "").lower() in ("true", "1"):
        return
    client_class = _extra("openlineage.client", chosen).OpenLineageClient
    try:
        client = client_class(config=_bounded())
    except Exception as error:  # any that its settings cause; a value may be secret
        raise SettingsError(f"{chosen} cannot be used: OpenLineage fails with {type(error).__name__}.") from None
    namespace = os.environ.get("OPENLINEAGE_NAMESPACE") or "reverie"
    lineage.emit_to(Emitter(client, namespace=namespace, database=_database(url), tables=tables))


def _bounded() -> dict[str, Any] | None:
    """Return two seconds and no retry for a bare URL, else None: OpenLineage's defaults could hold a stage up."""
    url = os.environ.get("OPENLINEAGE_URL")
    if not url or any(os.environ.get(name) for name in LINEAGE[1:]):
        return None
    transport: dict[str, Any] = {"type": "http", "url": url, "timeout": 2.0, "retry": {"total": 0}}
    if endpoint := os.environ.get("OPENLINEAGE_ENDPOINT"):
        transport["endpoint"] = endpoint
    if key := os.environ.get("OPENLINEAGE_API_KEY"):
        transport["auth"] = {"type": "api_key", "apiKey": key}
    return {"transport": transport}


def _database(url: str) -> Database:
    """Return host, port and name of the database, without the secrets in the URL; of several hosts, the first."""
    from psycopg.conninfo import conninfo_to_dict

    parts = conninfo_to_dict(url)
    host, port = (str(parts.get(part) or "").partition(",")[0] for part in ("host", "port"))
    return Database(
        host="localhost" if host.startswith("/") else host or "localhost",  # a folder: a socket of this machine
        port=int(port or 5432),
        name=str(parts.get("dbname") or parts.get("user") or "postgres"),
    )


def _extra(module: str, setting: str) -> Any:
    """Import a module. Raises SettingsError if its library is not installed."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("reverie"):
            raise
        raise SettingsError(f"{setting} is set, which needs an extra: {install_command('telemetry')}.") from None
