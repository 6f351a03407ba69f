"""Reads a memory as a structured fact (a key with a value) and as a statement, by the rule or wording behind it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from reverie.language.cues.wording import slug
from reverie.language.english import statement_words
from reverie.language.objects import object_key
from reverie.language.pack import language_table
from reverie.model import Phase, Proposition
from reverie.policy import Policy, Rule
from reverie.policy.relations import Relation

_PACK = language_table("fact_keys")

_CORRECTION = "correction"
#: Marks of a statement that no longer holds.
_OVER = _PACK.pattern("over", re.IGNORECASE)
#: Longest variable part of a key, in characters.
_LONGEST_SLUG = 80


@dataclass(frozen=True, kw_only=True, slots=True)
class FactRule:
    """A rule that makes structured facts."""

    category: str
    #: With `{x}` and `{y}` as slugs: "favorite_{x}".
    key: str
    #: With `{x}` and `{y}` as said.
    value: str
    confidence: float
    importance: float
    #: Matches the texts that the template makes, with its groups.
    content: re.Pattern[str]

    def read(self, content: str) -> tuple[str, str]:
        """Return the key and value of a memory; its content must not begin with a speaker.

        If the content was reworded since, it is the value.
        """
        match = self.content.fullmatch(content)
        groups = {name: text.strip() for name, text in match.groupdict().items()} if match else {"x": content, "y": ""}
        groups.setdefault("y", "")
        slugs = {name: slug(text)[:_LONGEST_SLUG].strip("-") for name, text in groups.items()}
        value = self.value.format_map(groups) if match else content
        return self.key.format_map(slugs).strip(":_"), value.strip() or content

    def stated(self, content: str) -> dict[str, Any]:
        """Return the structured fact of a memory, in the form of a language model's claim."""
        key, value = self.read(content)
        of_rule = {"category": self.category, "confidence": self.confidence, "importance": self.importance}
        return of_rule | {"key": key, "value": value}


def corrected_origin(origin: str | None) -> str:
    """Return the origin of a text that a person wrote to replace a memory of this origin."""
    return f"{_CORRECTION}/{origin.removeprefix(f'{_CORRECTION}/')}" if origin else _CORRECTION


@cache
def fact_rules(policy: Policy) -> dict[str, FactRule]:
    """Return the policy's rules that name a category and a key, by the origin of their memories; built once per policy.

    A text that a person wrote to replace such a memory has the same key, with confidence 1.
    """
    importance = policy.extract.importance.model_dump()
    rules = {
        rule.name: FactRule(
            category=rule.category,
            key=rule.key,
            value=rule.value,
            confidence=policy.structured_facts.rule_confidence if rule.confidence is None else rule.confidence,
            importance=importance[rule.kind or "fact"] if rule.importance is None else rule.importance,
            content=_backwards(rule),
        )
        for rule in policy.extract.rules
        if rule.category is not None and rule.key is not None and rule.template is not None
    }
    return rules | {corrected_origin(name): replace(rule, confidence=1.0) for name, rule in rules.items()}


@cache
def confidences(policy: Policy) -> dict[str, float]:
    """Return the confidence of each of the policy's rules, by name; built once per policy."""
    usual = policy.structured_facts.rule_confidence
    return {rule.name: usual if rule.confidence is None else rule.confidence for rule in policy.extract.rules}


def is_corrected(origin: str) -> bool:
    """Return whether the origin is that of a text that a person wrote."""
    return origin.partition("/")[0] == _CORRECTION


def relation_key(relation: Relation, statement: Proposition) -> str | None:
    """Return the key of the structured fact that a statement makes; None if it makes none.

    It makes none if its relation names no key, or a key with a topic that the statement lacks or repeats as its
    object: "26 lakhs" of nothing.
    """
    if relation.key is None:
        return None
    name = object_key(statement.object.rpartition(_PACK.text("before_name"))[2])
    topic = slug(statement.topic or "")[:_LONGEST_SLUG].strip("-")
    is_of_topic = "{topic}" in relation.key
    if is_of_topic and set(topic.split("-")) <= {"", *slug(statement.object).split("-")}:
        return None
    return relation.key.format(object=name, topic=topic)


