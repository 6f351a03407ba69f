"""Claims of a language model that state what the reader found in the same turn: one candidate, more certain; pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple
from uuid import UUID

from reverie.consolidate.extract.claims import AcceptedClaim, says_no_more
from reverie.language.contradiction import contradiction
from reverie.language.fact_keys import relation_key
from reverie.language.objects import same
from reverie.model import Candidate, Phase, Proposition
from reverie.policy import Policy

#: Phases that count as equal when two readings are compared.
_PRESENT: frozenset[Phase] = frozenset(("holds", "begins", "adds"))
#: Digits of a confidence.
_DIGITS = 3


class ReaderMemory(NamedTuple):
    """A memory of a statement that the reader found in a turn."""

    id: UUID
    turn_id: UUID
    content: str
    polarity: int
    confidence: float
    statement: Proposition


@dataclass(frozen=True, kw_only=True, slots=True)
class AgreedClaims:
    """The claims about a turn, compared with what the reader found in it."""

    #: The claims that the reader's memories do not cover, and their candidates.
    claims: Sequence[AcceptedClaim]
    candidates: Sequence[Candidate]
    #: The new confidence of each of the reader's memories with which a claim agrees, by id.
    agreed: dict[UUID, float]


def with_agreement(
    claims: Sequence[AcceptedClaim],
    candidates: Sequence[Candidate],
    found: Sequence[ReaderMemory],
    text: str,
    policy: Policy,
) -> AgreedClaims:
    """Return the claims on a turn (`text`) that say more than the reader's memories, and the memories they confirm.

    A claim agrees with a memory if relation, holder and object are the same and nothing in the two contradicts. If it
    says no more than the memory, it is dropped. If it says more, it stays a candidate, which merge compares.
    """
    kept: list[tuple[AcceptedClaim, Candidate]] = []
    agreed: dict[UUID, float] = {}
    for claim, candidate in zip(claims, candidates, strict=True):
        known = next((one for one in found if one.id not in agreed and states_the_same(candidate, one, policy)), None)
        if known is None:
            kept.append((claim, candidate))
            continue
        agreed[known.id] = surer(known.confidence, claim.confidence, policy)
        if not says_no_more(claim.text, known.content, text):
            kept.append((claim, replace(candidate, agreed=agreed[known.id])))
    return AgreedClaims(claims=[claim for claim, _ in kept], candidates=[each for _, each in kept], agreed=agreed)


def surer(one: float, other: float, policy: Policy) -> float:
    """Return the confidence of a statement that two readers found, as if their errors were independent.

    It is at most the policy's `agreed_confidence`, but never less than the higher of the two.
    """
    both = min(1 - (1 - one) * (1 - other), policy.extract.model.agreed_confidence)
    return round(max(both, one, other), _DIGITS)


def states_the_same(candidate: Candidate, known: Candidate | ReaderMemory, policy: Policy) -> bool:
    """Return whether both have the same relation, holder and object, and nothing in the two contradicts."""
    claimed, found = candidate.statement, known.statement
    if claimed is None or found is None or claimed.relation is None or claimed.relation != found.relation:
        return False
    is_apart = (
        (claimed.who or "").casefold() != (found.who or "").casefold()
        or ((claimed.phase not in _PRESENT or found.phase not in _PRESENT) and claimed.phase != found.phase)
        or (bool(claimed.topic and found.topic) and not same(claimed.topic or "", found.topic or ""))
        or candidate.polarity * known.polarity < 0
        or contradiction(candidate.content, known.content) is not None
    )
    return not is_apart and _is_one_object(claimed, found, policy)


def _is_one_object(one: Proposition, other: Proposition, policy: Policy) -> bool:
    """Return whether both objects have the same words or give the same structured key: "a dog named Rex", "Rex"."""
    if same(one.object, other.object):
        return True
    relation = policy.extract.relations[one.relation or ""]
    return "{object}" in (relation.key or "") and relation_key(relation, one) == relation_key(relation, other)
