"""The lines of a profile in a context: what holds for the subject, and what happened lately."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from reverie.language.text import one_line
from reverie.recall.contexts.sections import Line
from reverie.recall.facts import StructuredFact
from reverie.recall.profile import Profile, ProfileStatement, with_day
from reverie.recall.result import in_doubt
from reverie.recall.staged import fact_line

#: Tells a fact on one line.
FactTeller = Callable[[StructuredFact], str]


def profile_lines(known: Profile, learned: Sequence[Line] = (), told: FactTeller = fact_line) -> list[Line]:
    """Return the lines of a profile: facts, preferences, other statements, entries, `learned`, recent events.

    Facts and entries are worth most, then statements by their importance; events go in where there is room.
    """
    entries = [
        Line(text=f"- {one_line(one.text)}", id=one.id, label="scaffold", worth=1 + one.confidence / 2)
        for one in known.active
        if not one.connection_id
    ]
    recent = [
        Line(
            text=f"- {with_day(one.kind, one.content, known.zones.local(one.happened_at))}",
            id=one.id,
            label=one.kind,
            worth=-float(place),
            made_of=one.same_ids,
        )
        for place, one in enumerate(known.recent)
    ]
    preferences = [_statement_line(one, one_line(one.content)) for one in known.preferences]
    # in somebody's own words "Monday" may stand, so the day on which they were said belongs to them
    statements = [
        _statement_line(one, with_day(one.kind, one.content, known.zones.local(one.happened_at)))
        for one in known.statements
    ]
    return [*_fact_lines(known.facts, told), *preferences, *statements, *entries, *learned, *recent]


def in_words(fact: StructuredFact) -> str:
    """Return a fact as a line in the words of its memory: "- Nomvula's birthday is 6 March"."""
    return f"- {fact.in_words}"


def _statement_line(one: ProfileStatement, told: str) -> Line:
    return Line(text=f"- {in_doubt(told, one.doubted_at, one.doubt)}", id=one.id, label=one.kind, worth=one.importance)


def _fact_lines(facts: Sequence[StructuredFact], told: FactTeller) -> list[Line]:
    """Return a line for each wording, as one memory may state several facts."""
    by_text: dict[str, list[StructuredFact]] = {}
    for one in facts:
        by_text.setdefault(told(one), []).append(one)
    return [
        Line(
            text=text,
            id=first.id,
            label=first.name,
            worth=1 + first.importance,
            made_of=tuple(one.id for one in others),
        )
        for text, (first, *others) in by_text.items()
    ]
