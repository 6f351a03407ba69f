"""Sections of a context, and the lines that fit into each (spec D8; Brain 6)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal
from uuid import UUID

from reverie.language.text import CountTokens

SectionName = Literal["system", "profile", "memories", "behavior", "service_data", "tools", "history"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One line of a section (a turn may have several)."""

    text: str
    #: The memory, turn or structured fact that it is made of; None for the caller's own data.
    id: UUID | None = None
    #: Its name if it is dropped: the memory's kind, the path of a field, the name of a tool.
    label: str
    #: Lines with a higher worth go into the section's budget first.
    worth: float = 0.0
    #: Of a line made of several items: their ids.
    made_of: tuple[UUID, ...] = ()

    @property
    def ids(self) -> tuple[UUID, ...]:
        """Ids of the memories, turns, structured facts and scaffold entries that the line is made of."""
        return self.made_of if self.id is None else (self.id, *self.made_of)


@dataclass(frozen=True, kw_only=True, slots=True)
class Dropped:
    """An item that was selected but is not in the context."""

    section: SectionName
    id: UUID | None
    label: str
    #: budget: no room; irrelevant: not about the question; older: summarised with the turns around it, or not among the
    #: turns of working memory.
    reason: Literal["budget", "irrelevant", "older"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """Lines under a heading, with a closing line; without lines, nothing of it appears."""

    head: str = ""
    lines: Sequence[Line] = field(default=())
    foot: str = ""

    def text(self, kept: Iterable[Line]) -> str:
        """Return the text of the block with only the kept lines, in their order."""
        chosen = {id(line) for line in kept}
        told = [line.text for line in self.lines if id(line) in chosen]
        return "\n".join(part for part in (self.head, *told, self.foot) if part) if told else ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Section:
    """One part of the context with its budget."""

    name: SectionName
    budget: int
    tokens: int = 0
    #: Its text in the context; empty if it has no lines.
    text: str = ""
    lines: tuple[Line, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    #: The blocks that it is made of.
    blocks: Sequence[Block] = field(default=(), repr=False)


#: The order in which sections lose lines when the whole is too long; the system text never does.
_GIVING: tuple[SectionName, ...] = ("memories", "service_data", "profile", "tools", "behavior", "history")


def fit(name: SectionName, blocks: Sequence[Block], budget: int, count: CountTokens) -> Section:
    """Return the section with the lines of highest worth that fit, in the order given, and the dropped ones.

    Lines go in by worth, equal ones in their order; one that does not fit leaves its place to the next that does.
    """
    lines = [line for block in blocks for line in block.lines]
    all_of_it = whole(name, blocks, budget, count)
    if all_of_it.tokens <= budget:
        return all_of_it
    sizes = {id(line): count(line.text) for line in lines}
    # less the headings and closing lines of all blocks, needed or not
    left = budget - sum(count(part) for block in blocks for part in (block.head, block.foot) if part)
    kept: list[Line] = []
    for line in sorted(lines, key=lambda line: -line.worth):
        if sizes[id(line)] <= left:
            kept.append(line)
            left -= sizes[id(line)]
    section = _section(name, blocks, kept, budget, count)
    while section.tokens > budget:  # a tokenizer may count more for the whole than for its parts
        kept.pop()
        section = _section(name, blocks, kept, budget, count)
    chosen = {id(line) for line in kept}
    dropped = tuple(
        Dropped(section=name, id=line.id, label=line.label, reason="budget") for line in lines if id(line) not in chosen
    )
    return replace(section, dropped=dropped)


def whole(name: SectionName, blocks: Sequence[Block], budget: int, count: CountTokens) -> Section:
    """Return the section with all of its lines, whether they fit or not."""
    return _section(name, blocks, [line for block in blocks for line in block.lines], budget, count)


def _section(
    name: SectionName, blocks: Sequence[Block], kept: Sequence[Line], budget: int, count: CountTokens
) -> Section:
    chosen = {id(line) for line in kept}
    text = "\n\n".join(told for block in blocks if (told := block.text(kept)))
    lines = tuple(line for block in blocks for line in block.lines if id(line) in chosen)
    tokens = count(text) if text else 0
    return Section(name=name, budget=budget, tokens=tokens, text=text, lines=lines, blocks=blocks)


def trim(sections: Sequence[Section], *, total: int, buffer: int, count: CountTokens) -> tuple[list[Section], str, int]:
    """Return the sections, their text and its tokens: at most `total`, and at most `buffer` of them between sections.

    Each section is within its own budget, and the budgets fit the total together, so only the text that joins sections
    can be too much. Then the lowest memory is dropped, then the next; without memories, other lines (Brain 6).
    """
    kept = list(sections)
    while True:
        text = "\n\n".join(one.text for one in kept if one.text)
        tokens = count(text) if text else 0
        fits = tokens <= total and tokens - sum(one.tokens for one in kept) <= buffer
        giving = [place for name in _GIVING for place, one in enumerate(kept) if one.name == name and one.lines]
        if fits or not giving:
            return kept, text, tokens
        kept[giving[0]] = _without_lowest(kept[giving[0]], count)


def _without_lowest(section: Section, count: CountTokens) -> Section:
    lowest = min(section.lines, key=lambda line: line.worth)
    rest = [line for line in section.lines if line is not lowest]
    gone = Dropped(section=section.name, id=lowest.id, label=lowest.label, reason="budget")
    without = _section(section.name, section.blocks, rest, section.budget, count)
    return replace(without, dropped=(*section.dropped, gone))
