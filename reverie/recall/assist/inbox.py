"""Items of an inbox, ranked by their importance to the person: by memories near each item, and whom it names.

An item's score is the sum of its reasons. Each of the nearest memories adds by similarity and importance: an
instruction adds more, a dislike subtracts. Each person named adds by the number of memories about them. The caller's
guidance counts as an instruction.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple
from uuid import UUID

import numpy as np

from reverie.errors import InferenceError
from reverie.inference import Embedder, Vectors
from reverie.language.text import strip_invisible
from reverie.llm.metering import embed_texts
from reverie.model import require_aware, rounded
from reverie.policy import Policy
from reverie.policy.assist import InboxPolicy
from reverie.recall.candidates import NO_MODEL
from reverie.recall.places.sensitive import may_be_told
from reverie.recall.recall import withheld_note
from reverie.recall.search import horizon
from reverie.recall.subject_cache import KnownSubject, subject_statement
from reverie.store.queries import queries
from reverie.store.session import Statement, TenantSession

#: Memories read for each one that counts, as some are sensitive.
_READ_FOR_EACH = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class InboxItem:
    """An item of an inbox, as the caller passes it."""

    id: str
    text: str
    sender: str | None = None
    received_at: datetime | None = None

    @property
    def read(self) -> str:
        """The text to compare: the sender and the item's text."""
        return f"{self.sender}: {self.text}" if self.sender else self.text


@dataclass(frozen=True, kw_only=True, slots=True)
class Reason:
    """A reason for the place of an item."""

    #: near: a memory; instruction: one that says what to do; disliked: one that says what the person does not want;
    #: named: a person or thing that memories name; guidance: the caller's.
    kind: Literal["near", "instruction", "disliked", "named", "guidance"]
    #: Its part of the score; negative: against the item.
    adds: float
    content: str
    memory_ids: Sequence[UUID]
    turn_id: UUID | None
    similarity: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class RankedItem:
    """An item with its score and reasons, weightiest first."""

    id: str
    score: float
    why: Sequence[Reason]


