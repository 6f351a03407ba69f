"""docs/policies.md shows what the policies hold: every number in which they differ, and no heading is left out."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from reverie.language.cues.compiled import Rules
from reverie.language.cues.single import extract_one
from reverie.model import KINDS
from reverie.policy import SIGNALS, Policy, load_policy, shipped_policies

PAGE = Path(__file__).resolve().parents[2] / "docs" / "policies.md"
REWRITE = "REVERIE_RECORD_POLICIES"
#: The order of the columns.
NAMES = ("brain", "agent", "logic", "contact", "chat", "reverie")
#: Told elsewhere: the rules in docs/rules.md, the rest is words.
NOT_NUMBERS = (
    "name",
    "description",
    "extract.rules",
    "extract.words",
    "extract.low_content",
    "extract.roles",
)


def test_the_table_is_what_the_policies_hold() -> None:
    assert sorted(NAMES) == shipped_policies()
    text, table = PAGE.read_text(encoding="utf-8"), "\n".join(side_by_side()) + "\n"
    before, _, _ = text.partition(table.splitlines()[0])
    if os.environ.get(REWRITE):
        PAGE.write_text(before + table, encoding="utf-8")
    assert "| key |" not in before, "a row of an earlier table is left"
    assert PAGE.read_text(encoding="utf-8") == before + table, f"if the change is meant: {REWRITE}=1 pytest {__file__}"


def test_every_heading_is_explained() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for heading, field in Policy.model_fields.items():
        if hasattr(field.annotation, "model_fields"):
            assert f"| `[{heading}]` |" in text


def test_the_example_is_a_policy(tmp_path: Path) -> None:
    (example,) = re.findall(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    path = tmp_path / "ours.toml"
    path.write_text(example, encoding="utf-8")
    policy, base = load_policy(str(path)), load_policy("reverie")
    assert (policy.name, policy.recall.top_k, policy.decay.rates["fact"]) == ("ours", 5, 0.001)
    assert policy.decay.rates["episode"] == base.decay.rates["episode"]
    names = [rule.name for rule in base.extract.rules if rule.name != "scares"]
    assert [rule.name for rule in policy.extract.rules] == ["allergy", *names]


def test_the_example_of_a_rule_works(tmp_path: Path) -> None:
    (example,) = re.findall(r"```toml\n(.*?)```", PAGE.with_name("rules.md").read_text(encoding="utf-8"), re.DOTALL)
    path = tmp_path / "ours.toml"
    path.write_text(example, encoding="utf-8")
    found = extract_one(
        "I practise daily and my guitar is a 1962 Gibson, of course.", Rules(load_policy(str(path)).extract)
    )
    assert [each.content for each in found] == ["Their guitar is a 1962 Gibson"]


def side_by_side() -> list[str]:
    """The table at the end of the page."""
    flat = {name: numbers(load_policy(name)) for name in NAMES}
    rows = [["key", *NAMES], ["---", *("---:" for _ in NAMES)]]
    rows += [[f"`{key}`", *(shown(flat[name][key]) for name in NAMES)] for key in differing(flat)]
    return [f"| {' | '.join(row)} |" for row in rows]


def differing(flat: dict[str, dict[str, Any]]) -> list[str]:
    """The keys that not all policies agree on, in the order of the file."""
    first = next(iter(flat.values()))
    return [key for key in first if len({repr(numbers_[key]) for numbers_ in flat.values()}) > 1]


def numbers(policy: Policy) -> dict[str, Any]:
    """Every number by its dotted key; patterns and rules left out."""
    found: dict[str, Any] = {}

    def walk(value: Any, key: str) -> None:
        if isinstance(value, dict):
            for name, below in value.items():
                walk(below, f"{key}.{name}".lstrip("."))
        elif not key.startswith(NOT_NUMBERS) and not (isinstance(value, str) and re.search(r"[\\(\[]", value)):
            found[key] = value

    dumped = policy.model_dump()
    dumped["recall"]["weights"] = {signal: policy.recall.weights.get(signal, 0.0) for signal in SIGNALS}
    for pattern in ("guard", "empty", "corrects", "event"):
        dumped["extract"].pop(pattern)
    walk(dumped, "")
    return found


def shown(value: Any) -> str:
    """A value as the table writes it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple | list):
        return "all" if set(value) == set(KINDS) else " ".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else str(value)
