"""Requests made from the OpenAPI document by a seed: valid ones, nearly valid ones and hostile ones.

Everything a request is made of comes from the document's schemas, so a new route or field is tried as soon as it is
described; only the names that occur again and again (subjects, sessions, ids) come from `Known`.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal
from urllib.parse import quote, urlencode
from uuid import UUID

Manner = Literal["valid", "near", "hostile"]
#: Share of each manner.
MANNERS: Mapping[Manner, float] = {"valid": 0.72, "near": 0.14, "hostile": 0.14}

WORDS = tuple(
    "I we you have like love hate prefer live in work as a the dog named Bruno Lisbon peanuts allergic to am not no "  # noqa: SIM905
    "longer yesterday tomorrow remember that my name is Ana sister because and but 42 tea coffee please always".split()
)
SENTENCES = (
    "I have a dog named Bruno.", "I am allergic to peanuts.", "We went to Chennai yesterday.", "I don't like rain.",
    "lol", "What do you know about me?", "My sister lives in Pune.", "I prefer short answers, please.",
)  # fmt: skip
#: Texts that broke something, somewhere.
HOSTILE = (
    "\u200b", "\ufeff\n\n" + "word " * 400, "\u200b\n\nx", "\0", "\ud800", "a" * 201, "I like " * 3_000, "\n" * 5_000,
    "'; drop table log.turns; --", "%(tenant)s %s $1 {x}", "\u202eevil\u202c", "\U000e0041\U000e0042", "ß" * 300,
    "../../etc/passwd", "<script>alert(1)</script>", "\r\nX-Header: 1",
    "👩‍👩‍👧‍👦" * 50, "e\u0301" * 200, "-", " ", "```\n" * 40,
)  # fmt: skip
TIMES = (
    "9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00+23:59", "1970-01-01T00:00:00Z", "2199-12-31T23:59:59Z",
    "2026-02-30", "now", "2026-01-01T00:00:00", "1e9", "-1",
)  # fmt: skip
ODDITIES: tuple[Any, ...] = (
    None, True, -1, 0, 1 << 70, 1e308, -0.0, "", [], {}, [[]], {"": {}}, [None], "\0", {"a": {"b": {"c": [1] * 50}}},
)  # fmt: skip
_PATTERNS = {"^[A-Z]{2}$": ("US", "DE", "ZZ"), "^[a-z]{2,3}$": ("en", "pt", "zzz")}


@dataclass(frozen=True, kw_only=True)
class Request:
    """One request of a tenant's."""

    tenant: str
    manner: Manner
    method: str
    path: str
    body: bytes | None
    content_type: str | None


@dataclass(kw_only=True)
class Known:
    """What requests of a tenant speak of."""

    #: A word in many of its texts, which no other tenant may ever see.
    canary: str
    memories: list[UUID] = field(default_factory=list)
    turns: list[UUID] = field(default_factory=list)


