"""Tools that an application hands to a model: one source, three shapes, and a dispatcher that runs what is called."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from reverie.api.app import create_app
from reverie.settings import Settings
from reverie.store.connect import connect
from reverie_client import AsyncClient
from reverie_client.tools import AGENT_TOOLS, MCP_TOOLS, SHAPES, TOOLS, Shape, Toolbox, ToolError
from reverie_client.tools.shapes import output_schema
from tests.clients.conftest import LiveServer

CALLS: dict[str, dict[str, Any]] = {
    "record_observation": {"content": "Prefers tea", "category": "preference"},
    "update_user_context": {"scaffold_updates": {"work.role": "nurse"}, "persistent_info_additions": ["Has a sister"]},
    "update_connection_context": {"connection_id": "jira-1", "learned": {"default_project": "WARD"}},
    "recall": {"question": "tea"},
}
#: Operation of the API, and the arguments of a tool that have other limits than its fields.
OPERATIONS = {
    "recall": "recall",
    "get_context": "assemble",
    "correct": "correct",
    "list_memories": "list_memories",
    "suggest_tools": "suggest_tools",
    "find_lessons": "find_lessons",
    "record_observation": "observe",
    "update_user_context": "update_user",
    "update_connection_context": "update_connection",
}


@pytest.mark.parametrize("shape", SHAPES)
def test_the_shapes_come_from_one_source(shape: Shape) -> None:
    for made, name in zip(Toolbox(subject_id="ann").definitions(shape), AGENT_TOOLS, strict=True):
        function = made.get("function", made)
        (schema,) = (function[key] for key in ("parameters", "input_schema", "inputSchema") if key in function)
        jsonschema.Draft202012Validator.check_schema(schema)
        jsonschema.validate(CALLS[name], schema)
        assert (function["name"], function["description"]) == (name, TOOLS[name].description)
        assert "subject_id" not in schema["properties"], "the application says whom it is about, not the model"


@pytest.mark.parametrize("name", TOOLS)
def test_the_schema_of_an_answer_says_what_that_of_its_model_says(name: str) -> None:
    full = TOOLS[name].answer.model_json_schema(mode="serialization")
    plain = output_schema(TOOLS[name])
    assert not {"$ref", "$defs"} & set(re.findall(r'"([^"]+)":', json.dumps(plain)))
    given = example(full, full.get("$defs", {}))
    by_full, by_plain = (jsonschema.Draft202012Validator(each) for each in (full, plain))
    assert by_plain.is_valid(given)
    for other in changed(given):
        assert by_plain.is_valid(other) == by_full.is_valid(other), other


def example(schema: dict[str, Any], shared: dict[str, Any]) -> Any:
    """Something of each part that a schema names."""
    schema = shared[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    if "anyOf" in schema:
        return example(schema["anyOf"][0], shared)
    if "enum" in schema:
        return schema["enum"][0]
    match schema.get("type"):
        case "object":
            others = schema.get("additionalProperties", True)
            named = {name: example(each, shared) for name, each in schema.get("properties", {}).items()}
            return named | {"new": example(others, shared) if isinstance(others, dict) else 1}
        case "array":
            return [example(schema["items"], shared)]
        case kind:
            return {"string": "", "integer": 1, "number": 0.5, "boolean": True}.get(str(kind))


def changed(given: Any) -> Iterator[Any]:
    """What differs from it in one place: null, of another type, or without it."""
    yield from (None, [], {}, "other", 7)
    places = given.items() if isinstance(given, dict) else enumerate(given) if isinstance(given, list) else ()
    for place, value in places:
        for other in changed(value):
            if isinstance(given, list):
                yield [other]
            else:
                yield given | {place: other}
        if isinstance(given, dict):
            yield {name: each for name, each in given.items() if name != place}


def test_what_a_model_calls_is_run(live: LiveServer) -> None:
    toolbox = Toolbox(subject_id="ann", session_id="s1")
    with live.client() as memory:
        for name, arguments in CALLS.items():
            answer = json.loads(toolbox.run(memory, name, json.dumps(arguments)))
            jsonschema.validate(answer, TOOLS[name].answer.model_json_schema(mode="serialization"))
    with connect(live.database_url) as conn:
        rows = conn.execute("select distinct metadata ->> 'tool_id', session_id from log.events order by 1").fetchall()
    assert rows == [(name, "s1") for name in sorted(CALLS) if name != "recall"]

    async def main() -> str:
        async with AsyncClient(live.url, live.key()) as memory:
            return await toolbox.run_async(memory, "recall", CALLS["recall"])

    assert json.loads(asyncio.run(main()))["subject_id"] == "ann"


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("erase", {}, "no tool 'erase'"),
        ("recall", "{", "not JSON"),
        ("recall", "[]", "one JSON object"),
        ("recall", {"question": "tea", "subject_id": "bob"}, "subject_id"),
        ("record_observation", {"content": "Tea", "category": "rumour"}, "category"),
    ],
)
def test_a_call_that_does_not_fit_is_explained(live: LiveServer, name: str, arguments: Any, said: str) -> None:
    with live.client() as memory, pytest.raises(ToolError, match=said):
        Toolbox(subject_id="ann").run(memory, name, arguments)


def test_a_model_is_told_that_a_message_is_no_memory_yet(live: LiveServer) -> None:
    toolbox = Toolbox(subject_id="ann", session_id="s2", names=MCP_TOOLS)
    with live.client() as memory:
        toolbox.run(memory, "remember", {"statement": "The attic smells of apples."})
        (hit,) = json.loads(toolbox.run(memory, "recall", {"question": "attic"}))["hits"]
        assert hit["item"] == "turn"
        for tool in ("forget", "correct"):
            with pytest.raises(ToolError, match="item `turn` is a message and no memory: once .* list_memories"):
                toolbox.run(memory, tool, {"memory_id": hit["id"]})


def test_arguments_are_those_of_the_api() -> None:
    """Each argument is a field of the operation's request, with the same limits or none of its own."""
    document = create_app(Settings.model_validate({"embedding_model": "none"})).openapi()
    operations = {each["operationId"]: each for path in document["paths"].values() for each in path.values()}
    for tool, operation in OPERATIONS.items():
        known = _fields(operations[operation], document["components"]["schemas"])
        for name, field in TOOLS[tool].arguments.model_json_schema()["properties"].items():
            assert name in known, f"{tool}: {name}"
            theirs = _limits(known[name])
            assert {
                limit: value for limit, value in _limits(field).items() if limit in theirs
            }.items() <= theirs.items()


def _fields(operation: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    fields = {each["name"]: each["schema"] for each in operation.get("parameters", [])}
    if "requestBody" in operation:
        reference = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"]
        fields |= schemas[reference.rpartition("/")[2]]["properties"]
    return fields


def _limits(field: dict[str, Any]) -> dict[str, Any]:
    (kind,) = [each for each in field.get("anyOf", [field]) if each.get("type") != "null"]
    return {name: value for name, value in kind.items() if name in ("minimum", "maximum", "minItems", "maxItems")}
