"""Takes secrets out of turns and statements before they are written, where `[sensitivity] redact_secrets` says so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from reverie.capture.identity import statement_hash, turn_hash
from reverie.language.sensitivity import without_secrets
from reverie.model import ImportedStatement, Turn


def redacted_turns(turns: Sequence[Turn]) -> tuple[list[Turn], int]:
    """Return turns without the secrets in their texts and tool calls, and how many turns had one."""
    redacted = [_redacted(turn) for turn in turns]
    return redacted, sum(new is not old for new, old in zip(redacted, turns, strict=True))


def redacted_statements(statements: Sequence[ImportedStatement]) -> tuple[list[ImportedStatement], int]:
    """Return statements of other systems without the secrets in them, and how many had one."""
    redacted = [_redacted_statement(statement) for statement in statements]
    return redacted, sum(new is not old for new, old in zip(redacted, statements, strict=True))


def _redacted_statement(statement: ImportedStatement) -> ImportedStatement:
    text, metadata = without_secrets(statement.text)[0], _clean(dict(statement.metadata))
    if text == statement.text and metadata == statement.metadata:
        return statement
    clean = replace(statement, text=text, metadata=metadata)
    if statement.source_id == statement_hash(statement).hex()[:32]:  # made of the content, which had the secret
        return replace(clean, source_id=statement_hash(clean).hex()[:32])
    return clean


def _redacted(turn: Turn) -> Turn:
    text, number = without_secrets(turn.text)
    calls = tuple(
        replace(call, arguments=_clean(call.arguments), why=_clean(call.why), result=_clean(call.result))
        for call in turn.tool_calls
    )
    if not number and calls == turn.tool_calls:
        return turn
    clean = replace(turn, text=text, tool_calls=calls)
    if turn.source_id == turn_hash(turn).hex()[:32]:  # made of the content, which had the secret
        return replace(clean, source_id=turn_hash(clean).hex()[:32])
    return clean


def _clean(value: Any) -> Any:
    """The same JSON without the secrets in its texts."""
    if isinstance(value, str):
        return without_secrets(value)[0]
    if isinstance(value, dict):
        return {name: _clean(each) for name, each in value.items()}
    return [_clean(each) for each in value] if isinstance(value, list) else value
