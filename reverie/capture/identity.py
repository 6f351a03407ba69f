"""The content hashes of turns and imported statements."""

from __future__ import annotations

import hashlib

import orjson

from reverie.model import ImportedStatement, Turn


def turn_hash(turn: Turn) -> bytes:
    """Return the sha256 of role, speaker, time, text and tool calls, which tells a repeated turn from a conflict."""
    content = (turn.role, turn.speaker, turn.said_at, turn.text, turn.tool_calls)
    return hashlib.sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).digest()


def statement_hash(statement: ImportedStatement) -> bytes:
    """Return the sha256 of kind, time, text and end, which tells a repeated statement from a conflict."""
    content = (statement.kind, statement.observed_at, statement.text, statement.ends_at)
    return hashlib.sha256(orjson.dumps(content)).digest()