def relation_of(policy: Policy, category: str, key: str) -> tuple[str, str | None] | None:
    """Return the relation and the topic of a structured fact; None if its key is of none of the policy's relations."""
    head, _, suffix = key.partition(":")
    for name, relation in policy.extract.relations.items():
        if relation.key is None or relation.category != category:
            continue
        stem, has_slug, slot = relation.key.partition("{")
        if key == relation.key or (has_slug and key.startswith(stem) and key != stem):
            topic = key.removeprefix(stem).replace("-", " ") if slot.startswith("topic") else None
            return name, topic
    if head in policy.extract.relations:
        return head, suffix.replace("-", " ") or None
    return None


def reread(policy: Policy, content: str, before: Proposition, polarity: int = 0) -> tuple[Proposition, int]:
    """Return the statement of a text that a person wrote to replace a statement, and its polarity: -1, 0 or 1.

    It has the same relation. Its object is the part that the relation's wording leaves open, or else the whole text.
    `polarity` is that of the statement before. It changes only if the text is worded as the relation's denial, or as
    its affirmation.
    """
    relation = policy.extract.relations.get(before.relation or "")
    if relation is None:
        return replace(before, object=content), polarity
    phase = _over(before) if _OVER.search(content) else _present(before)
    # "Has {object}" would read "Has no cat" as an affirmation
    for wording in (*_denials(relation), relation.wording):
        if match := _wording(wording).search(content.strip().rstrip(".")):
            groups = {name: text.strip() for name, text in match.groupdict().items()}
            topic = groups.get("topic") or before.topic
            said = replace(before, object=groups.get("object") or content, topic=topic and topic.lower(), phase=phase)
            return said, -1 if wording != relation.wording else _affirmed(relation, content, polarity)
    return replace(before, object=content, phase=phase), polarity


def _denials(relation: Relation) -> list[str]:
    """Return the wordings of a relation's denial, in the order in which they are tried."""
    return [wording for each in (relation.says.get("denied"), relation.opposite) if each for wording in each.split("|")]


def _affirmed(relation: Relation, content: str, before: int) -> int:
    """Return the polarity of a text in a relation's own wording, unless it denies in words of its own."""
    if before >= 0 or not statement_words().words.denials.isdisjoint(content.lower().replace("’", "'").split()):
        return before
    return 1 if relation.polar else 0


def _present(before: Proposition) -> Phase:
    return before.phase if before.phase in ("begins", "adds") else "holds"


def _over(before: Proposition) -> Phase:
    return before.phase if before.phase in ("ends", "past") else "past"


@cache
def _wording(wording: str) -> re.Pattern[str]:
    """Return the wording of a relation as a pattern: a name may precede it, and its first letter may be small."""
    parts = [
        part if part in ("{object}", "{topic}") else re.escape(part)
        for part in re.split(r"(\{object\}|\{topic\})", wording)
    ]
    one, several = (_PACK.text(key).replace(" ", r"\ ") for key in ("topic_is", "topic_are"))
    pattern = (
        "".join(parts)
        .replace(f"{{topic}}{one}", f"{{topic}}{several}")
        .replace("{object}", "(?P<object>.+)", 1)
        .replace("{topic}", "(?P<topic>.+?)", 1)
        .replace("'", "['’]")
    )
    return re.compile(rf"(?:^|\s){pattern}$", re.IGNORECASE | re.DOTALL)


def _backwards(rule: Rule) -> re.Pattern[str]:
    """Return the template as a pattern: `(s)` is any ending of one word; the content's first letter is a capital."""
    before, between, after = rule.template_parts
    second = f"{re.escape(between.removeprefix('(s)'))}(?P<y>.+)" if "{y}" in (rule.template or "") else ""
    first = r"(?P<x>[^ ]+)" if between.startswith("(s)") else "(?P<x>.+?)" if second else "(?P<x>.+)"
    return re.compile(f"{re.escape(before)}{first}{second}{re.escape(after)}", re.IGNORECASE | re.DOTALL)
