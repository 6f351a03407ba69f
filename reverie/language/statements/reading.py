"""Reads a clause that a rule matched: as a statement in the third person, or the reason why it states nothing.

Both engines find the clauses that match; the statement of a match is decided here, once, in Python.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from reverie.language.cues import wording
from reverie.language.cues.attribution import unveil
from reverie.language.cues.compiled import Compiled, Rules
from reverie.language.pack import language_table
from reverie.language.statements.stated import MessageStatement, worded_statement
from reverie.model import Phase, Proposition
from reverie.policy.relations import FactCategory, RuleKind

_PACK = language_table("reading")


class Match(NamedTuple):
    """A clause that the pattern of a rule matches, with the captured groups."""

    #: place of the rule in the table
    order: int
    clause: str
    #: offset of the clause in the text, in characters
    start: int
    x: str
    #: None: the pattern has no second group
    y: str | None
    #: whether the clause is a question or a supposition, or reports what others say
    guarded: bool


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
    #: the statement as data; None if the rule names no relation
    statement: Proposition | None
    #: whether it does not fade until something ends it
    lasting: bool
    #: character offsets of the clause in the turn's text
    start: int
    end: int


def read_clause(matches: Iterable[Match], rules: Rules) -> list[RuleMatch] | str | None:
    """Return what a clause states, or the reason why its last match states nothing; None if there is no match.

    `matches` are in the order of the rules. The first that states something is taken, along with those for things
    named in passing: "Duncan, my husband, is a vet".
    """
    found: RuleMatch | None = None
    beside: dict[str | None, RuleMatch] = {}
    reason: str | None = None
    for match in matches:
        rule = rules.compiled[match.order].rule
        if match.guarded and not rule.question:
            reason = "guarded"
        elif rule.relation not in beside if rule.beside else found is None:
            outcome = _read(rules.compiled[match.order], match, rules)
            if isinstance(outcome, str):
                reason = outcome
            elif rule.beside:
                beside[rule.relation] = outcome
            else:
                found = outcome
    own = None if found is None or found.statement is None or found.statement.who else found.statement.relation
    named = [match for relation, match in beside.items() if relation != own]
    return ([found, *named] if found else named) or reason


def _read(compiled: Compiled, match: Match, rules: Rules) -> RuleMatch | str:
    rule, clause = compiled.rule, match.clause
    groups = _groups(match, is_order=compiled.kind == "instruction")
    for group in groups.values():
        if not group:
            return "missing"
        if rules.empty and rules.empty.search(group):
            return "empty"
    if _is_unsaid(compiled, clause):
        return "guarded"
    said = {name: unveil(captured) for name, captured in groups.items()}
    phase = _phase(compiled, clause)
    statement = _statement(compiled, phase, said)
    if statement and compiled.relation and not compiled.relation.admits(statement.object):
        return "empty"
    content = unveil(_content(compiled, groups, phase, clause))
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
        corrects=bool(rules.corrects and rules.corrects.search(clause)) or phase in ("begins", "ends"),
        statement=statement,
        lasting=compiled.relation is not None and compiled.relation.is_lasting(phase),
        start=match.start + len(clause) - len(clause.lstrip(wording.EDGES)),
        end=match.start + len(clause.rstrip(" \n")),
    )


def _groups(match: Match, *, is_order: bool) -> dict[str, str]:
    """Return the captured groups as values; without an `x`, `y` stands for it."""
    captured = {"x": match.x or match.y or ""} | ({"y": match.y} if match.y else {})
    return {name: wording.value(text, is_order=is_order) for name, text in captured.items()}


def _is_unsaid(compiled: Compiled, clause: str) -> bool:
    """Return whether words before a match deny or suppose it; a name beside a role holds all the same.

    "They might put me on insulin", "If my dad died"; but "I never call my wife Ana".
    """
    if compiled.rule.beside and compiled.rule.entity:
        return False
    match = compiled.pattern.search(clause)
    return match is not None and _UNSAID.search(clause[: match.start()].rstrip()) is not None


def _content(compiled: Compiled, groups: Mapping[str, str], phase: Phase, clause: str) -> str:
    """Return the text of the memory: the rule's own template, or the wording of its relation."""
    rule, relation = compiled.rule, compiled.relation
    if rule.template is not None or relation is None or rule.relation is None:
        template = (rule.template or "{x}").format_map(groups)
        return wording.third_person(template, is_order=compiled.kind == "instruction")
    stated = MessageStatement(
        relation=rule.relation,
        object=rule.object.format_map(groups),
        holder=rule.who.format_map(groups) if rule.who else None,
        topic=rule.topic.format_map(groups) if rule.topic else None,
        phase=phase,
        polarity=rule.polarity,
        clause=clause,
    )
    return worded_statement(stated, relation, clause)


_UNSAID = _PACK.pattern("unsaid")
_NEW = _PACK.pattern("new", re.IGNORECASE)


def _phase(compiled: Compiled, clause: str) -> Phase:
    """Return the phase of a clause, which may tell of a change: "my new number is"."""
    one = compiled.relation is not None and compiled.relation.values == "one"
    return "begins" if one and compiled.rule.phase == "holds" and _NEW.search(clause) else compiled.rule.phase


def _statement(compiled: Compiled, phase: Phase, said: dict[str, str]) -> Proposition | None:
    rule = compiled.rule
    if rule.relation is None:
        return None
    return Proposition(
        relation=rule.relation,
        object=rule.object.format_map(said),
        who=rule.who.format_map(said).lower() if rule.who else None,
        topic=rule.topic.format_map(said).lower() if rule.topic else None,
        phase=phase,
    )


def _typed_id(template: str, groups: dict[str, str]) -> str | None:
    """Return the typed id of a match's entity; None if its slug is empty."""
    typed = template.format_map({name: wording.name_slug(text) for name, text in groups.items()})
    return None if typed.endswith(":") else typed
