"""What the environment turns on, and what it says when the extra is missing."""

from __future__ import annotations

import re
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest

from reverie.errors import SettingsError
from reverie.installing import install_command
from reverie.telemetry import lineage, spans
from reverie.telemetry.starting import ENDPOINT, LINEAGE, start_lineage, start_tracing


def start() -> None:
    start_tracing()
    start_lineage("postgresql://127.0.0.1/x", {})


@pytest.mark.parametrize("setting", [ENDPOINT, *LINEAGE])
def test_a_missing_extra_is_one_sentence(monkeypatch: pytest.MonkeyPatch, setting: str) -> None:
    def missing(name: str) -> Any:
        if name in ("reverie.telemetry.export", "openlineage.client"):
            raise ModuleNotFoundError("No module named 'opentelemetry'", name="opentelemetry")
        return import_module(name)

    monkeypatch.setattr("reverie.telemetry.starting.import_module", missing)
    monkeypatch.setenv(setting, "http://127.0.0.1:1")
    sentence = f"{setting} is set, which needs an extra: {install_command('telemetry')}."
    with pytest.raises(SettingsError, match=re.escape(sentence)):
        start()


@pytest.mark.parametrize("disabled", ["OTEL_SDK_DISABLED", "OPENLINEAGE_DISABLED"])
def test_it_stays_off(monkeypatch: pytest.MonkeyPatch, disabled: str) -> None:
    start()
    assert not spans.recording() and not lineage.emitting()
    monkeypatch.setenv(ENDPOINT if disabled.startswith("OTEL") else "OPENLINEAGE_URL", "http://127.0.0.1:1")
    monkeypatch.setenv(disabled, "true")
    start()
    assert not spans.recording() and not lineage.emitting()


@pytest.mark.parametrize(
    ("url", "namespace", "name"),
    [
        ("postgresql://u:secret@h/x", "postgres://h:5432", "x"),
        ("postgresql://u:secret@h1:5433,h2:5434/x", "postgres://h1:5433", "x"),
        ("postgresql://u:secret@h/?dbname=y", "postgres://h:5432", "y"),
        ("postgresql://u:secret@/x?host=/run/postgresql&port=5433", "postgres://localhost:5433", "x"),
        ("postgresql://u:secret@h", "postgres://h:5432", "u"),
    ],
)
def test_datasets_are_of_the_database_that_libpq_finds(
    monkeypatch: pytest.MonkeyPatch, url: str, namespace: str, name: str
) -> None:
    databases: list[lineage.Database] = []
    monkeypatch.setenv("OPENLINEAGE_URL", "http://127.0.0.1:1")
    extra = SimpleNamespace(OpenLineageClient=SimpleNamespace)
    monkeypatch.setattr("reverie.telemetry.starting._extra", lambda *_: extra)
    monkeypatch.setattr("reverie.telemetry.starting.Emitter", lambda _, *, database, **__: database)
    monkeypatch.setattr(lineage, "emit_to", databases.append)
    start_lineage(url, {})
    assert [(each.namespace, each.name) for each in databases] == [(namespace, name)]


def test_settings_that_openlineage_cannot_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__TYPE", "pigeon")
    with pytest.raises(SettingsError, match="OPENLINEAGE__TRANSPORT__TYPE cannot be used"):
        start()
