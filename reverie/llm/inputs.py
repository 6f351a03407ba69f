"""The inputs of a prompt, and the requests that they share."""

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
    #: The data that the model is shown, as JSON; people's words are strings in it.
    content: Mapping[str, Any]
    #: The turns, memories or events that are in it.
    source_ids: Sequence[UUID]


def input_hash(asked: PromptInput) -> bytes:
    """Return the sha256 of an input's subject and content; the order of keys does not matter.

    Two subjects with the same content have two replies, so that one can be erased without the other.
    """
    return hashlib.sha256(orjson.dumps([asked.subject_id, asked.content], option=orjson.OPT_SORT_KEYS)).digest()


def batches(
    places: Sequence[int], inputs: Sequence[PromptInput], *, most: int, limited: frozenset[str] = frozenset()
) -> list[list[int]]:
    """Return the places of inputs by request, in order; cached replies do not depend on the grouping.

    Inputs about a `limited` subject, which pays for itself, do not share a request with those of other subjects.
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
