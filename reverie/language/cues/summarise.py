"""A session in two or three of its own sentences (Logic 3.2), without a language model.

The sentences closest to what the session was about, and richest in names and numbers, in the order in which they were
said. A language model that writes the summary takes the same turns and gives the same kind of text.
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
from reverie.language.text import sentences
from reverie.policy import SaliencePolicy

#: Fewer words tell nothing on their own.
_LEAST_WORDS = 4
#: Where a sentence is cut; longer ones are lists or code.
_LONGEST = 240
#: Two sentences that share this part of their words say the same.
_SAME = 0.5

_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_TERM = re.compile(r"[^\W\d_]{4,}|\d+(?:[.,:]\d+)*")


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One turn as the summary reads it."""

    speaker: str
    text: str
    #: Only a summary with its date reads it.
    said_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class _Candidate:
    place: int
    speaker: str
    sentence: str
    terms: frozenset[str]
    weights: dict[str, float]


def summarise(lines: Sequence[Line], *, number: int, numbers: SaliencePolicy) -> str:
    """Return at most `number` sentences of the session, dated if its first line is, with their speakers, as one text.

    `lines` are the session's turns in order, at least one; `numbers` weigh what stands out: names, numbers, dates.
    A session without a sentence is summed up by its size.
    """
    return summarise_all([lines], number=number, numbers=numbers)[0]


def summarise_all(sessions: Sequence[Sequence[Line]], *, number: int, numbers: SaliencePolicy) -> list[str]:
    """`summarise` for each of many sessions, whose sentences are weighed in one pass."""
    candidates = [list(_candidates(lines)) for lines in sessions]
    said = pl.Series([one.sentence for of_session in candidates for one in of_session], dtype=pl.String)
    weights = iter(pl.select(salience_expr(pl.lit(said), numbers)).to_series().to_list())
    chosen = [_choose(of_session, list(islice(weights, len(of_session))), number) for of_session in candidates]
    return [_told(lines, of_session) for lines, of_session in zip(sessions, chosen, strict=True)]


def _told(lines: Sequence[Line], chosen: Sequence[_Candidate]) -> str:
    said_at = lines[0].said_at
    date = f"{said_at.day} {said_at:%B %Y}" if said_at else ""
    if not chosen:
        return f"{date}{': ' if date else ''}{len(lines)} turns without a sentence."
    said: list[str] = []
    speaker = None
    for one in sorted(chosen, key=lambda candidate: candidate.place):
        ended = one.sentence + ("." if one.sentence[-1].isalnum() else "")
        said.append(ended if one.speaker == speaker else f"{one.speaker}: {ended}")
        speaker = one.speaker
    return f"{date}{'. ' if date else ''}{' '.join(said)}"


def _candidates(lines: Sequence[Line]) -> Iterator[_Candidate]:
    """Sentences that may stand in the summary; questions only when nothing else was said."""
    spoken = [(line.speaker, part) for line in lines for part in sentences(_FENCE.sub(" ", line.text))]
    telling = [(speaker, part) for speaker, part in spoken if not part.rstrip("\"')]").endswith("?")]
    parts = [(speaker, _cut(part)) for speaker, part in telling or spoken if len(part.split()) >= _LEAST_WORDS]
    terms = [Counter(_TERM.findall(part.lower())) for _, part in parts or spoken]
    document_frequency = Counter(term for counted in terms for term in counted)
    for place, ((speaker, part), counted) in enumerate(zip(parts or spoken, terms, strict=True)):
        weights = {term: times * math.log(1 + len(terms) / document_frequency[term]) for term, times in counted.items()}
        length = math.sqrt(math.fsum(weight * weight for weight in weights.values()))
        unit = {term: weight / length for term, weight in weights.items()}
        yield _Candidate(place, speaker, part, frozenset(counted), unit)


def _choose(candidates: list[_Candidate], saliences: list[float], number: int) -> list[_Candidate]:
    centre: dict[str, float] = {}
    for one in candidates:
        for term, weight in one.weights.items():
            centre[term] = centre.get(term, 0.0) + weight
    length = math.sqrt(math.fsum(weight * weight for weight in centre.values())) or 1.0

    worth = {
        one.place: math.fsum(weight * centre[term] for term, weight in one.weights.items()) / length + salience
        for one, salience in zip(candidates, saliences, strict=True)
    }
    chosen: list[_Candidate] = []
    for one in sorted(candidates, key=lambda candidate: (-worth[candidate.place], candidate.place)):
        if all(len(one.terms & other.terms) <= _SAME * len(one.terms | other.terms) for other in chosen):
            chosen.append(one)
        if len(chosen) == number:
            break
    return chosen


def _cut(sentence: str) -> str:
    flat = " ".join(sentence.split())
    if len(flat) <= _LONGEST:
        return flat
    return f"{flat[:_LONGEST].rsplit(' ', 1)[0]} …"
