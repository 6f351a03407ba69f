"""A request is a span of the caller's trace, with route, status and tenant, and the phases of a recall under it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from reverie.api.app import create_app
from reverie.telemetry import names, spans
from reverie.telemetry.export import OtelRecorder
from tests.api.conftest import MakeKey, settings_for

CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture
def exported() -> Iterator[InMemorySpanExporter]:
    """Spans that were exported."""
    exporter = InMemorySpanExporter()
    recorder = OtelRecorder(SimpleSpanProcessor(exporter), InMemoryMetricReader())
    spans.record_to(recorder)
    yield exporter
    spans.record_to(None)
    recorder.close()


def test_a_recall_in_the_trace_of_its_caller(
    exported: InMemorySpanExporter, database_url: str, make_key: MakeKey
) -> None:
    with TestClient(create_app(settings_for(database_url))) as client:
        key = {"Authorization": f"Bearer {make_key()}", "traceparent": CALLER}
        turns = [{"role": "user", "text": "I love spicy ramen."}]
        said = {"subject_id": "ana@example.org", "session_id": "s1", "turns": turns, "embed": False}
        assert client.post("/v1/turns", json=said, headers=key).status_code < 300
        asked = {"subject_id": "ana@example.org", "question": "Does she love ramen?"}
        assert client.post("/v1/recalls", json=asked, headers=key).status_code == 200
        assert client.post("/v1/recalls", json={}, headers=key).status_code == 422
        assert client.get("/v1/ramen/Bruno", headers=key).status_code == 404
        assert client.post("/v1/recalls", json=asked).status_code == 401
    found = exported.get_finished_spans()
    by_name = {each.name: each for each in found}
    assert {"POST /v1/turns", "POST /v1/recalls", "GET none", "retrieval", "recall place"} <= set(by_name)
    answered = [each for each in found if each.attributes and each.attributes.get(names.STATUS) == 200]
    request = next(each for each in answered if each.name == "POST /v1/recalls")
    assert request.attributes
    assert (request.attributes[names.ROUTE], request.attributes[names.TENANT]) == ("/v1/recalls", "acme")
    assert request.parent and f"{request.parent.span_id:x}" == CALLER.split("-")[2]
    recalled = by_name["retrieval"]
    assert recalled.parent and request.context and recalled.parent.span_id == request.context.span_id
    assert recalled.attributes and recalled.attributes[names.OPERATION] == "retrieval"
    statuses = [each.attributes[names.STATUS] for each in found if each.attributes and names.STATUS in each.attributes]
    assert sorted(statuses) == [200, 200, 401, 404, 422]
    refused = next(each for each in found if each.attributes and each.attributes.get(names.STATUS) == 401)
    assert refused.attributes and names.TENANT not in refused.attributes
    everything = " ".join(each.to_json() for each in found)
    assert not [text for text in ("ramen", "Bruno", "ana@example.org") if text in everything]


def test_off_there_is_no_layer(database_url: str) -> None:
    app = create_app(settings_for(database_url))
    assert [layer.cls.__name__ for layer in app.user_middleware] == ["EdgeMiddleware"]
