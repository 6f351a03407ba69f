"""A request to a language model is a span under what asked for it, with model and tokens and without a word."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from reverie.telemetry import names, spans
from reverie.telemetry.export import OtelRecorder
from tests.models.conftest import inputs

pytestmark = pytest.mark.filterwarnings("ignore:Item 'summary' on TypedDict:UserWarning")


def test_a_request_is_a_span(put: Callable[..., list[Any]]) -> None:
    exporter = InMemorySpanExporter()
    recorder = OtelRecorder(SimpleSpanProcessor(exporter), InMemoryMetricReader())
    spans.record_to(recorder)
    try:
        with spans.span("stage test"):
            assert len(put(inputs("ramen", "cilantro"))) == 2
    finally:
        spans.record_to(None)
        recorder.close()
    *asked, stage = exporter.get_finished_spans()
    assert [each.name for each in asked] == ["chat ours", "chat ours"] and stage.context
    for each in asked:
        assert each.parent and each.parent.span_id == stage.context.span_id and each.attributes
        told = {name: each.attributes[name] for name in (names.OPERATION, names.PROVIDER, names.PROMPT_NAME)}
        assert told == {names.OPERATION: "chat", names.PROVIDER: "openai", names.PROMPT_NAME: "note"}
        assert (each.attributes[names.INPUT_TOKENS], each.attributes[names.OUTPUT_TOKENS]) == (100, 20)
        assert "ramen" not in each.to_json() and "cilantro" not in each.to_json()
