"""What the environment turns on, and what it says when the extra is missing."""

from __future__ import annotations

import re
from importlib import import_module
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


def test_settings_that_openlineage_cannot_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__TYPE", "pigeon")
    with pytest.raises(SettingsError, match="OPENLINEAGE__TRANSPORT__TYPE cannot be used"):
        start()
