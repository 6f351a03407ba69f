"""Puts hits first that state the relation a question asks for: "what is my job?" asks for what somebody works as.

"What do you know about me?" asks for all that lasts.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from uuid import UUID

from reverie.language.objects import read_object
from reverie.language.pack import language_table
from reverie.language.text import strip_invisible
from reverie.policy import RecallPolicy
from reverie.recall.query import RecallQuery
from reverie.recall.question import ParsedQuestion
from reverie.recall.result import Hit
from reverie.recall.search import horizon
from reverie.store.queries import queries
from reverie.store.session import Statement, TenantSession

_PACK = language_table("asked")

#: "How should I answer her?" asks for a rule of hers, though it asks for advice.
_ASKING = frozenset(("question", "request"))
#: "My sister", and a name within a question: such a question is about them and not about the subject.
_OF_SOMEBODY = _PACK.pattern("of_somebody", re.IGNORECASE)
_NAME = re.compile(r"(?:(?<=[^\W\d_A-Z] )|(?<=, ))(?!I\b)[^\W\d_][\w-]+")

#: Lasting memories that are read where all of somebody's are asked for, as those of others are left out.
_MOST = 200
#: Characters at each end of a question in which a relation is looked for. The time of some patterns grows with the
#: square of the length, and the server answers nobody meanwhile.
_LOOKED_AT = 1_000


def asked_relations(question: ParsedQuestion, numbers: RecallPolicy) -> frozenset[str] | None:
    """Return the relations that a question about the present asks for; None: all that last."""
    if question.kind not in _ASKING or question.asks_former:
        return frozenset()
    text = question.text
    if len(text) > 2 * _LOOKED_AT:
        text = f"{text[:_LOOKED_AT]}\n{text[-_LOOKED_AT:]}"
    if re.search(numbers.asks_everything, text):
        return None
    return frozenset(name for name, pattern in numbers.asked.items() if re.search(pattern, text))


async def read_asked(
    session: TenantSession,
    query: RecallQuery,
    relations: Collection[str] | None,
    *,
    question: ParsedQuestion,
    numbers: RecallPolicy,
) -> tuple[list[Hit], dict[UUID, UUID]]:
    """Return memories in force that state what a question asks, about the person it asks about, latest first.

    Without `relations`, those that last, the most important first. Also, by memory, the turn that may have ended it.
    """
    if relations is not None and not relations:
        return [], {}
    params = {
        "tenant": session.tenant_id,
        "subject": query.subject_id,
        "relations": None if relations is None else list(relations),
        "speakers": list(question.mentioned) or None,
        "min_importance": numbers.min_importance,
        "as_of": query.as_of,
        "horizon": horizon(query.as_of),
        "limit": numbers.top_k if relations is not None else _MOST,
    }
    rows = await session.run(Statement(queries("places")["stating"], params))
    others = _others(question, query.subject_id, numbers.people)
    hits: list[Hit] = []
    doubted_by: dict[UUID, UUID] = {}
    for who, id_, kind, content, happened_at, turn_id, session_id, importance, by in rows:
        if not others <= frozenset(read_object(f"{who or ''} {content}").words) or (who and not others):
            continue
        words = strip_invisible(content)
        hits.append(Hit("memory", id_, kind, words, happened_at, 0.0, {}, {}, turn_id, session_id, importance))
        if by is not None:
            doubted_by[id_] = by
    return hits[: numbers.top_k], doubted_by


def _others(question: ParsedQuestion, subject_id: str, people: Collection[str]) -> frozenset[str]:
    """Return the people and names of a question besides the subject; an answer must have them too."""
    said = question.text.rstrip("?!. ")
    own = {word for name in (*question.speakers, subject_id) for word in read_object(name).words}
    named = {word for name in _NAME.findall(said) if not name[0].islower() for word in read_object(name).words}
    kin = {
        word
        for found in _OF_SOMEBODY.finditer(said)
        if found[1].lower() in people
        for word in read_object(found[1]).words
    }
    return frozenset((named - own) | kin)


def asked_first(ranked: Sequence[Hit], stated: Sequence[Hit], *, may_add: bool) -> list[Hit]:
    """Return ranked hits, those first that state what is asked for: the memory, or the turn it was made of.

    With `may_add`, a memory that was not found is added. Each of them has at least the score of the best.
    """
    if not stated:
        return list(ranked)
    best = max((hit.score for hit in ranked), default=0.0)
    places = {key: place for place, hit in enumerate(stated) for key in (hit.id, hit.turn_id) if key}
    found = [hit for hit in ranked if hit.id in places or (hit.turn_id and hit.turn_id in places)]
    there = {key for hit in found for key in (hit.id, hit.turn_id) if key}
    if may_add:
        found += [hit for hit in stated if hit.id not in there and hit.turn_id not in there]
    found.sort(key=lambda hit: min(places[key] for key in (hit.id, hit.turn_id) if key in places))
    first = {hit.id for hit in found}
    raised = [hit._replace(score=max(hit.score, best)) for hit in found]
    return [*raised, *(hit for hit in ranked if hit.id not in first)]
