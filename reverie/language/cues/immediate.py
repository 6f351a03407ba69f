"""Candidates of one turn, found in the request that brings it.

The immediate tier reads a turn with Python's re: the same candidates under the same ids as
`consolidate.extract.decide` makes of a batch. It writes nothing; extract does, when the turn is in the log.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any
from uuid import UUID

import orjson

from reverie.language.cues.attribution import veil
from reverie.language.cues.compiled import Rules
from reverie.language.cues.entities import entities_one
from reverie.language.cues.salience import salience
from reverie.language.cues.single import extract_one
from reverie.language.cues.speech import episode_of_tool_call, eventful, is_question, low_content
from reverie.language.text import CountTokens, chunk, owned, strip_invisible
from reverie.model import Kind, Turn, candidate_id
from reverie.policy import Policy

#: Longer texts become several episodes; shorter ones cannot fill a chunk, so the tokenizer is not asked.
SHORT_CHARACTERS = 500
#: Where the candidates of each way of finding them begin to be counted: stated, told, done.
TOLD, DONE = 1_000_000, 2_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """Something that a turn gives for memory."""

    #: That of the memory it will be, unless it is merged into another.
    id: UUID
    kind: Kind
    content: str
    #: 0 to 1, before novelty, recalls and outcomes.
    importance: float
    polarity: int
    #: Typed ids such as `pet:bruno`.
    mentions: tuple[str, ...]
    #: Rule that found it; `turn` for an episode, `tool_call` for what an agent did.
    origin: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnCandidates:
    """What a turn gives, or why nothing: `role`, `low_content`, `question`, `quoted` or `no_rule`."""

    candidates: tuple[Candidate, ...]
    reason: str | None
    #: Candidates beyond the policy's number for one turn.
    left_out: int = 0


@cache
def compiled(policy: Policy) -> Rules:
    """Return the policy's rule table, compiled once a process."""
    return Rules(policy.extract)


def extract_candidates(turn: Turn, policy: Policy, count_tokens: CountTokens) -> TurnCandidates:
    """Return what the rules make of one turn. Far under a millisecond, but for texts longer than a chunk."""
    rules = compiled(policy)
    turn = replace(turn, text=strip_invisible(turn.text))
    found = sorted(_found(turn, policy, rules, count_tokens))
    if found:
        kept = found[: policy.extract.turn_candidates]
        candidates = tuple(_candidate(turn, policy, *each) for each in kept)
        return TurnCandidates(candidates=candidates, reason=None, left_out=len(found) - len(kept))
    if turn.role not in policy.extract.roles:
        reason = "role"
    elif low_content(turn.text, rules):
        reason = "low_content"
    elif is_question(turn.text):
        reason = "question"
    else:
        reason = "no_rule" if veil(turn.text) == turn.text else "quoted"
    return TurnCandidates(candidates=(), reason=reason)


#: Place, kind, content, polarity, importance, typed id of the rule, origin.
_Found = tuple[int, Kind, str, int, float, str, str]


def _found(turn: Turn, policy: Policy, rules: Rules, count_tokens: CountTokens) -> Iterator[_Found]:
    text, numbers = turn.text, policy.extract
    if turn.role in numbers.roles and not low_content(text, rules):
        for hit in extract_one(text, rules):
            yield hit.start, hit.kind, hit.content, hit.polarity, hit.importance, hit.entity or "", hit.rule
        if (numbers.episodes == "all" and text) or (numbers.episodes == "eventful" and eventful(text, rules)):
            for place, piece in enumerate(_pieces(text, policy, count_tokens), start=TOLD):
                yield place, "episode", piece, 0, numbers.importance.episode, "", "turn"
    if numbers.tool_episodes and turn.tool_calls:
        for place, call in enumerate(orjson.loads(orjson.dumps(turn.tool_calls)), start=DONE):
            yield (
                place,
                "episode",
                episode_of_tool_call(as_stored(call)),
                0,
                numbers.importance.episode,
                "",
                "tool_call",
            )


def _pieces(text: str, policy: Policy, count_tokens: CountTokens) -> list[str]:
    if len(text) <= SHORT_CHARACTERS:
        return [text]
    return chunk(text, count_tokens, min_tokens=policy.chunk.min_tokens, max_tokens=policy.chunk.max_tokens)


def _candidate(
    turn: Turn,
    policy: Policy,
    place: int,
    kind: Kind,
    content: str,
    polarity: int,
    importance: float,
    entity: str,
    origin: str,
) -> Candidate:
    mentions = dict.fromkeys(([entity] if entity else []) + [named.id for named in entities_one(content)])
    if policy.importance.mode == "novelty_salience":
        importance = salience(content, policy.salience)
    return Candidate(
        id=candidate_id(turn.said_at, turn.tenant_id, turn.subject_id, kind, str(turn.id), origin, place),
        kind=kind,
        content=content if origin == "tool_call" else owned(content, turn.speaker, turn.subject_id),
        importance=importance,
        polarity=polarity,
        mentions=tuple(mentions),
        origin=origin,
    )


def as_stored(value: Any) -> Any:
    """The value as jsonb gives it back: keys by length, then by their bytes."""
    if isinstance(value, Mapping):
        keys = sorted(value, key=lambda key: (len(key.encode()), key.encode()))
        return {key: as_stored(value[key]) for key in keys}
    return [as_stored(each) for each in value] if isinstance(value, list) else value
