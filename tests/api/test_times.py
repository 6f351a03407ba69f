"""Times at the edges of the calendar are refused by every route that takes a time."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from tests.api.conftest import MakeKey

#: Their offsets move the first two beyond the calendar.
EDGES = ("9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z")


def places(spec: dict[str, Any]) -> Iterator[tuple[str, str, str, list[str]]]:
    """Method, path, where (`query` or `body`) and the way to each time that a request can name."""
    for path, operations in spec["paths"].items():
        for method, operation in operations.items():
            for parameter in operation.get("parameters", ()):
                if parameter["in"] == "query" and is_time(parameter["schema"]):
                    yield method, path, "query", [parameter["name"]]
            content = operation.get("requestBody", {}).get("content", {})
            if schema := content.get("application/json", {}).get("schema"):
                for way in times(spec, schema):
                    yield method, path, "body", way


def is_time(schema: dict[str, Any]) -> bool:
    return any(each.get("format") == "date-time" for each in [schema, *schema.get("anyOf", ())])


def times(spec: dict[str, Any], schema: dict[str, Any]) -> Iterator[list[str]]:
    if reference := schema.get("$ref"):
        schema = spec["components"]["schemas"][reference.rsplit("/", 1)[1]]
    if is_time(schema):
        yield []
    for each in schema.get("anyOf", ()):
        yield from times(spec, each)
    if "items" in schema:
        for way in times(spec, schema["items"]):
            yield ["[]", *way]
    for name, each in schema.get("properties", {}).items():
        for way in times(spec, each):
            yield [name, *way]


def body(way: list[str], value: str) -> Any:
    if not way:
        return value
    rest = body(way[1:], value)
    return [rest] if way[0] == "[]" else {way[0]: rest}


@pytest.mark.parametrize("edge", EDGES)
def test_a_time_beyond_reach_is_refused_everywhere(edge: str, app: TestClient, make_key: MakeKey) -> None:
    app.headers["Authorization"] = f"Bearer {make_key(scopes=('read', 'write', 'admin'))}"
    assert isinstance(app.app, FastAPI)
    found = list(places(app.app.openapi()))
    assert len(found) >= 15
    for method, path, where, way in found:
        for name in ("memory_id", "turn_id", "entity_id"):
            path = path.replace(f"{{{name}}}", str(UUID(int=1)))
        path = path.replace("{subject_id}", "ann").replace("{session_id}", "s1")
        sent = {"params": {way[0]: edge}} if where == "query" else {"json": body(way, edge)}
        answer = app.request(method, path, **sent)
        pointers = [each["pointer"] for each in answer.json().get("errors", ())]
        assert answer.status_code in (400, 422), (method, path, way, answer.text)
        assert any(pointer.endswith(way[-1]) for pointer in pointers), (method, path, way, pointers)


def test_a_cursor_of_such_a_time_is_no_cursor(app: TestClient, make_key: MakeKey) -> None:
    app.headers["Authorization"] = f"Bearer {make_key(scopes=('read', 'admin'))}"
    for edge in EDGES:
        cursor = base64.urlsafe_b64encode(json.dumps([edge, str(UUID(int=1))]).encode()).decode().rstrip("=")
        assert app.get("/v1/reviews", params={"cursor": cursor}).status_code == 422
