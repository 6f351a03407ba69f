"""Reads what a rule matched in a clause: a statement in the third person, or why it is none.

Both engines find the clauses that match; what a match says is decided here, once, in Python.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from reverie.language.cues import wording
from reverie.language.cues.attribution import unveil
from reverie.language.cues.compiled import Compiled, Rules
from reverie.language.statements.refusals import Said, objection, trimmed
from reverie.language.statements.sentences import Interpretation, read_predicates, sentence_of
from reverie.language.statements.trimming import cleaned, refusal
from reverie.model import Phase, Proposition
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
    #: whether the clause is a question or a supposition, or says what others say
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
    #: what it states, as data; None where the rule names no relation
    statement: Proposition | None
    #: whether it stays as it is while nothing ends it
    lasting: bool
    #: character offsets of the clause in the turn's text
    start: int
    end: int


def read_clause(matches: Iterable[Match], rules: Rules) -> list[RuleMatch] | str | None:
    """Return what a clause states; else why its last match states nothing; None: no match.

    `matches` are in the order of the rules. The first rule that reads a predicate of the clause says what it states, so
    there is one statement a predicate; a rule on the clause as such counts only where nothing else states anything, but
    for those of what is named beside it: "Duncan, my husband, is a vet".
    """
    found: dict[int, RuleMatch] = {}
    beside: dict[str | None, RuleMatch] = {}
    reason: str | None = None
    whole = False
    for match in matches:
        compiled = rules.compiled[match.order]
        if match.guarded and not compiled.rule.question:
            reason = "guarded"
            continue
        if compiled.rule.beside:
            if compiled.rule.relation not in beside:
                named = _read(compiled, match, _reading_of(compiled, match), rules, first=True)
                if isinstance(named, RuleMatch):
                    beside[compiled.rule.relation] = named
                else:
                    reason = named
            continue
        ends = compiled.rule.relation == "ended"
        if whole or (found and not compiled.rule.predicate and (ends or not _only_ends(found))):
            continue
        for reading in _readings(compiled, match):
            if isinstance(reading, str):
                reason = reading
            elif reading.start not in found:
                outcome = _read(compiled, match, reading, rules, first=not found)
                if isinstance(outcome, str):
                    reason = outcome
                else:
                    found[reading.start] = outcome
                    whole = not compiled.rule.predicate and not ends
    stated = {match.statement.relation for match in found.values() if match.statement and not match.statement.who}
    return [*found.values(), *(match for relation, match in beside.items() if relation not in stated)] or reason


def _only_ends(found: dict[int, RuleMatch]) -> bool:
    """Whether all that was read is that something is over: what came after it may be told as well."""
    return all(one.statement is not None and one.statement.relation == "ended" for one in found.values())


def _readings(compiled: Compiled, match: Match) -> Iterable[Interpretation | str]:
    if compiled.rule.predicate:
        return read_predicates(compiled, match.clause)
    return [_reading_of(compiled, match)]


def _reading_of(compiled: Compiled, match: Match) -> Interpretation:
    """What a rule on the clause as such reads in it."""
    said = {"x": match.x or match.y or ""} | ({"y": match.y} if match.y else {})
    start = max(match.clause.find(said["x"]), 0)
    return Interpretation(said, _phase(compiled, match.clause), compiled.rule.polarity, start=start)


def _read(compiled: Compiled, match: Match, reading: Interpretation, rules: Rules, *, first: bool) -> RuleMatch | str:
    rule, clause = compiled.rule, match.clause
    groups = {name: _value(captured, compiled) for name, captured in reading.groups.items()}
    if rules.extract.objections:
        groups = {name: trimmed(value, rule.relation) for name, value in groups.items()}
    for name, group in groups.items():
        if compiled.is_object(name) and (reason := _refusal(group, compiled, rules)):
            return reason
    said = {name: unveil(captured) for name, captured in groups.items()}
    statement = _statement(compiled, reading, said)
    if rules.extract.objections and (reason := objection(_said(clause, statement, reading, said))):
        return reason
    sentence = sentence_of(compiled, reading, groups)
    content = unveil(wording.third_person(sentence, keeps_group=compiled.kind == "instruction"))
    lead = len(clause) - len(clause.lstrip(wording.EDGES)) if first else reading.start
    return RuleMatch(
        rule=rule.name,
        kind=compiled.kind,
        content=content[:1].upper() + content[1:],
        value=said.get("x", ""),
        polarity=reading.polarity,  # type: ignore[arg-type]
        entity=_typed_id(rule.entity, said) if rule.entity else None,
        importance=compiled.importance,
        category=rule.category,
        key=rule.key,
        corrects=bool(rules.corrects and rules.corrects.search(clause)) or reading.phase in ("begins", "ends"),
        statement=statement,
        lasting=compiled.relation is not None and compiled.relation.is_lasting(reading.phase),
        start=match.start + lead,
        end=match.start + len(clause.rstrip(" \n")),
    )


def _said(clause: str, statement: Proposition | None, reading: Interpretation, said: dict[str, str]) -> Said:
    """What the clause around a match is checked against."""
    if statement is None:
        return Said(clause, None, reading.phase, None, said.get("y", said.get("x", "")))
    return Said(clause, statement.relation, reading.phase, statement.topic, statement.object, statement.who)


def _value(captured: str, compiled: Compiled) -> str:
    """A captured value without what follows it."""
    return cleaned(captured, compiled.relation.objects) if compiled.relation else wording.value(captured)


def _refusal(value: str, compiled: Compiled, rules: Rules) -> str | None:
    if not value:
        return "missing"
    if compiled.relation and (compiled.relation.objects == "name" or (reason := refusal(value)) is None):
        return None if compiled.rule.predicate or compiled.relation.objects == "name" else _empty(value, rules)
    return reason if compiled.relation else _empty(value, rules)


def _empty(value: str, rules: Rules) -> str | None:
    return "empty" if rules.empty and rules.empty.search(value) else None


_NEW = re.compile(
    r"\b(?:new|from now on|from (?:next|this) (?:week|month)|as of|changed|switched|nowadays|these days)\b"
    r"|(?<!years )(?<!months )\bnow\b",
    re.IGNORECASE,
)


def _phase(compiled: Compiled, clause: str) -> Phase:
    """The phase of what no predicate says: "my new number is"."""
    one = compiled.relation is not None and compiled.relation.values == "one"
    return "begins" if one and compiled.rule.phase == "holds" and _NEW.search(clause) else compiled.rule.phase


def _statement(compiled: Compiled, reading: Interpretation, said: dict[str, str]) -> Proposition | None:
    rule = compiled.rule
    if rule.relation is None:
        return None
    who = rule.who.format_map(said).lower() if rule.who else reading.who
    return Proposition(
        relation=rule.relation,
        object=rule.object.format_map(said),
        who=who.lower() if who else None,
        topic=rule.topic.format_map(said).lower() if rule.topic else None,
        phase=reading.phase,
    )


def _typed_id(template: str, groups: dict[str, str]) -> str | None:
    """The typed id of a match's entity; None if its slug is empty."""
    typed = template.format_map({name: wording.name_slug(text) for name, text in groups.items()})
    return None if typed.endswith(":") else typed
