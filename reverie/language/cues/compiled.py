"""A policy's rule table, compiled once per policy for Python's re and for polars."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from reverie.language.cues import wording
from reverie.policy.extract import ExtractPolicy, Rule
from reverie.policy.relations import Relation, RuleKind

#: Characters that are content: ASCII letters and digits, and the letters of other scripts; not marks, not emoji.
_CONTENT: Final = "A-Za-z0-9\u00aa-\u1fff\u2c00-\u2dff\u3040-\ud7ff\uf900-\ufdff\U00020000-\U0003ffff"


@dataclass(frozen=True, slots=True, kw_only=True)
class DualPattern:
    """A pattern for both engines."""

    python: re.Pattern[str]
    rust: str


@dataclass(frozen=True, kw_only=True)
class Compiled:
    """A rule, with its pattern for both engines. Python's is compiled on first use: all take a second."""

    order: int
    rule: Rule
    #: the pattern, with the policy's words in it
    expanded: str
    #: the pattern for polars
    rust: str
    kind: RuleKind
    importance: float
    #: the relation of its statements, from the policy's table
    relation: Relation | None

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The pattern for Python."""
        return wording.for_python(self.expanded)


class Rules:
    """The `[extract]` table of a policy, compiled once for both engines."""

    def __init__(self, extract: ExtractPolicy) -> None:
        self.extract = extract
        self.guard = self._optional(extract.guard)
        self.empty = self._searched(f"^(?:{extract.empty})$" if extract.empty else None)
        self.corrects = self._searched(extract.corrects)
        self.event = self._optional(extract.event)
        self.low_content = self._whole(extract.low_content)
        self.compiled = tuple(self._compiled(order, rule) for order, rule in enumerate(extract.rules))
        #: orders of the rules to try for each cue
        orders: dict[str, dict[int, None]] = {}
        for each in self.compiled:
            for cue in each.rule.cues:
                orders.setdefault(cue, {})[each.order] = None
        self.by_cue: dict[str, tuple[int, ...]] = {cue: tuple(found) for cue, found in orders.items()}
        #: matches the longest cue, or the separator, at each position of a lower-case marked text
        self.longest_cue = wording.longest_of((*self.by_cue, wording.SEPARATOR))
        #: orders of the rules to try for a longest cue and for its prefixes
        self.by_longest = {
            longest: tuple(order for end in range(1, len(longest) + 1) for order in self.by_cue.get(longest[:end], ()))
            for longest in self.by_cue
        }

    def _compiled(self, order: int, rule: Rule) -> Compiled:
        relation = self.extract.relations[rule.relation] if rule.relation is not None else None
        of_relation: RuleKind = "fact" if relation is None or relation.kind == "episode" else relation.kind
        kind = rule.kind or of_relation
        by_kind: float = getattr(self.extract.importance, kind)
        importance = relation.importance if rule.importance is None and relation else rule.importance
        pattern = self.extract.expand(rule.pattern)
        return Compiled(
            order=order,
            rule=rule,
            expanded=pattern,
            rust=wording.for_rust(pattern),
            kind=kind,
            importance=by_kind if importance is None else importance,
            relation=relation,
        )

    def _searched(self, pattern: str | None) -> re.Pattern[str] | None:
        return None if pattern is None else wording.for_python(self.extract.expand(pattern))

    def _optional(self, pattern: str | None) -> DualPattern | None:
        if pattern is None:
            return None
        expanded = self.extract.expand(pattern)
        return DualPattern(python=wording.for_python(expanded), rust=wording.for_rust(expanded))

    def _whole(self, fragments: Sequence[str]) -> DualPattern:
        """Return the pattern of a message that consists only of these words, punctuation and emoji."""
        filler = f"[^{_CONTENT}]"
        words = f"(?:(?:{'|'.join(fragments)})(?:{filler}+|$))*" if fragments else ""
        whole = f"^{filler}*{words}$"
        return DualPattern(python=wording.for_python(whole), rust=wording.for_rust(whole))
