"""Reads a rule's predicate in a clause, and words what it states as a sentence in the third person."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from reverie.language.cues.compiled import Compiled
from reverie.language.objects import is_plural
from reverie.language.statements.predicates import Predicate, predicates, several
from reverie.language.statements.verbs import base_form
from reverie.model import Phase

_PAST_OF_BE = {"is": "was", "are": "were"}
_VERBS_OF_BEING = {"is": "be", "has": "have", "does": "do", "goes": "go"}


@dataclass(frozen=True, slots=True)
class Interpretation:
    """What a rule reads in a clause: the captured words, and how they are meant."""

    groups: dict[str, str]
    phase: Phase
    polarity: int
    #: Whom it is about, if not the author, as he calls them: `sister`, `friend Anna`.
    who: str | None = None
    #: Whether the opposite is stated.
    opposite: bool = False
    #: Where its predicate begins in the clause.
    start: int = 0


def read_predicates(compiled: Compiled, clause: str) -> Iterator[Interpretation | str]:
    """Yield what each predicate of the clause that a rule matches says, or why it says nothing."""
    for predicate in predicates(clause):
        if found := compiled.pattern.match(predicate.text):
            yield _reading(compiled, predicate, found)


def _reading(compiled: Compiled, predicate: Predicate, found: re.Match[str]) -> Interpretation | str:
    rule = compiled.rule
    if predicate.who and rule.of == "author":
        return "another"
    if predicate.negated and rule.negated == "refused":
        return "negated"
    if rule.negated == "needed" and not predicate.negated:
        return "negated"
    phase = _phase(compiled, predicate)
    if phase is None:
        return "planned"
    opposite = predicate.negated and rule.negated == "opposite"
    polarity = -rule.polarity if opposite and rule.polarity else -1 if opposite else rule.polarity
    groups = {name: text for name, text in found.groupdict().items() if text is not None}
    groups.setdefault("x", next(iter(groups.values()), ""))
    return Interpretation(groups, phase, polarity, predicate.who, opposite, predicate.start)


def _phase(compiled: Compiled, predicate: Predicate) -> Phase | None:
    """The phase of a predicate; None: it is planned, and the rule is not about plans."""
    rule = compiled.rule
    planning = rule.phase == "planned"
    if planning:
        if predicate.ended or predicate.negated:
            return "ends"
        going = predicate.doing and predicate.tense == "present"
        return "holds" if predicate.tense == "planned" or going else None
    if predicate.tense == "planned":
        return None
    if rule.happens:
        if predicate.doing or (predicate.once and rule.phase != "ends"):
            return None
        return "ends" if predicate.ended else rule.phase
    if predicate.ended:
        return "ends"
    if predicate.once or predicate.tense == "past":
        return "past"
    one = compiled.relation is not None and compiled.relation.values == "one"
    if one and predicate.besides:
        return "adds"
    return "begins" if predicate.new and rule.phase == "holds" else rule.phase


def sentence_of(compiled: Compiled, reading: Interpretation, groups: dict[str, str]) -> str:
    """Return the text of the memory, before it is put in the third person."""
    rule, relation = compiled.rule, compiled.relation
    if relation is None or (rule.template is not None and not rule.predicate):
        return (rule.template or "{x}").format_map(groups)
    topic = rule.topic.format_map(groups) if rule.topic else ""
    words = (
        {"object": rule.object.format_map(groups), "topic": topic, "does": conjugated(groups.get("x", ""))}
        | _verbs(groups)
        | groups
    )
    template = rule.template or relation.wording
    if rule.happens and rule.template and reading.phase == rule.phase:
        sentence = template.format_map(words)
        return of_whom(sentence, reading.who) if reading.who else sentence
    if reading.opposite:
        template = relation.opposite or f"Isn't true: {template}"
    if is_plural(topic):
        template = template.replace("{topic} is ", "{topic} are ")
    several_hold = reading.phase == "adds" and relation.values == "many"
    sentence = in_phase(template.format_map(words), "holds" if several_hold else reading.phase)
    return of_whom(sentence, reading.who) if reading.who else sentence


def _verbs(groups: dict[str, str]) -> dict[str, str]:
    """The verb of a pattern whose second group it is: as it stands in the third person, and denied."""
    said = groups.get("y", "")
    verb = conjugated(said).replace("cannot ", "can't ").replace("cant ", "can't ")
    denied = f"isn't{said[2:]}" if said.startswith("be ") else f"doesn't {said}"
    return {"verb": f"{verb[:1].upper()}{verb[1:]}", "unverb": f"{denied[:1].upper()}{denied[1:]}"}


#: A second verb before what both are about: "practice and train every day".
_TWO_VERBS = re.compile(r"and ([a-z]+)(?= (?:every|each|most|with|in|on|to|at|for|my|the)\b)")


def conjugated(phrase: str) -> str:
    """Return a verb phrase in the third person: "get up at five" gives "gets up at five"."""
    verb, space, rest = phrase.partition(" ")
    if found := _TWO_VERBS.match(rest):
        rest = f"and {conjugated(found[1])}{rest[found.end() :]}"
    irregular = {
        "be": "is",
        "have": "has",
        "do": "does",
        "go": "goes",
        "can": "can",
        "can't": "can't",
        "cant": "can't",
        "cannot": "can't",
    }
    if verb.lower() in irregular:
        return f"{irregular[verb.lower()]}{space}{rest}"
    if re.search(r"(?:ch|sh|ss|x|zz|o)$", verb):
        return f"{verb}es{space}{rest}"
    if re.search(r"[^aeiou]y$", verb):
        return f"{verb[:-1]}ies{space}{rest}"
    return f"{verb}s{space}{rest}"


def in_phase(sentence: str, phase: Phase) -> str:
    """Return a sentence in the present as one of another phase: "Lives in Oslo" gives "No longer lives in Oslo"."""
    verb, _, rest = sentence.partition(" ")
    if phase == "ends":
        if verb in ("Is", "Are"):
            return f"{verb} no longer {rest}"
        if _is_verb(verb):
            return f"No longer {verb.lower()} {rest}".rstrip()
        return re.sub(r"\b(is|are)\b", r"\1 no longer", sentence, count=1)
    if phase == "past":
        if _is_verb(verb):
            return f"Used to {_VERBS_OF_BEING.get(verb.lower()) or base_form(verb)[0]} {rest}".rstrip()
        return re.sub(r"\b(is|are)\b", lambda verb: _PAST_OF_BE[verb[0]], sentence, count=1)
    if phase == "adds" and _is_verb(verb):
        return f"{verb} also {rest}" if verb in ("Is", "Has") else f"Also {verb.lower()} {rest}"
    return sentence


def of_whom(sentence: str, who: str) -> str:
    """Return a sentence without a subject as one of somebody: "Lives in Lyon" gives "My sister lives in Lyon"."""
    first, _, rest = sentence.partition(" ")
    lowered = f"{first[:1].lower()}{first[1:]} {rest}".rstrip()
    if who.split(" ")[0] in several() and (_is_verb(first) or first == "Doesn't"):
        plural = {"is": "are", "has": "have", "doesn't": "don't", "isn't": "aren't"}
        return f"their {who} {plural.get(first.lower()) or base_form(first)[0]} {rest}".rstrip()
    verbal = _is_verb(first) or first in ("No", "Used", "Also", "Can't", "Doesn't", "Isn't")
    return f"their {who} {lowered}" if verbal else f"their {who}'s {lowered}"


def _is_verb(word: str) -> bool:
    """Whether the first word of a wording is a verb of the third person."""
    return (
        word in ("Is", "Has")
        or (word.endswith("s") and not word.endswith(("ss", "ours", "nouns", "ies")))
        or word in ("Studies",)
    )
