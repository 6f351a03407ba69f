"""The signals and scores of waiting turns, as `search` will measure them once they are searchable; pure.

The similarity of a turn without a vector is that of the most similar hit, times the turn's lexical signal.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from uuid import UUID

from reverie.language.cues.speech import offers_help
from reverie.language.text import attributed
from reverie.policy import Policy, RecallPolicy
from reverie.recall.fresh.read import WaitingTurn
from reverie.recall.places.replacements import REPLACED, Candidates
from reverie.recall.question import ParsedQuestion, TimeSpan
from reverie.recall.result import Hit, NearbyTurn, Signals
from reverie.recall.search import MEASURED

#: The index of each signal among a waiting turn's values.
_PLACES = {name: place for place, name in enumerate(MEASURED)}
_DAY = 86_400.0
#: Days in which nearness to a date falls to about a third (1/e), before it and after it (as in `search`).
_BEFORE_DAYS, _AFTER_DAYS = 1.5, 5.0


@dataclass(frozen=True, kw_only=True, slots=True)
class FreshTurns:
    """Waiting turns, read with a search."""

    turns: Sequence[WaitingTurn] = ()
    #: Whether the question has a vector.
    embedded: bool = False
    #: BM25 of the best item of the search; None: there is none.
    best_bm25: float | None = None


def with_fresh(
    found: Candidates,
    waiting: FreshTurns,
    *,
    question: ParsedQuestion,
    said: Collection[str] = (),
    policy: Policy,
    as_of: datetime,
) -> Candidates:
    """Return the search's candidates with waiting turns among them, by score.

    A waiting turn that the search found too is left out, and so is one with the words of `said`. One that was replaced
    is always a candidate, since its replacement may have other words.
    """
    first, known = next(iter(waiting.turns), None), {hit.id for hit, _ in found}
    turns = [turn for turn in waiting.turns if turn.id not in known and turn.text.strip() not in said]
    if not first or not turns:
        return found
    numbers = policy.recall
    weights = numbers.weights_for(question.kind) if waiting.embedded else numbers.weights
    bm25, average = _bm25_of(turns, first, numbers)
    best = max(waiting.best_bm25 or 0.0, *bm25.values()) or 1.0
    lexical = {hit.id: hit.measured("lexical") for hit, _ in found}
    lexical |= {id_: value / best for id_, value in bm25.items()}
    similar = _similarities(turns, found, lexical) if waiting.embedded else {}
    sessions = _of_sessions(turns, found, similar, question)
    weighed = {name: weights[name] for name in MEASURED if weights.get(name)}
    fresh = list[tuple[Hit, str | None]]()
    for turn in turns:
        if turn.similarity is None and not bm25[turn.id] and not turn.is_replaced:
            continue  # found by nothing
        signals = {
            "similarity": similar.get(turn.id, 0.0),
            "lexical": lexical[turn.id],
            "answers": lexical.get(turn.asked_id, 0.0) if turn.asked_id else 0.0,
            "session_similarity": max(sessions.get(turn.session_id, 0.0), similar.get(turn.id, 0.0)),
            **_of_turn(turn, question, numbers, average, as_of),
        }
        values = [signals.get(name, 0.0) for name in MEASURED]
        score = sum(signals.get(name, 0.0) * weight for name, weight in weighed.items())
        too_far = not bm25[turn.id] and similar.get(turn.id, 0.0) < numbers.min_similarity
        reason = REPLACED if turn.is_replaced else "similarity" if too_far else None
        fresh.append((_hit(turn, Signals(values, _PLACES, weighed), score, policy), reason))
    return sorted((*found, *fresh), key=lambda each: (each[1] not in (None, REPLACED), -each[0].score))


def _bm25_of(
    turns: Sequence[WaitingTurn], first: WaitingTurn, numbers: RecallPolicy
) -> tuple[dict[UUID, float], float]:
    """Return the BM25 of each turn, and the mean length of an item; the turns count as items of the subject."""
    items = (first.items or 0.0) + len(turns)
    average = max((first.terms or 0.0) + sum(turn.length for turn in turns), 1.0) / items
    having = Counter(dict(zip(first.asked_words or (), first.having or (), strict=True)))
    for turn in turns:
        having.update(turn.words or ())
    idfs = {word: math.log(1 + (items - number + 0.5) / (number + 0.5)) for word, number in having.items()}
    k1, b = numbers.bm25_k1, numbers.bm25_b

    def bm25(turn: WaitingTurn) -> float:
        dampened = k1 * (1 - b + b * turn.length / average)
        found = zip(turn.words or (), turn.counts or (), strict=True)
        return sum((idfs[word] * count * (k1 + 1) / (count + dampened) for word, count in found), start=0.0)

    return {turn.id: bm25(turn) for turn in turns}, average


def _similarities(turns: Sequence[WaitingTurn], found: Candidates, lexical: Mapping[UUID, float]) -> dict[UUID, float]:
    highest = max(
        (
            *(hit.measured("similarity") for hit, _ in found),
            *(turn.similarity for turn in turns if turn.similarity is not None),
        ),
        default=1.0,
    )
    return {
        turn.id: max(highest, 0.0) * lexical[turn.id] if turn.similarity is None else turn.similarity for turn in turns
    }


def _of_sessions(
    turns: Sequence[WaitingTurn], found: Candidates, similar: Mapping[UUID, float], question: ParsedQuestion
) -> dict[str, float]:
    """Return the highest similarity by session; a turn that is the question itself does not count."""
    best: dict[str, float] = {}
    for hit, _ in found:
        if hit.session_id:
            best[hit.session_id] = max(best.get(hit.session_id, -1.0), hit.measured("session_similarity"))
    for turn in turns:
        if turn.id in similar and turn.text.strip() != question.text.strip():
            best[turn.session_id] = max(best.get(turn.session_id, -1.0), similar[turn.id])
    return best


def _of_turn(
    turn: WaitingTurn, question: ParsedQuestion, numbers: RecallPolicy, average: float, as_of: datetime
) -> dict[str, float]:
    """Return a turn's own signals; `average` is the mean length of the subject's items in terms."""
    text = _searched(turn)
    assistant = float(turn.role == "assistant")
    age_days = (as_of - turn.said_at).total_seconds() / _DAY
    return {
        "speaker": float(turn.speaker in question.mentioned),
        "date": max((_nearness(turn.said_at, span) for span in question.spans), default=0.0),
        "first_person": float(_pattern(numbers.first_person).search(text) is not None),
        "names_time": float(_pattern(numbers.names_time).search(text) is not None),
        "asks": float(text.rstrip().endswith("?")),
        "assistant": assistant,
        "asked_assistant": assistant * question.asks_assistant,
        "recency": max(0.0, min(1.0, 1 - age_days / numbers.recency_days)),
        "length": min((text.count(" ") + 1) / (average * numbers.length_cap), 1.0),
    }


def _nearness(said_at: datetime, span: TimeSpan) -> float:
    since, until = span
    if said_at < since:
        return math.exp(-(since - said_at).total_seconds() / _DAY / _BEFORE_DAYS)
    if said_at >= until:
        return math.exp(-(said_at - until).total_seconds() / _DAY / _AFTER_DAYS)
    return 1.0


def _hit(turn: WaitingTurn, signals: Signals, score: float, policy: Policy) -> Hit:
    is_short = len(turn.text.split()) <= policy.recall.longest_reply
    is_other = (turn.asked_speaker, turn.asked_role) != (turn.speaker, turn.role)
    asked = None
    is_answer = is_short and is_other and not offers_help(turn.asked_text or "")
    if is_answer and turn.asked_id and turn.asked_text and turn.asked_at:
        content = attributed(turn.asked_text, turn.asked_speaker, turn.asked_role)
        asked = NearbyTurn(id=turn.asked_id, content=content, said_at=turn.asked_at)
    return Hit(
        "turn",
        turn.id,
        "turn",
        attributed(turn.text, turn.speaker, turn.role),
        turn.said_at,
        score,
        signals,
        {},
        turn.id,
        turn.session_id,
        None,
        reply_to=asked,
        fresh=True,
    )


def _searched(turn: WaitingTurn) -> str:
    """Return the text of a turn as it is searched, with its speaker."""
    return f"{turn.speaker}: {turn.text}" if turn.speaker else turn.text


@cache
def _pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
