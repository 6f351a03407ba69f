"""Takes secrets out of turns, statements and dead letters before they are written: `[sensitivity] redact_secrets`."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import replace
from typing import Any

import orjson

from reverie.capture.identity import statement_hash, turn_hash
from reverie.language.sensitive.classes import is_identifier, without_secrets
from reverie.model import ImportedStatement, Turn

#: Two consecutive words, which no code, number or time has.
_WORDS = re.compile(r"[^\W\d_]{2,}\s+[^\W\d_]{2,}")


def redacted_turns(turns: Sequence[Turn]) -> tuple[list[Turn], int]:
    """Return turns without the secrets in their texts, tool calls and metadata, and how many turns had one."""
    redacted = [_redacted(turn) for turn in turns]
    return redacted, sum(new is not old for new, old in zip(redacted, turns, strict=True))


def redacted_statements(statements: Sequence[ImportedStatement]) -> tuple[list[ImportedStatement], int]:
    """Return statements of other systems without the secrets in them, and how many had one."""
    redacted = [_redacted_statement(statement) for statement in statements]
    return redacted, sum(new is not old for new, old in zip(redacted, statements, strict=True))


def redacted_payload(
    payload: bytes | None, *, ids: Set[str] = frozenset(), codes: Set[str] = frozenset()
) -> bytes | None:
    """Return the record of a dead letter without the secrets in it; a payload that is not JSON is read as text.

    `ids`: names of its fields that hold ids. They are left, since two redacted ids would be equal. `codes`: names of
    fields that hold times and codes. They are left too, but for values of several words, which somebody typed.
    """
    if payload is None:
        return None
    try:
        record = orjson.loads(payload)
    except ValueError:
        text = payload.decode(errors="surrogateescape")
        return without_secrets(text)[0].encode(errors="surrogateescape")
    clean = redacted_json(record, is_typed=True)
    if isinstance(record, dict):
        for name in record.keys() & (ids | codes):
            if isinstance(value := record[name], str | int) and (name in ids or not _WORDS.search(str(value))):
                clean[name] = value
    return payload if clean == record else orjson.dumps(clean)


def redacted_json(value: Any, name: str = "", *, is_typed: bool = False) -> Any:
    """Return the same JSON without secrets: those in its texts, and values whose `name` marks them as one.

    Values named as an identifier are left. `is_typed`: it has messages that somebody typed, so its texts of several
    words are read as messages are.
    """
    if isinstance(value, dict):
        return {each: redacted_json(below, each, is_typed=is_typed) for each, below in value.items()}
    if isinstance(value, list):
        return [redacted_json(each, name, is_typed=is_typed) for each in value]
    if not isinstance(value, str | int) or isinstance(value, bool) or is_identifier(name):
        return value
    text = str(value)
    clean, number = without_secrets(text, by_rules_alone=not (is_typed and _WORDS.search(text)))
    if not number and name:
        label = f"{name.replace('_', ' ')}: "
        labelled, number = without_secrets(label + text, by_rules_alone=True)
        clean = labelled.removeprefix(label)
    return clean if number else value


def _redacted_statement(statement: ImportedStatement) -> ImportedStatement:
    text, metadata = without_secrets(statement.text)[0], redacted_json(dict(statement.metadata))
    if text == statement.text and metadata == statement.metadata:
        return statement
    clean = replace(statement, text=text, metadata=metadata)
    if statement.source_id == statement_hash(statement).hex()[:32]:  # made of the content, which had the secret
        return replace(clean, source_id=statement_hash(clean).hex()[:32])
    return clean


def _redacted(turn: Turn) -> Turn:
    text, number = without_secrets(turn.text)
    calls = tuple(
        replace(
            call,
            arguments=redacted_json(call.arguments),
            why=redacted_json(call.why),
            result=redacted_json(call.result),
        )
        for call in turn.tool_calls
    )
    metadata = redacted_json(dict(turn.metadata)) if turn.metadata else turn.metadata
    if not number and calls == turn.tool_calls and metadata == turn.metadata:
        return turn
    clean = replace(turn, text=text, tool_calls=calls, metadata=metadata)
    if turn.source_id == turn_hash(turn).hex()[:32]:  # made of the content, which had the secret
        return replace(clean, source_id=turn_hash(clean).hex()[:32])
    return clean
