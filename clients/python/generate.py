"""Writes `reverie_client/routes/` and `operations.py` from the API's OpenAPI document: `make client`.

A new route needs no change here. `METHODS` and `TYPES` rename methods and types of the document.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).resolve().parent / "reverie_client"
Schema = dict[str, Any]

#: Method names by operation id.
METHODS = {
    "append": "append_turns",
    "assemble": "assemble_context",
    "close": "close_session",
    "correct": "correct_memory",
    "list_flagged": "list_reviews",
    "metrics": "read_metrics",
    "note_seen": "mark_reviewed",
    "observe": "record_observation",
    "update_connection": "update_connection_context",
    "update_user": "update_user_context",
}
#: Type names by schema; other schemas lose their suffix if the result is unique.
TYPES = {
    "ListedMemory": "Memory",
    "CorrectionSeen": "RecordedCorrection",
    "RelationshipSeen": "RelationshipStage",
    "OutcomeSeen": "MeasuredOutcome",
    "TurnSeen": "TurnResult",
    "SeenAnswer": "Reviewed",
}
SUFFIXES = ("Given", "Seen", "Answer")
#: POST operations without a source id that have the same effect when they are sent twice.
IDEMPOTENT = {"close", "note_seen", "rank_inbox", "recall_staged", "suggest_tools"}
_SCALARS = {"integer": "int", "number": "float", "boolean": "bool"}
_FORMATS = {"uuid": "UUID", "date-time": "datetime"}
_REFERENCE = "#/components/schemas/"


class Document:
    """An OpenAPI document as Python source, with a module for each tag."""

    def __init__(self, document: Schema) -> None:
        self.schemas: dict[str, Schema] = document["components"]["schemas"]
        #: Operations by module, each as method, path, operation.
        self.operations: dict[str, list[tuple[str, str, Schema]]] = {}
        for path, methods in document["paths"].items():
            for method, operation in methods.items():
                self.operations.setdefault(operation["tags"][0].replace(" ", "_"), []).append((method, path, operation))
        self.names = self._names()
        #: The module that defines each type, the first whose operations use it.
        self.places: dict[str, str] = {}
        self.inputs: set[str] = set()
        for module, operations in self.operations.items():
            for _, _, operation in operations:
                body = _body(operation)
                sent = self._reached(self.schemas[body]) if body else []
                self.inputs.update(sent)
                for schema in (*sent, *self._reached(_answer(operation))):
                    self.places.setdefault(schema, module)

    def files(self) -> dict[str, str]:
        """Return the formatted source of each file, by its path within the package."""
        sources = {f"routes/{module}.py": self._module(module) for module in self.operations}
        sources["operations.py"] = self._methods()
        return {path: _formatted(source) for path, source in sources.items()}

    def _names(self) -> dict[str, str]:
        names = {}
        for schema in self.schemas:
            cut = next((schema.removesuffix(each) for each in SUFFIXES if schema.endswith(each)), schema)
            names[schema] = TYPES.get(schema, schema if cut in self.schemas else cut)
        doubled = {name for name in names.values() if list(names.values()).count(name) > 1}
        unknown = (set(TYPES) - set(self.schemas)) | (set(METHODS) | IDEMPOTENT) - {
            operation["operationId"] for group in self.operations.values() for _, _, operation in group
        }
        if doubled or unknown:
            raise SystemExit(f"generate.py: two types of one name: {doubled}; names the API does not have: {unknown}")
        return names

    def _reached(self, schema: Schema) -> list[str]:
        """Return the object schemas that a schema uses, each after those that it uses itself."""
        found: dict[str, None] = {}

        def visit(part: Any) -> None:
            if isinstance(part, dict):
                name = str(part.get("$ref", "")).removeprefix(_REFERENCE)
                if name and name not in found and "properties" in self.schemas[name]:
                    visit(self.schemas[name]["properties"])
                    found[name] = None
                for value in part.values():
                    visit(value)
            elif isinstance(part, list):
                for value in part:
                    visit(value)

        visit(schema)
        return list(found)

    def _module(self, module: str) -> str:
        operations = self.operations[module]
        body = "\n\n".join(
            [
                *(self._model(schema) for schema, place in self.places.items() if place == module),
                *(self._function(*operation) for operation in operations),
            ]
        )
        lines = [
            f'"""Requests and answers: {module.replace("_", " ")}. Generated by generate.py."""',
            "from __future__ import annotations",
            *_imports(body),
        ]
        used = {name: schema for schema, name in self.names.items() if self.places.get(schema, module) != module}
        lines += [
            f"from reverie_client.routes.{self.places[schema]} import {name}"
            for name, schema in sorted(used.items())
            if re.search(rf"\b{name}\b", _code(body))
        ]
        return "\n".join([*lines, body])

    def _model(self, schema: str) -> str:
        described = self.schemas[schema]
        is_input = schema in self.inputs
        lines = [f"class {self.names[schema]}({'Input' if is_input else 'Answer'}):", _docstring(described)]
        for name, field in described["properties"].items():
            lines += [f"    #: {line}" for line in _wrapped(field.get("description", "")) if line]
            kind = self._type(field)
            default = ""
            if is_input and name == "source_id" and name not in described["required"]:
                kind, default = "str", " = Field(default_factory=new_id)"
            elif is_input and name == "observed_at" and name not in described["required"]:
                kind, default = "datetime", " = Field(default_factory=current_time)"
            elif name not in described.get("required", []):
                kind, default = f"{kind.removesuffix(' | None')} | None", " = None"
            lines.append(f"    {name}: {kind}{default}")
        return "\n".join(lines) + "\n"

    def _function(self, method: str, path: str, operation: Schema) -> str:
        parameters = [(each["name"], each["schema"], each["required"]) for each in operation.get("parameters", [])]
        docs = [(each["name"], each.get("description", "")) for each in operation.get("parameters", [])]
        body = _body(operation)
        if body:
            schema = self.schemas[body]
            parameters += [(name, field, name in schema["required"]) for name, field in schema["properties"].items()]
            docs += [(name, field.get("description", "")) for name, field in schema["properties"].items()]
        types = {name: self._type(kind, is_argument=True).removesuffix(" | None") for name, kind, _ in parameters}
        needed = [f"{name}: {types[name]}" for name, _, required in parameters if required]
        optional = [f"{name}: {types[name]} | None = None" for name, _, required in parameters if not required]
        signature = ", ".join([*needed, *(["*"] if optional else []), *optional])
        answer = self._type(_answer(operation)) if _answer(operation) else "str"
        location = path
        for each in operation.get("parameters", []):
            if each["in"] == "path" and types[each["name"]] == "str":
                location = location.replace(f"{{{each['name']}}}", f"{{quote({each['name']}, safe='')}}")
        arguments = [f'"{method.upper()}"', f'f"{location}"' if "{" in path else f'"{path}"', answer]
        is_idempotent = method != "post" or operation["operationId"] in IDEMPOTENT
        for place, names in (
            ("query", [each["name"] for each in operation.get("parameters", []) if each["in"] == "query"]),
            ("body", list(self.schemas[body]["properties"]) if body else []),
        ):
            values = {name: name for name in names}
            if place == "body" and "source_id" in values:
                values["source_id"] = "source_id or new_id()"
                is_idempotent = True
            if names:
                arguments.append(f"{place}={{{', '.join(f'{name!r}: {value}' for name, value in values.items())}}}")
        is_idempotent |= any("source_id" in self.schemas[each]["properties"] for each in self._reached_by(body))
        if not is_idempotent:
            arguments.append("is_idempotent=False")
        name = METHODS.get(operation["operationId"], operation["operationId"])
        return (
            f"def {name}({signature}) -> Request[{answer}]:\n{_docstring(operation, docs)}\n"
            f"    return Request({', '.join(arguments)})\n"
        )

    def _reached_by(self, body: str | None) -> list[str]:
        return self._reached(self.schemas[body]) if body else []

    def _methods(self) -> str:
        lines = []
        for module, operations in self.operations.items():
            for _, _, operation in operations:
                name = METHODS.get(operation["operationId"], operation["operationId"])
                lines.append(f"    {name} = Method({module}.{name})")
                page = self.schemas.get(str(_answer(operation).get("$ref", "")).removeprefix(_REFERENCE), {})
                if "next_cursor" in page.get("properties", {}):
                    (items,) = (each for each, field in page["properties"].items() if field.get("type") == "array")
                    lines.append(f"    iter_{items} = Items({module}.{name}, lambda page: page.{items})")
        return "\n".join(
            [
                '"""The methods of both clients, one for each operation of the API. Generated by generate.py."""',
                "from reverie_client.methods import Items, Method",
                f"from reverie_client.routes import {', '.join(sorted(self.operations))}",
                "",
                "class Operations:",
                '    """Methods for every operation; `iter_` goes through all pages of a list."""',
                *lines,
            ]
        )

    def _type(self, schema: Schema, *, is_argument: bool = False) -> str:
        """Return the Python type of a schema; a list as an argument may be any sequence."""
        if "$ref" in schema:
            name = schema["$ref"].removeprefix(_REFERENCE)
            return self.names[name] if "properties" in self.schemas[name] else "Any"
        if "anyOf" in schema:
            parts = [self._type(part, is_argument=is_argument) for part in schema["anyOf"]]
            return " | ".join(sorted(dict.fromkeys(parts), key=lambda part: part == "None"))
        if "enum" in schema:
            return f"Literal[{', '.join(map(repr, schema['enum']))}]"
        match schema.get("type"):
            case "array":
                item = self._type(schema.get("items", {}), is_argument=is_argument)
                return f"{'Sequence' if is_argument else 'list'}[{item}]"
            case "object":
                values = schema.get("additionalProperties")
                item = self._type(values) if isinstance(values, dict) else "Any"
                return f"{'Mapping' if is_argument else 'dict'}[str, {item}]"
            case "string":
                return _FORMATS.get(schema.get("format", ""), "str")
            case "null":
                return "None"
            case kind:
                return _SCALARS.get(kind or "", "Any")


def _body(operation: Schema) -> str | None:
    """Return the name of the schema of the request's body."""
    content = operation.get("requestBody", {}).get("content", {})
    reference = content.get("application/json", {}).get("schema", {}).get("$ref")
    return reference.removeprefix(_REFERENCE) if reference else None


