"""What makes a turn the same turn, and a dead letter the same letter."""

from __future__ import annotations

import hashlib

import orjson

from reverie.model import Turn


def turn_hash(turn: Turn) -> bytes:
    """sha256 over role, speaker, time, text and tool calls: tells a turn sent twice from a conflict."""
    said = (turn.role, turn.speaker, turn.said_at, turn.text, turn.tool_calls)
    return hashlib.sha256(orjson.dumps(said, option=orjson.OPT_SORT_KEYS)).digest()
