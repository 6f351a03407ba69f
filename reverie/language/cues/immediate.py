"""Candidates of one turn, found in the request that brings it.

The immediate tier reads a turn with Python's re: the same candidates under the same ids as
`consolidate.extract.decide` makes of a batch. It writes nothing; extract does, when the turn is in the log.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

import orjson

from reverie.language.cues.attribution import veil
from reverie.language.cues.compiled import Rules
from reverie.language.cues.entities import entities_one
from reverie.language.cues.keeping import TOOL_CALLS_FROM, kept_one, pieces
from reverie.language.cues.salience import salience, unit_of
from reverie.language.cues.single import extract_one
from reverie.language.cues.speech import episode_of_tool_call, is_question, low_content
from reverie.language.expiry import statement_end
from reverie.language.subject import sentence
from reverie.language.text import CountTokens, owned, strip_invisible
from reverie.model import Candidate, Kind, Proposition, Turn, candidate_id
from reverie.policy import Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnCandidates:
    """The candidates of a turn, or why there are none: `role`, `low_content`, `question`, `quoted` or `no_rule`."""

    candidates: tuple[Candidate, ...]
    reason: str | None
    #: Number of candidates beyond the policy's limit for one turn.
    left_out: int = 0


@cache
def compiled(policy: Policy) -> Rules:
    """Return the policy's rule table, compiled once per process."""
    return Rules(policy.extract)


def extract_candidates(turn: Turn, policy: Policy, count_tokens: CountTokens) -> TurnCandidates:
    """Return the candidates of one turn, in far under a millisecond, except for texts longer than a chunk."""
    rules = compiled(policy)
    turn = replace(turn, text=strip_invisible(turn.text))
    findings = sorted(_findings(turn, policy, rules, count_tokens), key=lambda finding: finding[:7])
    if findings:
        kept = findings[: policy.extract.turn_candidates]
        candidates = tuple(_candidate(turn, policy, finding) for finding in kept)
        return TurnCandidates(candidates=candidates, reason=None, left_out=len(findings) - len(kept))
    if turn.role not in policy.extract.roles:
        reason = "role"
    elif low_content(turn.text, rules):
        reason = "low_content"
    elif is_question(turn.text):
        reason = "question"
    else:
        reason = "no_rule" if veil(turn.text) == turn.text else "quoted"
    return TurnCandidates(candidates=(), reason=reason)


class _Finding(NamedTuple):
    """A finding of a rule or method in a turn."""

    place: int
    kind: Kind
    content: str
    polarity: int
    importance: float
    #: Typed id of the rule's entity, or empty.
    entity: str
    origin: str
    statement: Proposition | None = None
    lasting: bool = False
    expires_at: datetime | None = None
    #: The text that the salience is taken from; None: the content.
    said: str | None = None


def _findings(turn: Turn, policy: Policy, rules: Rules, count_tokens: CountTokens) -> Iterator[_Finding]:
    text, numbers = turn.text, policy.extract
    if turn.role in numbers.roles and not low_content(text, rules):
        hits = extract_one(text, rules)
        for hit in hits:
            of_rule = (hit.kind, hit.content, hit.polarity, hit.importance, hit.entity or "", hit.rule)
            clause = text[hit.start : hit.end]
            end = statement_end(hit.statement, clause, turn.said_at, numbers)
            yield _Finding(hit.start, *of_rule, hit.statement, hit.lasting and end is None, end, unit_of(text, clause))
        for part in kept_one(text, [(hit.start, hit.end) for hit in hits], rules):
            for piece in pieces(part, policy, count_tokens):
                importance = getattr(numbers.importance, piece.kind)
                yield _Finding(piece.place, piece.kind, piece.content, 0, importance, "", piece.origin)
    if numbers.tool_episodes and turn.tool_calls:
        for place, call in enumerate(orjson.loads(orjson.dumps(turn.tool_calls)), start=TOOL_CALLS_FROM):
            episode = episode_of_tool_call(as_stored(call))
            yield _Finding(place, "episode", episode, 0, numbers.importance.episode, "", "tool_call")


def _candidate(turn: Turn, policy: Policy, finding: _Finding) -> Candidate:
    content, kind, origin = finding.content, finding.kind, finding.origin
    rule_entity = [finding.entity] if finding.entity else []
    mentions = dict.fromkeys(rule_entity + [entity.id for entity in entities_one(content)])
    by_salience = policy.importance.mode == "novelty_salience"
    worded = sentence if finding.statement else owned
    return Candidate(
        id=candidate_id(turn.said_at, turn.tenant_id, turn.subject_id, kind, str(turn.id), origin, finding.place),
        subject_id=turn.subject_id,
        kind=kind,
        content=content if origin == "tool_call" else worded(content, turn.speaker, turn.subject_id),
        importance=salience(finding.said or content, policy.salience) if by_salience else finding.importance,
        polarity=finding.polarity,
        happened_at=turn.said_at,
        mentions=tuple(mentions),
        turn_id=turn.id,
        session_id=turn.session_id,
        origin=origin,
        statement=finding.statement,
        lasting=finding.lasting,
        expires_at=finding.expires_at,
    )


def as_stored(value: Any) -> Any:
    """Return the value as jsonb returns it: keys by length, then by their bytes."""
    if isinstance(value, Mapping):
        keys = sorted(value, key=lambda key: (len(key.encode()), key.encode()))
        return {key: as_stored(value[key]) for key in keys}
    return [as_stored(each) for each in value] if isinstance(value, list) else value
