"""Embedding within a request: vectors of messages, by which recall finds them, and memories near a candidate (A4, A5).

The nearness is only reported and changes nothing: merge finds the same memory when it processes the candidate, and
reinforces it instead of adding one (`docs/decisions/0012`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import numpy.typing as npt
import orjson

from reverie.inference import Embedder, from_half_wire, to_half_wire
from reverie.language.cues.immediate import TurnCandidates
from reverie.language.text import strip_invisible
from reverie.model import Candidate, Turn, rounded
from reverie.policy import Policy

#: Maximum candidates of one request that are compared with memories; merge compares all of them later.
MOST_COMPARED = 50


@dataclass(frozen=True, kw_only=True, slots=True)
class Near:
    """A memory that a candidate repeats in other words, or a candidate that becomes one."""

    memory_id: UUID
    #: Cosine similarity of the two.
    similarity: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Nearness:
    """Candidates with their vectors, to be compared with the subject's most recent memories, and turns with theirs."""

    model: str = ""
    candidates: tuple[Candidate, ...] = ()
    turns: tuple[Turn, ...] = ()
    #: Vectors of the candidates, then of the turns; as SQL reads a halfvec, rounded like a stored one.
    vectors: tuple[str, ...] = ()

    def params(self, tenant_id: str, subject_id: str, policy: Policy) -> dict[str, Any]:
        """Return the parameters of the query `near`."""
        texts = [one.content for one in self.candidates] + [_searched_text(turn) for turn in self.turns]
        return {
            "tenant": tenant_id,
            "subject": subject_id,
            "model": self.model,
            "ids": [one.id for one in self.candidates] + [turn.id for turn in self.turns],
            "kinds": [one.kind for one in self.candidates] + [None] * len(self.turns),
            "vectors": list(self.vectors),
            "hashes": [_hash(text) for text in texts],
            "merged": list(policy.merge.kinds) if self.candidates else [],
            "recent": policy.merge.recent,
            "threshold": policy.merge.threshold,
        }

    def read(self, rows: Sequence[tuple[int, UUID, float]]) -> dict[UUID, Near]:
        """Return the near memories that the query found, by candidate."""
        return {
            self.candidates[place].id: Near(memory_id=memory_id, similarity=rounded(similarity))
            for place, memory_id, similarity in rows
        }

    def stored(self, seen: TurnCandidates) -> str:
        """Return the candidates of a turn that later ones can be compared with, as JSON."""
        embedded = {one.id for one in self.candidates}
        kept = [one for one in seen.candidates if one.id in embedded]
        return orjson.dumps(
            [{"id": str(one.id), "kind": one.kind, "hash": _hash(one.content).hex()} for one in kept]
        ).decode()


@dataclass(frozen=True, kw_only=True, slots=True)
class Answers:
    """The embedder's vectors for a request's turns, by place."""

    vectors: Mapping[int, npt.ArrayLike] = field(default_factory=dict)
    near: Nearness = Nearness()


def ask_embedder(
    turns: Sequence[Turn], noticed: Sequence[TurnCandidates], policy: Policy, embedder: Embedder | None
) -> Callable[[], Answers] | None:
    """Return the call that asks the embedder; None if it is not to be asked. The call raises InferenceError.

    A remote embedder is not asked: a request cannot wait for it, and its cost would not be booked.
    """
    here = embedder if embedder is not None and not embedder.price_per_token else None
    if here is None:
        return None
    said = [place for place, turn in enumerate(turns) if turn.role == "user" and turn.text]
    # crises are detected no matter how the mood is determined
    listened = policy.crisis.detect and policy.crisis.vector_probability < 1
    by_vector = listened or "classifier" in policy.mood.after_failure + policy.mood.after_late
    classified = said if by_vector else []
    kept = tuple(
        one for found in noticed for one in found.candidates if policy.merge.recent and one.kind in policy.merge.kinds
    )[:MOST_COMPARED]
    found_soon = _embedded_at_once(turns, policy)
    stored = [one.content for one in kept] + [strip_invisible(_searched_text(turn)) for turn in found_soon]
    texts = list(dict.fromkeys([turns[place].text for place in classified] + stored))
    if not texts:
        return None

    def ask() -> Answers:
        encoded = here.encode(texts)
        places = {text: place for place, text in enumerate(texts)}
        halves = from_half_wire([row.tobytes() for row in to_half_wire(encoded[[places[text] for text in stored]])])
        return Answers(
            vectors={place: encoded[places[turns[place].text]] for place in classified},
            near=Nearness(
                model=here.model,
                candidates=kept,
                turns=found_soon,
                vectors=tuple(f"[{','.join(map(repr, row))}]" for row in halves.tolist()),
            ),
        )

    return ask


def _embedded_at_once(turns: Sequence[Turn], policy: Policy) -> tuple[Turn, ...]:
    """Return the turns that recall finds by their vectors from now on, up to the policy's number of characters."""
    if not policy.recall.fresh:
        return ()
    left, some = policy.recall.fresh_characters, list[Turn]()
    for turn in turns:
        left -= len(turn.text)
        if turn.text and left >= 0:
            some.append(turn)
    return tuple(some)


def _searched_text(turn: Turn) -> str:
    """Return the text by which a turn is searched, as in the stage `embed`."""
    return f"{turn.speaker}: {turn.text}" if turn.speaker is not None else turn.text


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()
