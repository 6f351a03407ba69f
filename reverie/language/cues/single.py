"""Applies the rule table to one turn with Python's re. This is the engine of the immediate tier."""

import re
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from reverie.language.cues import wording
from reverie.language.cues.attribution import unveil, veil
from reverie.language.cues.compiled import Compiled, Rules
from reverie.policy.extract import FactCategory, RuleKind


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleMatch:
    """A statement of a turn's author that a rule matches."""

    rule: str
    kind: RuleKind
    #: the memory in the third person
    content: str
    #: the captured words, verbatim
    value: str
    #: +1 liked, -1 disliked, 0 neither
    polarity: Literal[-1, 0, 1]
    #: typed id such as `pet:bruno`
    entity: str | None
    #: initial importance, 0 to 1
    importance: float
    #: the structured fact that the match also states
    category: FactCategory | None
    key: str | None
    #: whether the clause marks a change ("no longer", "actually")
    corrects: bool
    #: character offsets of the clause in the turn's text
    start: int
    end: int


def extract_one(text: str, rules: Rules) -> list[RuleMatch]:
    """Return the statements of a turn's author, in the order of the text and then of the table.

    The result equals that of `extract_frame` for a frame with this row only.
    """
    marked = wording.marked(veil(text))
    tries: dict[int, set[int]] = {}
    number = 0
    for cue in rules.longest_cue.finditer(marked.lower()):
        if cue[1] == wording.SEPARATOR:
            number += 1
        else:
            tries.setdefault(number, set()).update(rules.by_longest[cue[1]])
    if not tries:
        return []
    clauses = marked.split(wording.SEPARATOR)
    starts = list(accumulate(map(len, clauses), initial=0))
    matches = (_first_match(clauses[number], starts[number], orders, rules) for number, orders in tries.items())
    return [match for match in matches if match]


def _first_match(clause: str, start: int, orders: set[int], rules: Rules) -> RuleMatch | None:
    """The match of the first rule that fits the clause."""
    if rules.guard and rules.guard.python.search(clause):
        return None
    question = clause.rstrip(wording.CLOSERS).endswith("?")
    for order in sorted(orders):
        compiled = rules.compiled[order]
        if question and not compiled.rule.question:
            continue
        found = compiled.pattern.search(clause)
        if found and (match := _match(compiled, found, clause, start, rules)):
            return match
    return None


def _match(compiled: Compiled, found: re.Match[str], clause: str, start: int, rules: Rules) -> RuleMatch | None:
    rule = compiled.rule
    groups = {name: wording.value(captured or "") for name, captured in found.groupdict().items()}
    if not all(groups.values()) or (rules.empty and any(map(rules.empty.python.search, groups.values()))):
        return None
    content = unveil(wording.third_person(rule.template.format_map(groups)))
    groups = {name: unveil(captured) for name, captured in groups.items()}
    lead = len(clause) - len(clause.lstrip(wording.EDGES))
    return RuleMatch(
        rule=rule.name,
        kind=rule.kind,
        content=content[:1].upper() + content[1:],
        value=groups["x"],
        polarity=rule.polarity,
        entity=_typed_id(rule.entity, groups) if rule.entity else None,
        importance=compiled.importance,
        category=rule.category,
        key=rule.key,
        corrects=bool(rules.corrects and rules.corrects.python.search(clause)),
        start=start + lead,
        end=start + len(clause.rstrip(" \n")),
    )


def _typed_id(template: str, groups: dict[str, str]) -> str | None:
    """The typed id of a match's entity; None if its slug is empty."""
    typed = template.format_map({name: wording.name_slug(text) for name, text in groups.items()})
    return None if typed.endswith(":") else typed
