"""Spans and metrics arrive at an OTLP receiver, with names and counts and nothing that anybody said."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from reverie.store.runs import Report
from reverie.telemetry import names, spans
from reverie.telemetry.spans import measure_tokens, model_span, span
from reverie.telemetry.starting import ENDPOINT, start_tracing
from tests.telemetry.conftest import SECRETS, Receiver


@pytest.fixture
def flush(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Telemetry that is on; the function sends what waits and turns it off."""
    monkeypatch.setenv(ENDPOINT, receiver.url)
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test")
    start_tracing()
    recorder: Any = spans.recorder()
    start_tracing()
    assert spans.recorder() is recorder, "turned on twice"
    return recorder.close  # type: ignore[no-any-return]


def received_spans(receiver: Receiver) -> list[Any]:
    found = []
    for body in receiver.at("/v1/traces"):
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            about = plain(resource.resource.attributes)
            assert (about["service.name"], about["deployment.environment.name"]) == ("reverie", "test")
            found += [each for scope in resource.scope_spans for each in scope.spans]
    return found


def received_metrics(receiver: Receiver) -> dict[str, Any]:
    return {
        metric.name: metric
        for body in receiver.at("/v1/metrics")
        for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
    }


def plain(attributes: Any) -> dict[str, Any]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in attributes}


def test_a_stage_run_is_a_span(receiver: Receiver, flush: Callable[[], None], run_stage: Callable[..., Report]) -> None:
    report = run_stage("extract")
    run_stage("embed")
    flush()
    by_name = {each.name: each for each in received_spans(receiver)}
    assert set(by_name) == {"stage extract", "stage embed", "embeddings minilm-l6-v2-int8"}
    told = plain(by_name["stage extract"].attributes)
    assert (told[names.TENANT], told[names.STAGE], told[names.RUN]) == ("acme", "extract", str(report.run_id))
    assert told["reverie.count.turns"] == 2 and told["reverie.count.candidates"] == report["candidates"]
    asked = by_name["embeddings minilm-l6-v2-int8"]
    assert asked.parent_span_id == by_name["stage embed"].span_id
    assert plain(asked.attributes)[names.OPERATION] == "embeddings"
    metrics = received_metrics(receiver)
    assert {names.STAGE_SECONDS, names.STAGE_ITEMS, names.OPERATION_SECONDS} <= set(metrics)
    points = [(plain(point.attributes), point.as_int) for point in metrics[names.STAGE_ITEMS].sum.data_points]
    counted = {labels[names.COUNT_NAME]: number for labels, number in points if labels[names.STAGE] == "extract"}
    assert counted["turns"] == 2
    everything = b"".join(body for _, body in receiver.posted)
    assert b"stage extract" in everything and not [secret for secret in SECRETS if secret.encode() in everything]


def test_a_failure_is_told_by_its_kind(receiver: Receiver, flush: Callable[[], None]) -> None:
    with (
        pytest.raises(ValueError, match="ramen"),
        span("work", {names.TENANT: "acme"}),
        model_span("chat", "litellm/openai/gpt-4o-mini"),
    ):
        raise ValueError("she said: I love spicy ramen")
    measure_tokens("litellm/openai/gpt-4o-mini", 12, 3)
    flush()
    outer, inner = sorted(received_spans(receiver), key=lambda each: each.name, reverse=True)
    assert (outer.name, inner.name) == ("work", "chat gpt-4o-mini")
    assert outer.status.code == inner.status.code == 2 and plain(inner.attributes)[names.ERROR_TYPE] == "ValueError"
    assert plain(inner.attributes)[names.PROVIDER] == "openai" and not outer.events
    tokens = received_metrics(receiver)[names.TOKEN_USAGE].histogram.data_points
    assert {plain(point.attributes)[names.TOKEN_TYPE]: point.sum for point in tokens} == {"input": 12, "output": 3}
    assert not any(b"ramen" in body for _, body in receiver.posted)
