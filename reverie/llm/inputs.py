"""Inputs of a prompt: what a language model is shown, and which inputs share a request."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import orjson

#: Bytes of data that a request for several inputs may hold, so that a batch fits where one long input does.
_LONGEST_BATCH = 48_000


@dataclass(frozen=True, kw_only=True, slots=True)
class PromptInput:
    """One thing that a model is asked about."""

    subject_id: str
    #: What the model is shown, as JSON; what people wrote stands in it as strings.
    content: Mapping[str, Any]
    #: Turns, memories or events that stand in it.
    source_ids: Sequence[UUID]


def input_hash(asked: PromptInput) -> bytes:
    """Return the sha256 of an input's subject and content, whatever the order of keys.

    Two subjects with the same content have two replies, so that one can be erased without the other.
    """
    return hashlib.sha256(orjson.dumps([asked.subject_id, asked.content], option=orjson.OPT_SORT_KEYS)).digest()


def batches(
    places: Sequence[int], inputs: Sequence[PromptInput], *, most: int, limited: frozenset[str] = frozenset()
) -> list[list[int]]:
    """Return the places of inputs by request, in order; the kept replies do not depend on it.

    Inputs about a `limited` subject, which pays for itself, share a request with no other subject's.
    """
    groups: list[list[int]] = []
    room, payer = 0, None
    for place in places:
        length, subject_id = len(orjson.dumps(inputs[place].content)), inputs[place].subject_id
        own = subject_id if subject_id in limited else None
        if not groups or len(groups[-1]) >= most or length > room or own != payer:
            groups.append([])
            room, payer = _LONGEST_BATCH, own
        groups[-1].append(place)
        room -= length
    return groups
