"""Each number that a seed states is in the policy of its name."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from reverie.policy import Policy, load_policy, shipped_policies

DECAY = {"fact": 0.003, "preference": 0.005, "episode": 0.008, "pattern": 0.004}
BUDGET = {
    "total": 8000,
    "system": 500,
    "profile": 200,
    "memories": 1500,
    "service_data": 2000,
    "history": 2000,
    "tools": 1500,
    "buffer": 300,
    "keep_verbatim": 4,
}

#: (policy, section of its seed, key, what the seed says)
NUMBERS: list[tuple[str, str, str, Any]] = [
    ("brain", "2", "prune.below", 0.1),
    ("brain", "3.2", "recall.weights",
     {"similarity": 0.40, "recency": 0.25, "importance": 0.20, "access": 0.10, "entity": 0.05}),
    ("brain", "3.2", "recall.recency_days", 365),
    ("brain", "3.2", "recall.access_cap", 20),
    ("brain", "3.3", "recall.candidates", 30),
    ("brain", "3.3", "recall.top_k", 10),
    ("brain", "3.3", "recall.min_importance", 0.1),
    ("brain", "4.2", "extract.importance.preference", 0.8),
    ("brain", "4.2", "extract.tool_episodes", True),
    ("brain", "4.3", "merge.threshold", 0.92),
    ("brain", "4.3", "merge.reinforce", 0.05),
    ("brain", "4.3", "importance.outcome_boost", 0.1),
    ("brain", "4.4", "cycle.hours", 6),
    ("brain", "4.4", "decay.grace_days", 7),
    ("brain", "4.4 (rate: Contact 2.1)", "decay.rates.fact", 0.01),
    ("brain", "4.4", "compress.pattern_episodes", 5),
    ("brain", "4.4", "compress.pattern_importance", 0.85),
    ("brain", "4.4", "prune.unaccessed_days", 30),
    ("brain", "5.1", "working_memory.ttl_hours", 24),
    ("brain", "5.2", "working_memory.turns", 20),
    ("brain", "5.2", "working_memory.keep_first", True),
    ("brain", "5.3", "working_memory.idle_minutes", 5),
    *(("brain", "6", f"context.{name}", tokens) for name, tokens in BUDGET.items()),
    ("brain", "6", "recall.token_budget", 1500),
    ("agent", "1.1", "profile.narrative_words", 500),
    ("agent", "5.2", "recall.top_k", 5),
    ("agent", "5.2", "recall.candidates", 5),
    ("agent", "5.2", "recall.weights", {"similarity": 1.0}),
    ("logic", "1.3", "chunk.min_tokens", 50),
    ("logic", "1.3", "chunk.max_tokens", 300),
    ("logic", "1.5", "importance.mode", "novelty_salience"),
    ("logic", "1.5", "importance.novelty_weight", 0.6),
    ("logic", "1.5", "importance.salience_weight", 0.4),
    ("logic", "1.5", "importance.threshold", 0.3),
    ("logic", "1.5", "salience.named_entity", 0.3),
    ("logic", "1.5", "salience.number_or_date", 0.2),
    ("logic", "1.5", "salience.preference", 0.4),
    ("logic", "1.5", "salience.technical", 0.1),
    ("logic", "1.5", "salience.maximum", 1.0),
    ("logic", "1.5", "salience.signals", ("i prefer", "i always", "i hate", "my favorite")),
    ("logic", "2.1", "recall.top_k", 5),
    ("logic", "2.1", "recall.token_budget", 2000),
    ("logic", "2.3", "recall.candidates", 20),
    ("logic", "2.5", "recall.rerank_weight", 1.0),
    ("logic", "2.4", "recall.min_importance", 0.2),
    ("logic", "3.2", "compress.summary_sentences", 3),
    *(("contact", "2.2", f"decay.rates.{kind}", rate) for kind, rate in DECAY.items()),
    ("contact", "2.2", "extract.importance.fact", 0.7),
    ("contact", "2.2", "extract.importance.preference", 0.8),
    ("contact", "2.2", "extract.importance.episode", 0.5),
    ("contact", "2.2 and 6.2", "compress.pattern_importance", 0.8),
    ("contact", "2.3", "recall.weights",
     {"similarity": 0.35, "recency": 0.25, "importance": 0.20, "access": 0.10, "entity": 0.10}),
    ("contact", "3.1", "extract.episodes", "all"),
    ("contact", "3.2", "merge.threshold", 0.90),
    ("contact", "3.2", "merge.reinforce", 0.05),
    ("contact", "4.1", "mood.model_timeout_ms", 200),
    ("contact", "4.1", "mood.after_late", ("previous", "keywords")),
    ("contact", "4.1", "mood.after_failure", ("keywords",)),
    ("contact", "4.2", "mood.negative_messages", 3),
    ("contact", "4.2", "mood.timing_share", 0.7),
    ("contact", "4.2", "mood.timing_band_hours", 2),
    ("contact", "4.2", "mood.timing_days", 14),
    ("contact", "4.2", "mood.decline_share", 0.5),
    ("contact", "4.2", "mood.decline_days", 7),
    ("contact", "4.2", "mood.churn_step", 0.2),
    ("contact", "5.2", "relationship.building_sessions", 3),
    ("contact", "5.3", "relationship.established_sessions", 15),
    ("contact", "5.4", "relationship.deep_sessions", 30),
    ("contact", "5.4", "relationship.deep_streak_days", 14),
    ("contact", "5.1 to 5.4", "relationship.tokens", (0, 500, 1200, 2000)),
    ("contact", "6.1", "cycle.hours", 6),
    ("contact", "6.2", "compress.pattern_episodes", 5),
    ("chat", "Flow 1", "working_memory.turns", 20),
    ("chat", "Flow 1", "context.keep_verbatim", 10),
    ("chat", "Flow 2", "structured_facts.min_confidence", 0.4),
    ("chat", "Flow 2", "structured_facts.min_importance", 0.2),
    ("chat", "Long-term memory", "extract.importance.fact", 0.8),
    ("chat", "Flow 3, stage 1", "structured_facts.recall_importance", 0.5),
    ("chat", "Flow 3, stage 2", "recall.top_k", 3),
    ("chat", "Flow 3, stage 2", "recall.min_similarity", 0.6),
]  # fmt: skip


@pytest.mark.parametrize(("name", "section", "key", "number"), NUMBERS)
def test_a_number_of_a_seed_is_in_its_policy(name: str, section: str, key: str, number: Any) -> None:
    assert value(load_policy(name), key) == number, f"section {section}"


#: Words of the seeds and the policies whose rules must find them (Brain 4.2, Contact 3.1, Logic 1.5, Chat flow 2).
@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("brain", {"preference", "fact"}),
        ("contact", {"preference", "fact"}),
        ("logic", {"preference"}),
        ("chat", {"preference", "fact", "instruction"}),
        ("agent", {"preference", "fact"}),
        ("reverie", {"preference", "fact", "instruction"}),
    ],
)
def test_a_policy_has_rules_for_the_kinds_its_seed_names(name: str, kinds: set[str]) -> None:
    extract = load_policy(name).extract
    assert {rule.kind or extract.relations[rule.relation or ""].kind for rule in extract.rules} == kinds


def test_every_cycle_is_six_hours() -> None:
    assert {load_policy(name).cycle.period for name in shipped_policies()} == {timedelta(hours=6)}


@pytest.mark.parametrize("name", shipped_policies())
def test_the_sections_of_a_context_fit_it(name: str) -> None:
    context = load_policy(name).context
    sections = (context.system, context.profile, context.memories, context.service_data, context.history, context.tools)
    assert sum(sections) + context.buffer <= context.total


def value(policy: Policy, key: str) -> Any:
    """The number under a dotted key."""
    found: Any = policy
    for part in key.split("."):
        found = found[part] if isinstance(found, dict) else getattr(found, part)
    return found
