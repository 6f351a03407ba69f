"""Reads a memory as a structured fact, a key with a value, by the template of the rule that made it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from reverie.language.cues.wording import slug
from reverie.policy import Policy, Rule

_CORRECTION = "correction"
#: Letters of a key's variable part.
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
    #: Matches what the template makes, with its groups.
    content: re.Pattern[str]

    def read(self, content: str) -> tuple[str, str]:
        """Return key and value of a memory, whose content has no speaker before it.

        A content that was reworded since is its own value.
        """
        match = self.content.fullmatch(content)
        groups = {name: text.strip() for name, text in match.groupdict().items()} if match else {"x": content, "y": ""}
        groups.setdefault("y", "")
        slugs = {name: slug(text)[:_LONGEST_SLUG].strip("-") for name, text in groups.items()}
        value = self.value.format_map(groups) if match else content
        return self.key.format_map(slugs).strip(":_"), value.strip() or content

    def stated(self, content: str) -> dict[str, Any]:
        """Return what a memory states by key, as a language model's claim carries it."""
        key, value = self.read(content)
        of_rule = {"category": self.category, "confidence": self.confidence, "importance": self.importance}
        return of_rule | {"key": key, "value": value}


def corrected_origin(origin: str | None) -> str:
    """Return the origin of what a person wrote in place of a memory of this origin."""
    return f"{_CORRECTION}/{origin.removeprefix(f'{_CORRECTION}/')}" if origin else _CORRECTION


@cache
def fact_rules(policy: Policy) -> dict[str, FactRule]:
    """Return the policy's rules that name a category and a key, by the origin of what they make; made once a policy.

    What a person wrote in place of such a memory has its key too, and is as sure as can be.
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
        if rule.category is not None and rule.key is not None
    }
    return rules | {corrected_origin(name): replace(rule, confidence=1.0) for name, rule in rules.items()}


def _backwards(rule: Rule) -> re.Pattern[str]:
    """The template as a pattern: `(s)` is any ending of one word; the content's first letter is a capital."""
    before, between, after = rule.template_parts
    second = f"{re.escape(between.removeprefix('(s)'))}(?P<y>.+)" if "{y}" in (rule.template or "") else ""
    first = r"(?P<x>[^ ]+)" if between.startswith("(s)") else "(?P<x>.+?)" if second else "(?P<x>.+)"
    return re.compile(f"{re.escape(before)}{first}{second}{re.escape(after)}", re.IGNORECASE | re.DOTALL)