@dataclass(frozen=True, kw_only=True, slots=True)
class RankedInbox:
    """Items, most important first."""

    items: Sequence[RankedItem]
    notes: Sequence[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryNearItem:
    """A memory near an item; `place` is the item's, from 1."""

    place: int
    id: UUID
    kind: str
    relation: str | None
    content: str
    happened_at: datetime
    importance: float
    polarity: int
    turn_id: UUID | None
    similarity: float


class ItemEntity(NamedTuple):
    """An entity that an item names; `place` is the item's, from 1."""

    place: int
    id: str
    type: str
    label: str
    memories: int
    memory_ids: list[UUID]


async def rank_inbox(
    session: TenantSession,
    *,
    subject_id: str,
    items: Sequence[InboxItem],
    guidance: Sequence[str] = (),
    as_of: datetime,
    policy: Policy,
    embedder: Embedder | None,
) -> RankedInbox:
    """Return items by their importance to a subject; equal ones latest first."""
    notes: list[str] = []
    require_aware(as_of)
    known = KnownSubject(rows=await session.run(subject_statement(session.tenant_id, subject_id)))
    if not known:
        notes.append(f"Nothing is remembered about {subject_id}.")
    elif known.is_withheld:
        notes.append(withheld_note(subject_id))
    if notes:
        return RankedInbox(items=ranked_items(items, {}), notes=notes)
    vectors = await _embedded(session, [*(item.read for item in items), *guidance], known, subject_id, embedder, notes)
    numbers = policy.assist.inbox
    params = {
        "tenant": session.tenant_id,
        "subject": subject_id,
        "model": embedder.model if embedder else None,
        "texts": [item.read for item in items],
        "vectors": [] if vectors is None else [_literal(vector) for vector in vectors[: len(items)]],
        "language": policy.language,
        "as_of": as_of,
        "horizon": horizon(as_of),
        "min_importance": policy.recall.min_importance,
        "least_similarity": numbers.least_similarity,
        "avoiding": list(numbers.avoiding),
        "limit": _READ_FOR_EACH * numbers.nearest,
    }
    near, named = await session.run_all(
        Statement(queries("assist")["inbox_memories"], params, row=MemoryNearItem),
        Statement(queries("assist")["inbox_entities"], params, row=ItemEntity),
    )
    reasons: dict[int, list[Reason]] = defaultdict(list)
    for place, item in enumerate(items):
        told = told_of(item, [each for each in near if each.place == place + 1], policy)
        reasons[place] += near_reasons(told, numbers)
        reasons[place] += [named_reason(each, numbers) for each in named if each.place == place + 1]
        if vectors is not None:
            reasons[place] += guidance_reasons(guidance, vectors[len(items) :] @ vectors[place], numbers)
    return RankedInbox(items=ranked_items(items, reasons), notes=notes)


def told_of(item: InboxItem, near: Sequence[MemoryNearItem], policy: Policy) -> list[MemoryNearItem]:
    """Return the memories that the item may bring up; pure."""
    may = may_be_told(item.read, [(each.content, each.similarity) for each in near], policy.sensitivity)
    return [each for each, is_told in zip(near, may, strict=True) if is_told]


def near_reasons(near: Sequence[MemoryNearItem], numbers: InboxPolicy) -> list[Reason]:
    """Return reasons from the memories nearest to an item, only the nearest of each turn; pure."""
    found: list[Reason] = []
    turns = set[UUID]()
    for each in near:
        if len(found) == numbers.nearest:
            break
        if each.turn_id in turns:
            continue
        turns.update([each.turn_id] if each.turn_id else [])
        kind: Literal["near", "instruction", "disliked"] = (
            "disliked"
            if each.polarity < 0 or each.relation in numbers.avoiding
            else "instruction"
            if each.kind == "instruction"
            else "near"
        )
        weight = numbers.disliked if kind == "disliked" else numbers.near
        weight += numbers.instruction if kind == "instruction" else 0.0
        found.append(
            Reason(
                kind=kind,
                adds=rounded(weight * each.importance * _likeness(each.similarity, numbers)),
                content=strip_invisible(each.content),
                memory_ids=[each.id],
                turn_id=each.turn_id,
                similarity=rounded(each.similarity),
            )
        )
    return found


def named_reason(entity: ItemEntity, numbers: InboxPolicy) -> Reason:
    """Return the reason that an item names an entity: the more memories of it, the higher; pure."""
    return Reason(
        kind="named",
        adds=rounded(numbers.named * (1 - 0.5**entity.memories)),
        content=entity.label,
        memory_ids=entity.memory_ids,
        turn_id=None,
        similarity=None,
    )


def guidance_reasons(guidance: Sequence[str], similarities: Vectors, numbers: InboxPolicy) -> list[Reason]:
    """Return reasons from the caller's guidance; pure."""
    weight = numbers.near + numbers.instruction
    return [
        Reason(
            kind="guidance",
            adds=rounded(weight * _likeness(float(similarity), numbers)),
            content=text,
            memory_ids=[],
            turn_id=None,
            similarity=rounded(float(similarity)),
        )
        for text, similarity in zip(guidance, similarities, strict=True)
        if similarity >= numbers.least_similarity
    ]


def ranked_items(items: Sequence[InboxItem], reasons: dict[int, list[Reason]]) -> list[RankedItem]:
    """Return items by the sum of their reasons; ties by time, latest first, then in the order given; pure."""
    scored = [
        (
            rounded(sum(each.adds for each in reasons.get(place, ()))),
            item.received_at.timestamp() if item.received_at else 0.0,
            place,
            item,
        )
        for place, item in enumerate(items)
    ]
    return [
        RankedItem(id=item.id, score=score, why=sorted(reasons.get(place, ()), key=lambda each: -abs(each.adds)))
        for score, _, place, item in sorted(scored, key=lambda each: (-each[0], -each[1], each[2]))
    ]


def _likeness(similarity: float, numbers: InboxPolicy) -> float:
    return max(similarity - numbers.least_similarity, 0.0) / max(1 - numbers.least_similarity, 1e-9)


async def _embedded(
    session: TenantSession,
    texts: Sequence[str],
    known: KnownSubject,
    subject_id: str,
    embedder: Embedder | None,
    notes: list[str],
) -> Vectors | None:
    """Return the vectors of texts, shape (texts, dimensions); None and a note if they cannot be compared."""
    if embedder is None:
        notes.append(NO_MODEL)
        return None
    if known.model not in (None, embedder.model):
        notes.append(
            f"The memory is embedded by {known.model}, but the embedding model is {embedder.model}: by names alone."
        )
        return None
    try:
        return await embed_texts(session, texts, stage="recall", embedder=embedder, subject_id=subject_id)
    except InferenceError as error:
        notes.append(f"The embedding model gave no answer ({error.within}): by names alone.")
        return None


def _literal(vector: Vectors) -> str:
    """Return a vector as text that Postgres reads as a halfvec."""
    return "[" + ",".join(f"{each:.4g}" for each in np.asarray(vector, np.float32)) + "]"
