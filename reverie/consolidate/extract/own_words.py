"""Statements that keep the words of the message, each text once; pure.

The reader is nearly always right that a message states something, but often wrong in a part of the statement: the topic
of a figure, the role of a name. If it is not sure of all of it (`[extract.reader] whole`), the memory keeps the words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from reverie.language.cues.keeping import OWN_WORDS
from reverie.language.objects import read_object
from reverie.language.statements.stated import MessageStatement
from reverie.model import Candidate


def each_told_once(statements: Mapping[int, MessageStatement]) -> dict[int, MessageStatement]:
    """Return the statements of a message by their places, without own words that another memory of it would repeat.

    Own words are left out if a statement without them names their object, in whatever part. Of own words that contain
    one another, the most certain statement stays, with the longest words.
    """
    kept = {place: each for place, each in statements.items() if each.own_words is None}
    named = [_words(each.object, each.topic, each.holder) for each in kept.values()]
    own = [(place, each) for place, each in statements.items() if each.own_words is not None]
    for place, each in sorted(own, key=lambda one: -one[1].confidence):
        if any(_words(each.object) <= words for words in named):
            continue
        at = next((at for at, other in kept.items() if _overlap(each, other)), None)
        if at is None:
            kept[place] = each
        else:
            longest = max((kept[at].own_words or "", each.own_words or ""), key=len)
            kept[at] = replace(kept[at], own_words=longest, fades=kept[at].fades and each.fades)
    return dict(sorted(kept.items()))


def without_episodes_told(found: pl.DataFrame, stated: Mapping[str, Sequence[Candidate]]) -> pl.DataFrame:
    """Return the patterns' candidates (`turn_id`, `kind`, `content`) without episodes that own words of a turn contain.

    `stated`: candidates of the reader, by turn.
    """
    told = {
        turn_id: [each.content.lower() for each in candidates if each.origin == OWN_WORDS]
        for turn_id, candidates in stated.items()
    }
    is_told = [
        kind == "episode" and any(content.lower() in words for words in told.get(turn_id, ()))
        for turn_id, kind, content in found["turn_id", "kind", "content"].iter_rows()
    ]
    return found.filter(~pl.Series(is_told, dtype=pl.Boolean))


def _overlap(one: MessageStatement, other: MessageStatement) -> bool:
    first, second = one.own_words, other.own_words
    return first is not None and second is not None and (first in second or second in first)


def _words(*spans: str | None) -> frozenset[str]:
    return frozenset(word for span in spans if span for word in read_object(span).words)
