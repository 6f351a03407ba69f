"""Reads what a rule matched in a clause: a statement in the third person, or why it is none.

Both engines find the clauses that match; what a match says is decided here, once, in Python.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from reverie.language.cues import wording
from reverie.language.cues.attribution import unveil
from reverie.language.cues.compiled import Compiled, Rules
from reverie.model import Statement
from reverie.policy.relations import FactCategory, RuleKind


class Match(NamedTuple):
    """A clause that the pattern of a rule matches, with the captured groups."""

    #: of the rule
    order: int
    clause: str
    #: of the clause in the text, in characters
    start: int
    x: str
    #: None: the pattern has no second group
    y: str | None


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
    #: what it states, as data; None where the rule names no relation
    statement: Statement | None
    #: whether it stays as it is while nothing ends it
    lasting: bool
    #: character offsets of the clause in the turn's text
    start: int
    end: int


def read_clause(matches: Iterable[Match], rules: Rules) -> RuleMatch | str | None:
    """Return what the first readable match of one clause states; else why the last one is none; None: no match.

    `matches` are in the order of the rules.
    """
    outcome: RuleMatch | str | None = None
    for match in matches:
        outcome = _read(rules.compiled[match.order], match, rules)
        if not isinstance(outcome, str):
            return outcome
    return outcome


def _read(compiled: Compiled, match: Match, rules: Rules) -> RuleMatch | str:
    rule, clause = compiled.rule, match.clause
    if rules.guard and rules.guard.search(clause):
        return "guarded"
    if not rule.question and clause.rstrip(wording.CLOSERS).endswith("?"):
        return "question"
    groups = {"x": wording.value(match.x)} | ({} if match.y is None else {"y": wording.value(match.y)})
    if not all(groups.values()) or (rules.empty and any(map(rules.empty.search, groups.values()))):
        return "empty"
    said = {name: unveil(captured) for name, captured in groups.items()}
    statement = _statement(compiled, said)
    content = unveil(wording.third_person(_text(compiled, groups)))
    lead = len(clause) - len(clause.lstrip(wording.EDGES))
    return RuleMatch(
        rule=rule.name,
        kind=compiled.kind,
        content=content[:1].upper() + content[1:],
        value=said["x"],
        polarity=rule.polarity,
        entity=_typed_id(rule.entity, said) if rule.entity else None,
        importance=compiled.importance,
        category=rule.category,
        key=rule.key,
        corrects=bool(rules.corrects and rules.corrects.search(clause)),
        statement=statement,
        lasting=compiled.relation is not None
        and statement is not None
        and compiled.relation.is_lasting(statement.phase),
        start=match.start + lead,
        end=match.start + len(clause.rstrip(" \n")),
    )


def _text(compiled: Compiled, groups: dict[str, str]) -> str:
    """The text of the memory, before it is put in the third person."""
    rule, relation = compiled.rule, compiled.relation
    if rule.template is not None:
        return rule.template.format_map(groups)
    assert relation is not None  # checked when the policy is read
    topic = rule.topic.format_map(groups) if rule.topic else ""
    worded = relation.past if relation.past and rule.phase in ("past", "ends") else relation.wording
    return worded.format_map({"object": rule.object.format_map(groups), "topic": topic})


def _statement(compiled: Compiled, said: dict[str, str]) -> Statement | None:
    rule = compiled.rule
    if rule.relation is None:
        return None
    return Statement(
        relation=rule.relation,
        object=rule.object.format_map(said),
        who=rule.who.format_map(said).lower() if rule.who else None,
        topic=rule.topic.format_map(said).lower() if rule.topic else None,
        phase=rule.phase,
    )


def _typed_id(template: str, groups: dict[str, str]) -> str | None:
    """The typed id of a match's entity; None if its slug is empty."""
    typed = template.format_map({name: wording.name_slug(text) for name, text in groups.items()})
    return None if typed.endswith(":") else typed
