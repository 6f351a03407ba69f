"""Chooses the sentences of a turn that are kept verbatim, as an episode and as plain facts.

Sentences that tell of an event make the turn's episode. Each other sentence in which an author tells something, and no
rule found a statement, is a fact of its own, if it is worth keeping.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

import polars as pl

from reverie.language.cues import wording
from reverie.language.cues.attribution import veil, veil_expr
from reverie.language.cues.compiled import Rules
from reverie.language.cues.routing import route_turn
from reverie.language.cues.telling import Telling, passes, tellings_frame, tellings_one
from reverie.language.cues.worth import worth
from reverie.language.text import CountTokens, Span, chunk, without_sentences
from reverie.model import Kind
from reverie.policy import Policy

#: Origin of a plain fact; that of an episode is `turn`.
PLAIN: Final = "plain"
#: Origin of a statement that is kept in the words of the message.
OWN_WORDS: Final = "said"
#: Origin of the rest of a statement that was ended in part.
REST: Final = "rest"
#: Places of episodes and tool calls in their turn; the place of a statement is that of its first character.
EPISODES_FROM, TOOL_CALLS_FROM = 1_000_000, 2_000_000
#: Longer texts become several memories; shorter ones cannot fill a chunk, so the tokenizer is not asked.
SHORT_CHARACTERS = 500
#: The mark for text that was left out between two sentences.
_GAP: Final = " … "


class Kept(NamedTuple):
    """A part of a turn that is kept verbatim."""

    place: int
    kind: Kind
    content: str
    origin: str


def kept_one(text: str, stated: Sequence[Span], rules: Rules) -> list[Kept]:
    """Return the parts of a turn to keep verbatim, given the spans in which rules found statements."""
    tellings = tellings_one(wording.plain(veil(text)), rules.event) if _reads_tellings(rules) else []
    return _kept(text, _worthy(tellings, {0: stated}, rules), stated, rules)


def kept_frame(texts: pl.Series, stated: Mapping[int, Sequence[Span]], rules: Rules) -> list[tuple[int, Kept]]:
    """Return `kept_one` for a column of turns, each with its row; `stated` is by row."""
    veiled = pl.DataFrame({"text": texts}).select(wording.plain_expr(veil_expr(pl.col("text")))).to_series()
    tellings = tellings_frame(veiled, rules.event) if _reads_tellings(rules) else []
    by_row: dict[int, list[Telling]] = {}
    for telling in _worthy(tellings, stated, rules):
        by_row.setdefault(telling.row, []).append(telling)
    said = texts.to_list()
    rows = range(len(said)) if rules.extract.episodes == "all" else by_row
    return [(row, part) for row in rows for part in _kept(said[row], by_row.get(row, []), stated.get(row, ()), rules)]


def pieces(part: Kept, policy: Policy, count_tokens: CountTokens) -> list[Kept]:
    """Return a part as it is, or a long one in several, each text once; episodes that state a fact may be facts."""
    texts = [part.content]
    if len(part.content) > SHORT_CHARACTERS:
        numbers = policy.chunk
        texts = chunk(part.content, count_tokens, min_tokens=numbers.min_tokens, max_tokens=numbers.max_tokens)
    routed = part.kind == "episode" and policy.extract.episode_facts
    kinds = [route_turn(text, policy.salience) if routed else part.kind for text in texts]
    found: dict[str, Kept] = {}
    for number, (text, kind) in enumerate(zip(texts, kinds, strict=True)):
        found.setdefault(text, part._replace(place=part.place + number, content=text, kind=kind))
    return list(found.values())


def _reads_tellings(rules: Rules) -> bool:
    return rules.extract.episodes == "eventful" or rules.extract.worth.keep <= 1.0


def _worthy(tellings: Sequence[Telling], stated: Mapping[int, Sequence[Span]], rules: Rules) -> list[Telling]:
    """Return the tellings that are kept: eventful ones, and others in which no rule found a statement."""
    numbers = rules.extract.worth
    asked = [
        telling
        for telling in tellings
        if (telling.eventful and rules.extract.episodes == "eventful")
        or (not telling.eventful and not _overlaps(telling, stated.get(telling.row, ())) and not passes(telling))
    ]
    worths = worth().probabilities([telling.text for telling in asked]).tolist() if asked else []
    return [
        telling
        for telling, probability in zip(asked, worths, strict=True)
        if probability >= (numbers.episode if telling.eventful else numbers.keep)
    ]


def _kept(text: str, worthy: Sequence[Telling], stated: Sequence[Span], rules: Rules) -> list[Kept]:
    plain = [telling for telling in worthy if not telling.eventful]
    found = [Kept(telling.start, "fact", _sentence(text, telling), PLAIN) for telling in plain]
    eventful = [telling for telling in worthy if telling.eventful]
    if rules.extract.episodes == "all":
        # if each chunk has one kind, a sentence that is a preference is not an episode too
        rest = without_sentences(text, stated) if rules.extract.episode_facts and stated else text
        found += [Kept(EPISODES_FROM, "episode", rest, "turn")] if rest else []
    elif eventful:
        found.append(Kept(EPISODES_FROM, "episode", _joined(text, eventful), "turn"))
    return found


def _overlaps(telling: Telling, spans: Sequence[Span]) -> bool:
    return any(start < telling.end and telling.start < end for start, end in spans)


def _sentence(text: str, telling: Telling) -> str:
    said = text[telling.start : telling.end]
    return said[:1].upper() + said[1:]


def _joined(text: str, tellings: Sequence[Telling]) -> str:
    """Return the sentences as one text, with a mark where something between them was left out."""
    parts = [_sentence(text, tellings[0])]
    for before, telling in pairwise(tellings):
        gap = " " if not text[before.end : telling.start].strip() else _GAP
        parts += [gap, text[telling.start : telling.end]]
    return "".join(parts)
