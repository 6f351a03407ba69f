"""Notes for people on a context: anything missing, or done differently than asked (spec D11)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reverie.inference.tokens import Counter
from reverie.recall.candidates import GENERAL, SMALL_TALK
from reverie.recall.contexts.earlier import earlier_notes
from reverie.recall.contexts.material import Material
from reverie.recall.contexts.sections import Section


def context_notes(of: Material, sections: Sequence[Section], counter: Counter) -> tuple[str, ...]:
    """Return the notes on a context with these sections, each once."""
    missing = _missing(of, counter) if of.given.mode == "active" else ()
    lines = [line for one in sections if one.name == "history" for line in one.lines]
    return tuple(dict.fromkeys((*of.notes, *missing, *_left_out(of), *earlier_notes(lines, of.told))))


def _left_out(of: Material) -> Iterator[str]:
    if left_out := sum(one.left_out for one in of.given.history):
        most = of.policy.working_memory.turns
        yield f"The conversation is the window of working memory ({most} turns): it leaves out {left_out:,} turns."


def _missing(of: Material, counter: Counter) -> Iterator[str]:
    """Yield notes on anything missing."""
    form, known, subject = of.policy.context.form, of.profile, of.subject_id
    recalled = of.recalled.notes if of.recalled else ()
    yield from recalled
    if of.staged:
        yield from of.staged.notes
    else:
        if not of.question and of.top_k:
            yield "Nothing was asked: the most important memories are given."
        if not of.top_k:
            yield f"The relationship is {known.relationship.stage}: no memories are given."
        elif not of.memories and GENERAL not in recalled and SMALL_TALK not in recalled:
            yield f"Nothing that is remembered of {subject} fits."
    if not known.facts and form != "logic":
        yield f"Nothing is known of {subject} by key."
    if form == "agent" and known.note:
        yield known.note
    if form == "agent" and not known.is_written:
        yield "No language model wrote a narrative: it is made of structured facts and recent memories."
    if known.conflicts and form != "logic":
        yield f"{len(known.conflicts):,} values contradict what holds of {subject}: the profile lists them."
    if form == "contact" and not of.given.mood:
        yield "No mood is known: the emotional context is left out."
    if counter.note:
        yield counter.note
