"""Extractive summary of a session: two or three of its own sentences, without a language model.

It takes sentences that can be read alone (`standalone`) and that together cover what the session speaks of most: greedy
coverage of stems weighted by the turns that use them (Takamura and Okumura 2009; Lin and Bilmes 2011), worth more in
the first person and with names, numbers and dates, in the order of the turns. A language model that writes the summary
takes the same turns and gives the same kind of text. Source: docs/design-sources.md, Logic 3.2.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

import polars as pl

from reverie.language.cues.salience import salience_expr
from reverie.language.standalone import Sentence, spoken_text, standalone, terms_of
from reverie.language.text import author, strip_invisible, written_day
from reverie.model.session_part import SessionTurn
from reverie.policy import SaliencePolicy
from reverie.policy.memory import SummaryPolicy


@dataclass(frozen=True, kw_only=True, slots=True)
class SpokenTurn:
    """A turn as the summary reads it."""

    speaker: str
    text: str
    #: The date of the summary, if this is the first turn.
    said_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class _Candidate:
    place: int
    speaker: str
    sentence: Sentence
    #: 1 for the first turn of the session, towards 0 for the last.
    early: float


def spoken_turns(turns: Sequence[SessionTurn]) -> list[SpokenTurn]:
    """Return the turns of people and assistants as a summary reads them; all turns if there are none of them."""
    return [
        SpokenTurn(
            speaker=author(turn.speaker, turn.role) or "User", text=strip_invisible(turn.text), said_at=turn.said_at
        )
        for turn in [turn for turn in turns if turn.role in ("user", "assistant")] or turns
    ]


def summarise(
    turns: Sequence[SpokenTurn], *, number: int, weights: SummaryPolicy, salience: SaliencePolicy
) -> str | None:
    """Return at most `number` sentences of the session, dated if its first turn is, with their speakers, as one text.

    `turns` are in order, at least one. None if no sentence of the session is worth a summary.
    """
    return summarise_all([turns], number=number, weights=weights, salience=salience)[0]


def summarise_all(
    sessions: Sequence[Sequence[SpokenTurn]],
    *,
    number: int,
    weights: SummaryPolicy,
    salience: SaliencePolicy,
    dated: bool = True,
) -> list[str | None]:
    """Return `summarise` of each session; the salience of all sentences is read in one pass.

    `dated`: whether a text begins with its day.
    """
    candidates = [list(_candidates(turns, weights)) for turns in sessions]
    texts = pl.Series([each.sentence.text for of_session in candidates for each in of_session], dtype=pl.String)
    saliences = iter(pl.select(salience_expr(pl.lit(texts), salience)).to_series().to_list())
    summaries: list[str | None] = []
    for turns, of_session in zip(sessions, candidates, strict=True):
        worths = [
            _worth(each, stands_out, weights)
            for each, stands_out in zip(of_session, islice(saliences, len(of_session)), strict=True)
        ]
        chosen = list(islice(_cover(of_session, worths, _concepts(turns), weights), number))
        summaries.append(_joined(turns, chosen, dated=dated) if chosen else None)
    return summaries


def _joined(turns: Sequence[SpokenTurn], chosen: Sequence[_Candidate], *, dated: bool) -> str:
    said_at = turns[0].said_at if dated else None
    parts = [f"{written_day(said_at)}."] if said_at else []
    speaker = None
    for each in sorted(chosen, key=lambda candidate: candidate.place):
        text = each.sentence.text
        ended = text + ("." if text[-1].isalnum() else "")
        parts.append(ended if each.speaker == speaker else f"{each.speaker}: {ended}")
        speaker = each.speaker
    return " ".join(parts)


def _candidates(turns: Sequence[SpokenTurn], weights: SummaryPolicy) -> Iterator[_Candidate]:
    place = 0
    for number, turn in enumerate(turns):
        for sentence in standalone(spoken_text(turn.text), least_terms=weights.least_terms):
            yield _Candidate(place, turn.speaker, sentence, 1 - number / len(turns))
            place += 1


def _concepts(turns: Sequence[SpokenTurn]) -> dict[str, float]:
    """Return each stem of the session, with its weight by the number of turns that use it."""
    counted = Counter(term for turn in turns for term in set(terms_of(spoken_text(turn.text))))
    return {term: math.log1p(number) for term, number in counted.items()}


def _worth(candidate: _Candidate, salience: float, weights: SummaryPolicy) -> float:
    """Return the factor of a sentence's coverage: above 1 if it is about the speaker, below if it needs a context."""
    sentence = candidate.sentence
    worth = 1 + weights.salience * salience + weights.early * candidate.early
    worth *= 1.0 if sentence.own else weights.general
    return worth * weights.addressed**sentence.addressed * weights.pronoun**sentence.pronouns


def _cover(
    candidates: Sequence[_Candidate], worths: Sequence[float], concepts: dict[str, float], weights: SummaryPolicy
) -> Iterator[_Candidate]:
    """Yield sentences greedily, by the weight of the stems that they add, relative to their length."""
    left = [pair for pair in zip(candidates, worths, strict=True) if len(pair[0].sentence.text) <= weights.longest]
    covered: set[str] = set()
    heard: set[str] = set()

    def gain(pair: tuple[_Candidate, float]) -> tuple[float, int]:
        each, worth = pair
        terms = sorted(each.sentence.terms)
        added = math.fsum(concepts.get(term, 0.0) * (weights.repeated if term in covered else 1.0) for term in terms)
        length = max(len(each.sentence.text), weights.short)
        return worth * added * (weights.heard if each.speaker in heard else 1.0) / length**weights.brevity, -each.place

    least = 0.0
    while left:
        chosen = max(left, key=gain)
        best, (gained, _) = chosen[0], gain(chosen)
        if gained <= least:
            return
        least = least or weights.least_gain * gained
        yield best
        covered |= best.sentence.terms
        heard.add(best.speaker)
        left = [pair for pair in left if _is_new(pair[0].sentence, best.sentence, weights.same)]


def _is_new(sentence: Sentence, other: Sentence, same: float) -> bool:
    return len(sentence.terms & other.terms) <= same * min(len(sentence.terms), len(other.terms))