class Requests:
    """An endless stream of requests; the same seed gives the same."""

    def __init__(self, document: Mapping[str, Any], tenants: Mapping[str, Known], *, now: datetime, seed: int) -> None:
        self._chance = random.Random(seed)
        self._schemas = document["components"]["schemas"]
        self._operations = [
            (method.upper(), path, operation)
            for path, operations in document["paths"].items()
            if path.startswith("/v1/")
            for method, operation in operations.items()
        ]
        self._tenants, self._now = tenants, now
        self._tenant = ""
        self._number = 0

    def __iter__(self) -> Requests:
        return self

    def __next__(self) -> Request:
        chance = self._chance
        self._number += 1
        self._tenant = chance.choice(list(self._tenants))
        (manner,) = chance.choices(list(MANNERS), list(MANNERS.values()))
        method, path, operation = chance.choice(self._operations)
        if method == "POST" and chance.random() < 0.3:  # turns are what memory is made of
            method, path, operation = self._operations[0]
        query = []
        for one in operation.get("parameters", ()):
            value = self._parameter(one, manner)
            if one["in"] == "path":
                path = path.replace(f"{{{one['name']}}}", quote(_text(value), safe="", errors="replace"))
            elif one["required"] or chance.random() < 0.3:
                query += [(one["name"], _text(each)) for each in (value if isinstance(value, list) else [value])]
        if query:
            path += "?" + urlencode(query, errors="replace")
        body, content_type = None, None
        if "requestBody" in operation:
            schema = operation["requestBody"]["content"]["application/json"]["schema"]
            body, content_type = self._body(schema, manner)
        return Request(
            tenant=self._tenant, manner=manner, method=method, path=path, body=body, content_type=content_type
        )

    def _parameter(self, one: Mapping[str, Any], manner: Manner) -> Any:
        chance = self._chance
        if one["name"] == "cursor" and manner == "valid":
            return ""
        if manner == "hostile" and chance.random() < 0.5:
            return chance.choice([*HOSTILE, *TIMES])
        if manner == "near" and chance.random() < 0.3:
            return deepcopy(chance.choice(ODDITIES))
        return self._value(one["schema"], one["name"])

    def _body(self, schema: Mapping[str, Any], manner: Manner) -> tuple[bytes, str | None]:
        chance = self._chance
        value = self._value(schema, "")
        kind: str | None = "application/json"
        if manner == "near":
            for _ in range(chance.randrange(1, 3)):
                self._damage(value)
        if manner == "hostile":
            self._replace(value, lambda found: chance.choice(HOSTILE) if isinstance(found, str) else found)
        raw = json.dumps(value, ensure_ascii=chance.random() < 0.5).encode(errors="surrogatepass")
        if manner == "hostile" and chance.random() < 0.2:
            raw = chance.choice(
                [b"", b"{", b"[" * 20_000, b"\xff" + raw, raw[: len(raw) // 2], b"null", b"NaN", raw * 2]
            )
        if manner != "valid" and chance.random() < 0.1:
            kind = chance.choice(
                [None, "text/plain", "application/x-www-form-urlencoded", "application/json; charset=x"]
            )
        return raw, kind

    def _damage(self, value: Any) -> None:
        """Break one thing somewhere in a body."""
        places = list(_places(value))
        if not places:
            return
        holder, key = self._chance.choice(places)
        match self._chance.randrange(4):
            case 0:
                del holder[key]
            case 1 if isinstance(holder, dict):
                holder[f"{key}_"] = holder.pop(key)
            case 2 if isinstance(holder[key], str):
                holder[key] = self._chance.choice([*TIMES, holder[key] * 300, holder[key] + "\0"])
            case _:
                holder[key] = deepcopy(self._chance.choice(ODDITIES))  # a body may be damaged again

    def _replace(self, value: Any, by: Callable[[Any], Any]) -> None:
        for holder, key in list(_places(value)):
            if self._chance.random() < 0.4:
                holder[key] = by(holder[key])

    def _value(self, schema: Mapping[str, Any], name: str, depth: int = 0) -> Any:
        """A value that the schema allows, small, and often one that was used before."""
        chance = self._chance
        if "$ref" in schema:
            schema = self._schemas[schema["$ref"].rpartition("/")[2]]
        if not schema or schema.get("title") == "JsonValue" or not {"type", "anyOf", "enum", "const"} & set(schema):
            return self._json(depth)
        if "anyOf" in schema:
            return self._value(chance.choice(schema["anyOf"]), name, depth + 1)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return chance.choice(schema["enum"])
        match schema["type"]:
            case "object":
                return self._object(schema, depth)
            case "array":
                least, most = schema.get("minItems", 0), schema.get("maxItems", 3)
                return [
                    self._value(schema["items"], name, depth + 1) for _ in range(chance.randint(least, min(most, 3)))
                ]
            case "integer" | "number" as kind:
                low, high = schema.get("minimum", -5), schema.get("maximum", 1000)
                return chance.randint(int(low), int(high)) if kind == "integer" else chance.uniform(low, high)
            case "boolean":
                return chance.random() < 0.5
            case "null":
                return None
        return self._string(schema, name)

    def _object(self, schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
        chance, properties = self._chance, schema.get("properties", {})
        if not properties:
            number = chance.randint(schema.get("minProperties", 0), 2)
            return {f"{chance.choice(WORDS)}.{place}": self._json(depth + 1) for place in range(number)}
        chosen = [name for name in properties if name in schema.get("required", ()) or chance.random() < 0.4]
        made = {name: self._value(properties[name], name, depth + 1) for name in chosen}
        if made.get("kind") == "replace":  # what a schema cannot say
            made["content"] = self._string({}, "content")
        if {"role", "said_at"} <= set(properties) and not made.get("tool_calls"):
            made["text"] = self._string({}, "text")
        return made

    def _json(self, depth: int) -> Any:
        chance = self._chance
        if depth < 4 and chance.random() < 0.3:
            return {chance.choice(WORDS): self._json(depth + 1), "n": chance.random()}
        return chance.choice([None, True, 7, 0.5, chance.choice(SENTENCES), [1, "a"]])

    def _string(self, schema: Mapping[str, Any], name: str) -> str:
        chance, known = self._chance, self._tenants[self._tenant]
        others = [other for tenant, other in self._tenants.items() if tenant != self._tenant]
        match schema.get("format") or name:
            case "uuid":
                pool = known.turns if name == "turn_id" else known.memories
                if chance.random() < 0.3:
                    pool = chance.choice(others).memories
                return str(chance.choice(pool) if pool and chance.random() < 0.9 else UUID(int=chance.getrandbits(128)))
            case "date-time":
                return (self._now - timedelta(minutes=chance.randrange(2_880))).isoformat()
            case "subject_id":
                return chance.choice(["seed", "ann", "ben", "eve"])
            case "session_id":
                return f"s{chance.randrange(8)}"
            case "source_id" | "request_id":
                return f"{self._number}-{chance.randrange(1 << 30)}" if chance.random() < 0.95 else "again"
        if "pattern" in schema:
            return chance.choice(_PATTERNS[schema["pattern"]])
        if schema.get("maxLength") == 200:
            return f"{chance.choice(WORDS)}{chance.randrange(20)}"
        said = chance.choices([*SENTENCES, " ".join(chance.choices(WORDS, k=8)) + "."], k=chance.randrange(1, 4))
        return " ".join(said + ([f"My code is {known.canary}."] if chance.random() < 0.4 else []))


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Everything within a body: what holds it, and under which key or index."""
    found: list[tuple[Any, Any]] = []
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        found.append((value, key))
        found += _places(inner)
    return found


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
