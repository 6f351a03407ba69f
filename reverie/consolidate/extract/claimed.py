"""Accepted claims as candidates, with their statement and importance; pure."""

from __future__ import annotations

from collections.abc import Sequence

from reverie.consolidate.extract.claims import AcceptedClaim, ShownTurn, importance_of
from reverie.language.cues.entities import entities_one
from reverie.language.cues.salience import salience, unit_of
from reverie.language.fact_keys import relation_of
from reverie.language.subject import sentence
from reverie.language.text import owned
from reverie.model import Candidate, Proposition, candidate_id
from reverie.policy import Policy

#: The relation of an instruction without a key that names one.
_STANDING_RULE = "standing_rule"


def claim_candidates(
    turn: ShownTurn, claims: Sequence[AcceptedClaim], tenant_id: str, policy: Policy, model_key: str, prompt_hash: bytes
) -> list[Candidate]:
    """Return accepted claims as candidates. Model and prompt are part of their ids, so that each model has its own."""
    origin = f"note:{prompt_hash.hex()[:8]}"
    candidates = []
    for claim in claims:
        importance = importance_of(claim.kind, policy) if claim.importance is None else claim.importance
        if policy.importance.mode == "novelty_salience":
            importance = salience(unit_of(turn.text, claim.text), policy.salience)
        by = f"{origin}/{model_key}"
        statement, polarity = _statement(claim, policy)
        candidates.append(
            Candidate(
                id=candidate_id(turn.said_at, tenant_id, turn.subject_id, claim.kind, str(turn.id), by, claim.place),
                subject_id=turn.subject_id,
                kind=claim.kind,
                content=(sentence if statement else owned)(claim.text, turn.speaker, turn.subject_id),
                importance=importance,
                polarity=polarity,
                happened_at=turn.said_at,
                mentions=tuple(entity.id for entity in entities_one(claim.text)),
                turn_id=turn.id,
                session_id=turn.session_id,
                origin=origin,
                model=model_key,
                stated=claim.stated,
                statement=statement,
                confidence=claim.confidence,
                lasting=statement is not None and policy.lasts(statement.relation, statement.phase),
            )
        )
    return candidates


def _statement(claim: AcceptedClaim, policy: Policy) -> tuple[Proposition | None, int]:
    """Return the statement of a claim, and its polarity.

    The first of these: the statement of a rule that matched the same words, unless the model names another relation
    (merge and facts then see one statement in two wordings); the model's own; that of its key, if the key means a
    relation of the policy; for an instruction, a standing rule.
    """
    said, read = claim.statement, claim.hit.statement if claim.hit else None
    if said is not None and (read is None or read.relation != said.relation):
        return said, claim.polarity
    polarity = claim.hit.polarity if claim.hit else claim.polarity
    if read is not None:
        return read, polarity
    if claim.stated is not None and (found := relation_of(policy, claim.stated["category"], claim.stated["key"])):
        return Proposition(relation=found[0], object=claim.stated["value"], topic=found[1]), polarity
    if claim.kind == "instruction" and _STANDING_RULE in policy.extract.relations:
        return Proposition(relation=_STANDING_RULE, object=claim.text), polarity
    return None, polarity
