"""The reference of policies: every key with its values, its default and what `reverie` sets."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any, get_args, get_origin

from pydantic import BaseModel

from reverie.policy import Policy, load_policy
from tools.reference.table import table, type_of

_COLUMNS = ("key", "value", "default", "in `reverie`", "")
#: The longest value to print in full; of a longer one the page has the size.
_LONGEST = 60


def policies_page() -> str:
    """Return a table for each heading of a policy file, from the models that check it."""
    parts = [
        "# Policies\nEvery key that a policy file may have, its values and its default, and what the default policy "
        "`reverie` sets. [policies.md](../docs/policies.md) says how to write one.\n"
    ]
    shipped = load_policy("reverie").model_dump()
    for heading, model in _headings(Policy, ""):
        set_here = _below(shipped, heading)
        rows = [_row(name, schema, set_here, model) for name, schema in _keys(model).items()]
        about = inspect.cleandoc(model.__doc__ or "").partition("\n\n")[0] if heading else "Before the first heading."
        parts.append(f"## {heading or 'At the top'}\n\n{about}\n\n{table(_COLUMNS, rows)}")
    return "\n".join(parts)


def _headings(model: type[BaseModel], path: str, form: str = "[{}]") -> Iterator[tuple[str, type[BaseModel]]]:
    """Yield each table's heading, as in a file, and model, before the tables inside it; the first has no heading."""
    yield path and form.format(path), model
    for name, field in model.model_fields.items():
        for inner, inner_form in _models(field.annotation, "[{}]"):
            yield from _headings(inner, f"{path}.{name}".lstrip("."), inner_form)


def _models(annotation: Any, form: str) -> Iterator[tuple[type[BaseModel], str]]:
    """Yield the tables that a field can hold: one, several in a list, or several by name."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation, form
    forms = {tuple: "[[{}]]", list: "[[{}]]", Mapping: "[{}.NAME]", dict: "[{}.NAME]"}
    for inner in get_args(annotation):
        yield from _models(inner, forms.get(get_origin(annotation), form))


def _below(values: Any, heading: str) -> Mapping[str, Any]:
    """Return the values under a heading; nothing for lists of tables and tables by name."""
    for name in heading.strip("[]").split(".") if heading else ():
        values = values.get(name) if isinstance(values, Mapping) else None
    return values if isinstance(values, Mapping) else {}


def _keys(model: type[BaseModel]) -> Mapping[str, Mapping[str, Any]]:
    """Return the keys of a table; tables inside it are left out, since they have their own headings."""
    found: Mapping[str, Mapping[str, Any]] = model.model_json_schema(by_alias=False).get("properties", {})
    return {name: schema for name, schema in found.items() if "$ref" not in schema}


def _row(name: str, schema: Mapping[str, Any], set_here: Mapping[str, Any], model: type[BaseModel]) -> tuple[str, ...]:
    default = _shown(schema["default"]) if "default" in schema else ""
    shipped = _shown(set_here[name]) if name in set_here else ""
    return f"`{name}`", _values(schema), default, shipped if shipped != default else "", _comments(model).get(name, "")


def _values(schema: Mapping[str, Any]) -> str:
    """Return the type with its range."""
    if options := schema.get("anyOf"):
        return " or ".join(dict.fromkeys("none" if each.get("type") == "null" else _values(each) for each in options))
    if schema.get("type") == "array":
        items = schema.get("items") or {}
        return f"list of {_values(items)}" if items else "list"
    least = schema.get("minimum", schema.get("minLength"))
    most = schema.get("maximum", schema.get("maxLength"))
    name = {"integer": "whole number", "boolean": "true, false", "string": "text", "object": "table"}
    kind = name.get(said := type_of(schema), said)
    if least is None and most is None:
        return kind
    if most is None:
        return f"{kind}, from {_shown(least)}"
    ends = f"{_shown(least)} to {_shown(most)}" if least is not None else f"up to {_shown(most)}"
    return f"{kind}, {ends}{' characters' if kind == 'text' else ''}"


def _shown(value: Any) -> str:
    """Return a value as TOML writes it, or the size of a long value."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float | int):
        return str(int(value) if value == int(value) else value)
    if isinstance(value, str):
        return (f"`{value}`" if value else "empty") if len(value) <= _LONGEST else f"{len(value)} characters"
    text = ", ".join(f"{key} = {_shown(each)}" for key, each in value.items()) if isinstance(value, Mapping) else ""
    text = text or (", ".join(map(_shown, value)) if value else "empty")
    return text if len(text) <= _LONGEST else f"{len(value)} entries"


def _comments(model: type[BaseModel]) -> Mapping[str, str]:
    """Return the comments (`#:`) above each field, by field; a subclass inherits them."""
    found: dict[str, str] = {}
    for each in reversed(model.__mro__):
        if issubclass(each, BaseModel) and each is not BaseModel:
            found |= _comments_of(textwrap.dedent(inspect.getsource(each)))
    return found


def _comments_of(source: str) -> Iterator[tuple[str, str]]:
    lines = source.splitlines()
    (body,) = (node.body for node in ast.parse(source).body if isinstance(node, ast.ClassDef))
    for node in body:
        if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
            continue
        above: list[str] = []
        number = node.lineno - 2
        while number >= 0 and lines[number].strip().startswith("#:"):
            above.insert(0, lines[number].strip().removeprefix("#:").strip())
            number -= 1
        yield node.target.id, " ".join(above)
