"""Extractive summary of a session: two or three of its own sentences, without a language model.

It takes the sentences closest to the session's centre, and richest in names and numbers, in the order of the turns.
A language model that writes the summary takes the same turns and gives the same kind of text.
Source: docs/design-sources.md, Logic 3.2.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

import polars as pl

from reverie.language.cues.salience import salience_expr
from reverie.language.text import sentences, written_day
from reverie.policy import SaliencePolicy

#: Fewer words say nothing on their own.
_LEAST_WORDS = 4
#: Longest sentence in characters; longer ones are lists or code.
_LONGEST = 240
#: Share of words from which on two sentences say the same.
_SAME = 0.5

_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_TERM = re.compile(r"[^\W\d_]{4,}|\d+(?:[.,:]\d+)*")


@dataclass(frozen=True, kw_only=True, slots=True)
class SpokenTurn:
    """A turn as the summary reads it."""

    speaker: str
    text: str
    #: Dates the summary, if the first turn has it.
    said_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class _SentenceCandidate:
    place: int
    speaker: str
    sentence: str
    terms: frozenset[str]
    weights: dict[str, float]


def summarise(turns: Sequence[SpokenTurn], *, number: int, numbers: SaliencePolicy) -> str:
    """Return at most `number` sentences of the session, dated if its first turn is, with their speakers, as one text.

    `turns` are in order, at least one; `numbers` weigh names, numbers and dates. The summary of a session without a
    sentence states its number of turns.
    """
    return summarise_all([turns], number=number, numbers=numbers)[0]


def summarise_all(sessions: Sequence[Sequence[SpokenTurn]], *, number: int, numbers: SaliencePolicy) -> list[str]:
    """Return `summarise` of each session; the sentences of all are weighed in one pass."""
    candidates = [list(_candidates(turns)) for turns in sessions]
    texts = pl.Series([each.sentence for of_session in candidates for each in of_session], dtype=pl.String)
    weights = iter(pl.select(salience_expr(pl.lit(texts), numbers)).to_series().to_list())
    chosen = [_choose(of_session, list(islice(weights, len(of_session))), number) for of_session in candidates]
    return [_joined(turns, of_session) for turns, of_session in zip(sessions, chosen, strict=True)]


def _joined(turns: Sequence[SpokenTurn], chosen: Sequence[_SentenceCandidate]) -> str:
    said_at = turns[0].said_at
    date = written_day(said_at) if said_at else ""
    if not chosen:
        return f"{date}{': ' if date else ''}{len(turns)} turns without a sentence."
    parts: list[str] = []
    speaker = None
    for each in sorted(chosen, key=lambda candidate: candidate.place):
        ended = each.sentence + ("." if each.sentence[-1].isalnum() else "")
        parts.append(ended if each.speaker == speaker else f"{each.speaker}: {ended}")
        speaker = each.speaker
    return f"{date}{'. ' if date else ''}{' '.join(parts)}"


def _candidates(turns: Sequence[SpokenTurn]) -> Iterator[_SentenceCandidate]:
    """Sentences that may be in the summary; questions only where there is nothing else."""
    spoken = [(turn.speaker, part) for turn in turns for part in sentences(_FENCE.sub(" ", turn.text))]
    statements = [(speaker, part) for speaker, part in spoken if not part.rstrip("\"')]").endswith("?")]
    parts = [(speaker, _shortened(part)) for speaker, part in statements or spoken if len(part.split()) >= _LEAST_WORDS]
    terms = [Counter(_TERM.findall(part.lower())) for _, part in parts or spoken]
    document_frequency = Counter(term for counted in terms for term in counted)
    for place, ((speaker, part), counted) in enumerate(zip(parts or spoken, terms, strict=True)):
        weights = {term: times * math.log(1 + len(terms) / document_frequency[term]) for term, times in counted.items()}
        length = math.sqrt(math.fsum(weight * weight for weight in weights.values()))
        unit = {term: weight / length for term, weight in weights.items()}
        yield _SentenceCandidate(place, speaker, part, frozenset(counted), unit)


def _choose(candidates: list[_SentenceCandidate], saliences: list[float], number: int) -> list[_SentenceCandidate]:
    centre: dict[str, float] = {}
    for each in candidates:
        for term, weight in each.weights.items():
            centre[term] = centre.get(term, 0.0) + weight
    length = math.sqrt(math.fsum(weight * weight for weight in centre.values())) or 1.0

    worth = {
        each.place: math.fsum(weight * centre[term] for term, weight in each.weights.items()) / length + salience
        for each, salience in zip(candidates, saliences, strict=True)
    }
    chosen: list[_SentenceCandidate] = []
    for each in sorted(candidates, key=lambda candidate: (-worth[candidate.place], candidate.place)):
        if all(len(each.terms & other.terms) <= _SAME * len(each.terms | other.terms) for other in chosen):
            chosen.append(each)
        if len(chosen) == number:
            break
    return chosen


def _shortened(sentence: str) -> str:
    line = " ".join(sentence.split())
    if len(line) <= _LONGEST:
        return line
    return f"{line[:_LONGEST].rsplit(' ', 1)[0]} …"
