"""The conversation so far within its budget: older turns summarised, the last ones word for word (spec D8; Brain 6)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from reverie.language.text import CountTokens, one_line, plain_name, strip_invisible
from reverie.policy import Policy
from reverie.recall.contexts.earlier import TurnSummary
from reverie.recall.contexts.request import Message
from reverie.recall.contexts.sections import Block, Dropped, Line, Section, whole

#: Before further lines of a turn, so that none of them can look like a heading or another turn.
_INDENT = "    "


def history_section(
    messages: Sequence[Message],
    head: str,
    *,
    policy: Policy,
    count: CountTokens,
    role_name: Callable[[str], str],
    escape: Callable[[str], str],
    told: Sequence[TurnSummary] = (),
) -> Section:
    """Return the conversation; beyond the budget, older turns become a summary and the last ones stay verbatim.

    Summaries of turns before the conversation come first. A summary in `told` replaces the older turns that it covers;
    some of their own sentences replace the others. If even these do not fit, the oldest summaries are dropped first,
    then the oldest turns; a last turn longer than the budget is cut at its end. Each turn that is not given verbatim is
    listed as dropped, as are turns that the conversation leaves out; a line in their place says how many.
    """
    numbers = policy.context
    left_out = _left_out(messages)
    lines = [
        Line(
            text=f"{_gap(one)}{_author(one, role_name)}: {verbatim(escape(one.content))}",
            label=f"turn {place}",
            worth=float(place),
        )
        for place, one in enumerate(messages, start=1)
    ]
    earlier = [one.line(escape) for one in told if one.earlier]
    section = _whole(head, [*earlier, *lines], numbers.history, count)
    if section.tokens <= numbers.history:
        return replace(section, dropped=left_out)
    older, last = lines[: -numbers.keep_verbatim], lines[-numbers.keep_verbatim :]
    dropped = left_out + tuple(Dropped(section="history", id=None, label=one.label, reason="older") for one in older)
    summaries = list(_summaries(messages[: len(older)], told, policy, escape))
    for place in range(len(summaries)):
        section = _whole(head, [*summaries[place:], *last], numbers.history, count)
        if section.tokens <= numbers.history:
            return replace(section, dropped=dropped + _unfit(summaries[:place]))
    dropped += _unfit(one for one in summaries if one.ids)
    for first in range(len(last)):
        section = _whole(head, last[first:], numbers.history, count)
        if section.tokens <= numbers.history:
            return replace(section, dropped=dropped + _unfit(last[:first]))
    if not last:
        return Section(name="history", budget=numbers.history, dropped=dropped)
    cut = _cut(last[-1], head, numbers.history, count)
    return replace(cut, dropped=dropped + _unfit(last))


def verbatim(text: str) -> str:
    """Return a text with its further lines indented, so that a person's text cannot pose as a part of the form."""
    return f"\n{_INDENT}".join(strip_invisible(text).splitlines())


def _left_out(messages: Sequence[Message]) -> tuple[Dropped, ...]:
    return tuple(
        Dropped(section="history", id=None, label=f"{one.left_out} turns before turn {place}", reason="older")
        for place, one in enumerate(messages, start=1)
        if one.left_out
    )


def _gap(message: Message) -> str:
    return f"({message.left_out} earlier turns left out)\n" if message.left_out else ""


def _author(message: Message, role_name: Callable[[str], str] = str.capitalize) -> str:
    """Return the role of a message, and the name of its speaker: "User (Priya)"."""
    role = role_name(one_line(message.role))
    return f"{role} ({plain_name(message.speaker)})" if message.speaker else role


def _whole(head: str, lines: Sequence[Line], budget: int, count: CountTokens) -> Section:
    return whole("history", [Block(head=head, lines=lines)], budget, count)


def _summaries(
    older: Sequence[Message], told: Sequence[TurnSummary], policy: Policy, escape: Callable[[str], str]
) -> Iterator[Line]:
    """Yield the summaries of the turns, and one of the turns that they do not cover."""
    said = {one.content.strip() for one in older}
    known: set[str] = set()
    for one in told:
        if one.earlier or one.texts & said:
            known |= one.texts
            yield one.line(escape)
    untold = [one for one in older if one.content.strip() not in known]
    if untold and (gist := _gist(untold, policy)):
        yield Line(text=f"(earlier) {one_line(escape(gist))}", label="summary of older turns")


def _unfit(lines: Iterable[Line]) -> tuple[Dropped, ...]:
    return tuple(Dropped(section="history", id=line.id, label=line.label, reason="budget") for line in lines)


def _gist(messages: Sequence[Message], policy: Policy) -> str | None:
    """Return extracted sentences of older turns; None if none is worth it."""
    # the rules import polars, which a short conversation does not need
    from reverie.language.cues.summarise import SpokenTurn, summarise

    lines = [SpokenTurn(speaker=_author(one), text=one.content) for one in messages]
    return summarise(
        lines, number=policy.context.summary_sentences, weights=policy.compress.summary, salience=policy.salience
    )


def _cut(line: Line, head: str, budget: int, count: CountTokens) -> Section:
    """Return the longest beginning of a turn that fits, by bisection."""
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
