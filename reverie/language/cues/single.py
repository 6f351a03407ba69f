"""The rule table over one turn, with Python's re: the engine of the immediate tier."""

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
    """Something a turn states, found by a rule."""

    rule: str
    kind: RuleKind
    #: the memory in the third person
    content: str
    #: what the rule captured, as said
    value: str
    #: +1 liked, -1 disliked, 0 neither
    polarity: Literal[-1, 0, 1]
    #: typed id such as `pet:bruno`
    entity: str | None
    #: initial importance, 0 to 1
    importance: float
    #: structured fact that the value also is
    category: FactCategory | None
    key: str | None
    #: whether the clause says that something changed ("no longer", "actually")
    corrects: bool
    #: the clause in the turn's text, in characters
    start: int
    end: int


def extract_one(text: str, rules: Rules) -> list[RuleMatch]:
    """What the author of one turn states, in order of the text and then of the table.

    Equal to `extract_frame` of the one row.
    """
    marked = wording.marked(veil(text))
    tries: dict[int, set[int]] = {}
    number = 0
    for found in rules.longest_cue.finditer(marked.lower()):
        if found[1] == wording.SEPARATOR:
            number += 1
        else:
            tries.setdefault(number, set()).update(rules.by_longest[found[1]])
    if not tries:
        return []
    clauses = marked.split(wording.SEPARATOR)
    starts = list(accumulate(map(len, clauses), initial=0))
    hits = (_of_clause(clauses[number], starts[number], orders, rules) for number, orders in tries.items())
    return [hit for hit in hits if hit]


def _of_clause(clause: str, start: int, orders: set[int], rules: Rules) -> RuleMatch | None:
    """The hit of the first rule that matches the clause."""
    if rules.guard and rules.guard.python.search(clause):
        return None
    question = clause.rstrip(wording.CLOSERS).endswith("?")
    for order in sorted(orders):
        one = rules.compiled[order]
        if question and not one.rule.question:
            continue
        if (found := one.pattern.search(clause)) and (hit := _hit(one, found, clause, start, rules)):
            return hit
    return None


def _hit(one: Compiled, found: re.Match[str], clause: str, start: int, rules: Rules) -> RuleMatch | None:
    rule = one.rule
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
        importance=one.importance,
        category=rule.category,
        key=rule.key,
        corrects=bool(rules.corrects and rules.corrects.python.search(clause)),
        start=start + lead,
        end=start + len(clause.rstrip(" \n")),
    )


def _typed_id(template: str, groups: dict[str, str]) -> str | None:
    """The entity of a hit, unless its slug is empty."""
    typed = template.format_map({name: wording.name_slug(text) for name, text in groups.items()})
    return None if typed.endswith(":") else typed
