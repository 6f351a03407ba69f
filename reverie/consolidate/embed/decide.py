"""The parts of a text that get a vector each, and the properties of an item that recall weighs. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import polars as pl

from reverie.language.text import CountTokens, chunk
from reverie.policy import ChunkPolicy, Policy

#: Texts up to this length cannot fill a chunk: they are one part, without a call of the tokenizer.
_SHORT_CHARACTERS = 500

ItemType = Literal["turn", "memory"]


@dataclass(frozen=True, slots=True)
class ItemText:
    """A turn or memory that lacks a vector."""

    id: UUID
    subject_id: str
    text: str
    session_id: str | None
    happened_at: datetime
    speaker: str | None
    role: str | None
    asked_by: UUID | None
    #: Key for the reading order, beside the time: a turn's index or a memory's kind.
    place: int | str


@dataclass(frozen=True, slots=True)
class ItemPart:
    """A part of an item, with its own vector."""

    item: ItemText
    number: int
    text: str
    hash: bytes


def types_to_embed(policy: Policy) -> tuple[ItemType, ...]:
    """Return the types of items that get vectors: memories, and turns if the policy recalls them."""
    return ("turn", "memory") if "turn" in policy.recall.items else ("memory",)


def cut_items(items: Sequence[ItemText], limits: ChunkPolicy, count_tokens: CountTokens) -> list[ItemPart]:
    """Return the parts of all items, in order."""
    return [
        ItemPart(item, number, text, hashlib.sha256(text.encode()).digest())
        for item in items
        for number, text in enumerate(text_parts(item.text, limits, count_tokens))
    ]


def text_parts(text: str, limits: ChunkPolicy, count_tokens: CountTokens) -> list[str]:
    """Return the parts of a text to embed: one, unless the text is longer than a chunk."""
    if len(text) <= _SHORT_CHARACTERS:
        return [text]
    parts = chunk(text, count_tokens, min_tokens=limits.min_tokens, max_tokens=limits.max_tokens)
    # white space has no chunk, but an item without a vector would be embedded again in every run
    return parts or [text[:_SHORT_CHARACTERS]]


def item_columns(items: Sequence[ItemText], policy: Policy) -> dict[str, list[Any]]:
    """Return the properties of items that recall weighs, as columns for SQL."""
    texts = pl.Series(values=[item.text for item in items], dtype=pl.String)
    return {
        "item_ids": [item.id for item in items],
        "subject_ids": [item.subject_id for item in items],
        "texts": texts.to_list(),
        "session_ids": [item.session_id for item in items],
        "happened_at": [item.happened_at for item in items],
        "speakers": [item.speaker for item in items],
        "roles": [item.role for item in items],
        "words": [item.text.count(" ") + 1 for item in items],
        "asks": [item.text.rstrip().endswith("?") for item in items],
        "first_person": texts.str.contains(policy.recall.first_person).to_list(),
        "names_time": texts.str.contains(policy.recall.names_time).to_list(),
        "asked_by": [item.asked_by for item in items],
    }
