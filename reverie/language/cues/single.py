"""Applies the rule table to one turn with Python's re. This is the engine of the immediate tier."""

from collections.abc import Iterator
from itertools import accumulate

from reverie.language.cues import wording
from reverie.language.cues.attribution import veil
from reverie.language.cues.compiled import Rules
from reverie.language.statements.reading import Match, RuleMatch, read_clause


def extract_one(text: str, rules: Rules) -> list[RuleMatch]:
    """Return the statements of a turn's author, in the order of the text.

    The result equals that of `extract_frame` for a frame with this row only.
    """
    outcomes = (read_clause(matches, rules) for matches in _by_clause(text, rules))
    return [match for outcome in outcomes if isinstance(outcome, list) for match in outcome]


def _by_clause(text: str, rules: Rules) -> Iterator[Iterator[Match]]:
    """Yield the matches of each clause with a cue, in the order of the rules."""
    marked = wording.marked(veil(text))
    tries: dict[int, set[int]] = {}
    number = 0
    for cue in rules.longest_cue.finditer(marked.lower()):
        if cue[1] == wording.SEPARATOR:
            number += 1
        else:
            tries.setdefault(number, set()).update(rules.by_longest[cue[1]])
    if not tries:
        return
    clauses = marked.split(wording.SEPARATOR)
    starts = list(accumulate(map(len, clauses), initial=0))
    for number, orders in tries.items():
        yield _matches(clauses[number], starts[number], orders, rules)


def _matches(clause: str, start: int, orders: set[int], rules: Rules) -> Iterator[Match]:
    guarded = _is_guarded(clause, rules)
    for order in sorted(orders):
        compiled = rules.compiled[order]
        if found := compiled.pattern.search(clause):
            groups = found.groupdict("")
            yield Match(order, clause, start, groups["x"], groups.get("y"), guarded)


def _is_guarded(clause: str, rules: Rules) -> bool:
    """Return whether a clause is a question or a supposition, or reports what others say."""
    asks = clause.rstrip(wording.CLOSERS).endswith("?")
    return asks or (rules.guard is not None and rules.guard.python.search(clause) is not None)
