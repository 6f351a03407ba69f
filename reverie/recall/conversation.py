"""The conversation so far within its budget: older turns summarised, the last ones word for word (spec D8; Brain 6)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from reverie.policy import Policy
from reverie.recall.given import Message
from reverie.recall.profile import one_line
from reverie.recall.sections import Block, CountTokens, Dropped, Line, Section, whole

#: Before lines of a turn that are not its first: none of them can look like a heading or another's turn.
_INDENT = "    "


def history_section(
    messages: Sequence[Message],
    head: str,
    *,
    policy: Policy,
    count: CountTokens,
    role_name: Callable[[str], str],
    escape: Callable[[str], str],
) -> Section:
    """Return the conversation; beyond the budget older turns become a summary and the last ones stay verbatim.

    When even these do not fit, the summary goes first, then the oldest of them; a last turn that is longer than the
    budget is cut at its end. Each turn that is not there as it was said is named.
    """
    numbers = policy.context
    lines = [
        Line(
            text=f"{role_name(one_line(one.role))}: {verbatim(escape(one.content))}",
            label=f"turn {place}",
            worth=float(place),
        )
        for place, one in enumerate(messages, start=1)
    ]
    section = _whole(head, lines, numbers.history, count)
    if section.tokens <= numbers.history:
        return section
    older, last = lines[: -numbers.keep_verbatim], lines[-numbers.keep_verbatim :]
    dropped = tuple(Dropped(section="history", id=None, label=line.label, reason="older") for line in older)
    if older:
        told = one_line(escape(_gist(messages[: len(older)], policy)))
        summary = Line(text=f"(earlier) {told}", label="summary of older turns")
        section = _whole(head, [summary, *last], numbers.history, count)
        if section.tokens <= numbers.history:
            return replace(section, dropped=dropped)
    for first in range(len(last)):
        section = _whole(head, last[first:], numbers.history, count)
        if section.tokens <= numbers.history:
            gone = tuple(
                Dropped(section="history", id=None, label=line.label, reason="budget") for line in last[:first]
            )
            return replace(section, dropped=dropped + gone)
    cut = _cut(last[-1], head, numbers.history, count)
    gone = tuple(Dropped(section="history", id=None, label=line.label, reason="budget") for line in last)
    return replace(cut, dropped=dropped + gone)


def verbatim(text: str) -> str:
    """Return a text whose further lines are indented, so that what a person typed cannot pose as a part of the form."""
    return f"\n{_INDENT}".join(text.splitlines())


def _whole(head: str, lines: Sequence[Line], budget: int, count: CountTokens) -> Section:
    return whole("history", [Block(head=head, lines=lines)], budget, count)


def _gist(messages: Sequence[Message], policy: Policy) -> str:
    """Extractive sentences of older turns."""
    # the rules bring polars, for which a short conversation has no use
    from reverie.cues.summarise import Line as Said
    from reverie.cues.summarise import summarise

    lines = [Said(speaker=one.role.capitalize(), text=one.content) for one in messages]
    return summarise(lines, number=policy.context.summary_sentences, numbers=policy.salience)


def _cut(line: Line, head: str, budget: int, count: CountTokens) -> Section:
    """The longest beginning of a turn that fits, by halving."""
    low, high = 0, len(line.text)
    best = Section(name="history", budget=budget)
    while low < high:
        middle = (low + high + 1) // 2
        shortened = replace(line, text=f"{line.text[:middle]}…")
        section = _whole(head, [shortened], budget, count)
        if section.tokens > budget:
            high = middle - 1
        else:
            best, low = section, middle
    return best
