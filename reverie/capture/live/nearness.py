"""Embedding within a request: vectors of messages, and the memories near a new candidate (spec A4, A5).

The nearness is an answer and changes nothing: merge finds the same memory when it works the candidate in, and
reinforces it instead of adding one (`docs/decisions/0012`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import numpy.typing as npt

from reverie.inference import Embedder, from_half_wire, to_half_wire
from reverie.language.cues.immediate import TurnCandidates
from reverie.model import Candidate, Turn, rounded
from reverie.policy import Policy

#: Candidates of one request that are compared with what is remembered; merge compares all of them later.
MOST_COMPARED = 50


@dataclass(frozen=True, kw_only=True, slots=True)
class Near:
    """A memory that a candidate repeats in other words."""

    memory_id: UUID
    #: Cosine of the two.
    similarity: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Nearness:
    """Candidates with their vectors, to be compared with the subject's most recent memories."""

    model: str = ""
    candidates: tuple[Candidate, ...] = ()
    #: As SQL reads a halfvec, rounded as a stored one is.
    vectors: tuple[str, ...] = ()

    def params(self, tenant_id: str, subject_id: str, policy: Policy) -> dict[str, Any]:
        """Return the parameters of the query `near`."""
        return {
            "tenant": tenant_id,
            "subject": subject_id,
            "model": self.model,
            "kinds": [one.kind for one in self.candidates],
            "vectors": list(self.vectors),
            "hashes": [hashlib.sha256(one.content.encode()).digest() for one in self.candidates],
            "merged": list(policy.merge.kinds),
            "recent": policy.merge.recent,
            "threshold": policy.merge.threshold,
        }

    def read(self, rows: Sequence[tuple[int, UUID, float]]) -> dict[UUID, Near]:
        """Return what the query found, by candidate."""
        return {
            self.candidates[place].id: Near(memory_id=memory_id, similarity=rounded(similarity))
            for place, memory_id, similarity in rows
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Answers:
    """The embedder's vectors for a request's turns, by place."""

    vectors: Mapping[int, npt.ArrayLike] = field(default_factory=dict)
    near: Nearness = Nearness()


def ask_embedder(
    turns: Sequence[Turn], noticed: Sequence[TurnCandidates], policy: Policy, embedder: Embedder | None
) -> Callable[[], Answers] | None:
    """Return the call that asks it; None where it is not to be asked. It raises nothing that a request would not.

    An embedder behind a network is not asked: a request cannot wait for it, and nobody would book what it costs.
    """
    said = [place for place, turn in enumerate(turns) if turn.role == "user" and turn.text]
    here = embedder if embedder is not None and not embedder.price_per_token else None
    # a crisis is listened for whoever tells the mood
    listened = policy.crisis.detect and policy.crisis.vector_probability < 1
    by_vector = listened or "classifier" in policy.mood.after_failure + policy.mood.after_late
    classified = said if here is not None and by_vector else []
    kept = tuple(
        one
        for found in noticed
        for one in found.candidates
        if here is not None and policy.merge.recent and one.kind in policy.merge.kinds
    )[:MOST_COMPARED]
    if here is None or (not classified and not kept):
        return None

    def ask() -> Answers:
        encoded = here.encode([turns[place].text for place in classified] + [one.content for one in kept])
        halves = from_half_wire([row.tobytes() for row in to_half_wire(encoded[len(classified) :])])
        vectors = tuple(f"[{','.join(map(repr, row))}]" for row in halves.tolist())
        return Answers(
            vectors=dict(zip(classified, encoded, strict=False)),
            near=Nearness(model=here.model, candidates=kept, vectors=vectors),
        )

    return ask