def _answer(operation: Schema) -> Schema:
    """Return the schema of the answer; empty for text."""
    content = next(each for status, each in operation["responses"].items() if status.startswith("2"))["content"]
    schema: Schema = content.get("application/json", {}).get("schema", {})
    return schema


def _docstring(described: Schema, parameters: list[tuple[str, str]] | None = None) -> str:
    text = described.get("description", described.get("title", "")).strip()
    told = [f"{name}: {said}" for name, said in parameters or [] if said]
    paragraphs = [*text.splitlines(), *(["", *told] if told else [])]
    lines = [line for paragraph in paragraphs for line in _wrapped(paragraph)]
    indented = "\n".join(f"    {line}".rstrip() for line in lines).strip()
    return f'    """{indented}' + ('\n    """' if len(lines) > 1 else '"""')


def _wrapped(line: str) -> list[str]:
    return textwrap.wrap(line, 110) or [""]


def _code(source: str) -> str:
    """Return source code without docstrings and comments on fields."""
    return re.sub(r'""".*?"""', "", re.sub(r"#:.*", "", source), flags=re.DOTALL)


def _imports(body: str) -> Iterator[str]:
    """Yield the import lines that a module's body needs."""
    code = _code(body)
    for module, names in (
        ("collections.abc", ("Mapping", "Sequence")),
        ("datetime", ("datetime",)),
        ("typing", ("Any", "Literal")),
        ("urllib.parse", ("quote",)),
        ("uuid", ("UUID",)),
        ("pydantic", ("Field",)),
        ("reverie_client.request", ("Answer", "Input", "Request", "current_time", "new_id")),
    ):
        used = [name for name in names if re.search(rf"\b{name}\b", code)]
        if used:
            yield f"from {module} import {', '.join(used)}"


def _formatted(source: str) -> str:
    for arguments in (["check", "--select", "I,E501", "--fix", "--quiet", "--exit-zero"], ["format", "--quiet"]):
        command = [sys.executable, "-m", "ruff", *arguments, "--stdin-filename", str(PACKAGE / "generated.py"), "-"]
        done = subprocess.run(command, input=source, capture_output=True, text=True, check=True)
        source = done.stdout
    return source


def api_document() -> Schema:
    """Return the OpenAPI document of the API in this checkout."""
    from reverie.api.app import create_app
    from reverie.settings import Settings

    return create_app(Settings.model_validate({"embedding_model": "none"})).openapi()


def main() -> None:
    """Write the files, and remove those of routes that no longer exist; `--document` prints the OpenAPI document."""
    if "--document" in sys.argv:
        json.dump(api_document(), sys.stdout, indent=1)
        return
    files = Document(api_document()).files()
    for path in (PACKAGE / "routes").glob("*.py"):
        if path.name != "__init__.py" and path.relative_to(PACKAGE).as_posix() not in files:
            path.unlink()
    for name, source in files.items():
        (PACKAGE / name).write_text(source, encoding="utf-8")


if __name__ == "__main__":
    main()
