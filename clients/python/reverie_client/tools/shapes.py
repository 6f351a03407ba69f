"""Definitions of tools in the shapes of OpenAI (Chat Completions, Responses), Anthropic and MCP, from one source."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, get_args

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import CoreSchema

from reverie_client.tools.catalogue import Tool

#: The default of JSON Schema, which can be left out.
_OPEN = ("additionalProperties", True)

Shape = Literal["openai", "openai-responses", "anthropic", "mcp"]
SHAPES: tuple[Shape, ...] = get_args(Shape)

_SUBJECT = {
    "type": "string",
    "minLength": 1,
    "maxLength": 200,
    "description": "The person or business that the memory is about.",
}


class _Untitled(GenerateJsonSchema):
    """A generator without the titles that pydantic derives from names, since each token of a schema costs."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def generate(self, schema: CoreSchema, mode: Any = "validation") -> JsonSchemaValue:
        made = super().generate(schema, mode)
        for each in (made, *made.get("$defs", {}).values()):
            each.pop("title", None)
        return made


@cache
def input_schema(tool: Tool, *, with_subject: bool) -> dict[str, Any]:
    """Return the JSON schema of a tool's arguments; `with_subject`: each call names its subject."""
    schema = copy.deepcopy(tool.arguments.model_json_schema(schema_generator=_Untitled))
    schema.pop("description", None)
    if with_subject:
        schema["properties"] = {"subject_id": _SUBJECT} | schema.get("properties", {})
        schema["required"] = ["subject_id", *schema.get("required", [])]
    return schema


@cache
def output_schema(tool: Tool) -> dict[str, Any]:
    """Return the JSON schema of a tool's answer, simplified so that clients validate answers quickly."""
    made = tool.answer.model_json_schema(mode="serialization", schema_generator=_Untitled)
    shared = made.pop("$defs", {})
    plain: dict[str, Any] = _plain(made, shared)
    return plain


def _plain(schema: Any, shared: Mapping[str, Any]) -> Any:
    """Return a schema without references, alternatives of null and defaults, which take half of a validation's time."""
    if isinstance(schema, list):
        return [_plain(each, shared) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _plain(shared[schema["$ref"].removeprefix("#/$defs/")], shared)
    plain = {name: _plain(value, shared) for name, value in schema.items() if (name, value) != _OPEN}
    match plain.get("anyOf"):
        case [{"type": str(kind), **others}, {"type": "null"}] if "enum" not in others:
            # other keywords of a type do not apply to null
            del plain["anyOf"]
            return others | plain | {"type": [kind, "null"]}
    return plain


def definition(tool: Tool, shape: Shape, *, with_subject: bool = False) -> dict[str, Any]:
    """Return the definition of a tool in a shape."""
    schema = input_schema(tool, with_subject=with_subject)
    match shape:
        case "openai":
            function = {"name": tool.name, "description": tool.description, "parameters": schema}
            return {"type": "function", "function": function}
        case "openai-responses":
            return {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": schema,
                "strict": False,
            }
        case "anthropic":
            return {"name": tool.name, "description": tool.description, "input_schema": schema}
        case "mcp":
            return {
                "name": tool.name,
                "title": tool.title,
                "description": tool.description,
                "inputSchema": schema,
                "outputSchema": output_schema(tool),
                "annotations": {
                    "title": tool.title,
                    "readOnlyHint": tool.read_only,
                    "destructiveHint": tool.destructive,
                    "idempotentHint": tool.idempotent,
                    "openWorldHint": False,
                },
            }
