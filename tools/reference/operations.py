"""The reference of the API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from reverie.api.app import create_app
from reverie.settings import Settings
from tools.reference.table import table, type_of

_COLUMNS = ("field", "in", "type", "required", "")


def api_page() -> str:
    """Return every operation of the API with its fields, from the OpenAPI document."""
    settings = Settings.model_validate(
        {"DATABASE_URL": "postgresql://nobody@localhost/none", "embedding_model": "none"}
    )
    document = create_app(settings).openapi()
    schemas: dict[str, Any] = document["components"]["schemas"]
    parts = [f"# API\n{document['info']['description'].strip()}\n"]
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            parts.append(
                f"## {method.upper()} {path}\n\n**{operation['summary']}.** {operation.get('description', '')}\n"
            )
            if rows := [*_parameters(operation), *_fields(_body(operation), schemas)]:
                parts.append(table(_COLUMNS, rows))
            codes = ", ".join(sorted(operation.get("responses", {})))
            parts.append(f"Answers: {codes}.\n")
    return "\n".join(parts)


def _body(operation: Mapping[str, Any]) -> Mapping[str, Any]:
    content = operation.get("requestBody", {}).get("content", {})
    schema: Mapping[str, Any] = content.get("application/json", {}).get("schema", {})
    return schema


def _parameters(operation: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    for each in operation.get("parameters", ()):
        text, is_required = each.get("description"), each.get("required", False)
        yield _row(each["name"], each["in"], each["schema"], is_required=is_required, text=text)


def _fields(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    body = schemas.get(str(schema.get("$ref", "")).rpartition("/")[2], {})
    for name, field in body.get("properties", {}).items():
        yield _row(name, "body", field, is_required=name in body.get("required", ()))


def _row(
    name: str, place: str, schema: Mapping[str, Any], *, is_required: bool, text: str | None = None
) -> tuple[str, ...]:
    return f"`{name}`", place, type_of(schema), "yes" if is_required else "", text or schema.get("description") or ""
