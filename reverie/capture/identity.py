"""The content hash of a turn."""

from __future__ import annotations

import hashlib

import orjson

from reverie.model import Turn


def turn_hash(turn: Turn) -> bytes:
    """Return the sha256 of role, speaker, time, text and tool calls, which tells a repeated turn from a conflict."""
    content = (turn.role, turn.speaker, turn.said_at, turn.text, turn.tool_calls)
    return hashlib.sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).digest()
