"""New weights are adopted only where held-out conversations find no less."""

from __future__ import annotations

from pathlib import Path

from reverie.evaluate.ranking.fitting import FEWEST, fit_kind, fit_kinds, weights_toml
from reverie.policy import RecallPolicy, load_policy
from tests.evaluate.test_weights import example, standing_examples

BEFORE = {"similarity": 1.0, "standing": 0.01}


def test_better_weights_are_adopted() -> None:
    fitted = fit_kind("message", standing_examples(70), BEFORE)
    assert fitted.is_adopted and fitted.worse == ()
    assert all(fold.after.recall_10 > fold.before.recall_10 for fold in fitted.folds)
    assert sum(fold.queries for fold in fitted.folds) == 70, "each query is held out once"


def test_worse_weights_are_not_adopted() -> None:
    """What is needed is told by another signal in each conversation: what is learned of some harms the others."""
    examples = [
        example(
            [{"similarity": 0.5, "memory": 1.0}] * 15 + [{"similarity": 0.55}],
            {15} if group == 0 else {0},
            places=[*range(16)],
            group=f"c{group}",
        )
        for group in (0, 1)
        for _ in range(40)
    ]
    fitted = fit_kind("message", examples, {"similarity": 1.0, "memory": 0.01})
    assert not fitted.is_adopted and fitted.worse == ("set",)


def test_too_few_queries_change_nothing() -> None:
    for examples in (standing_examples(FEWEST - 1), [example([{"similarity": 1.0}], {0}) for _ in range(FEWEST)]):
        fitted = fit_kind("message", examples, BEFORE)
        assert not fitted.is_adopted and not fitted.folds and fitted.after == BEFORE


def test_a_source_with_too_few_queries_is_left_out() -> None:
    fitted = fit_kind("message", standing_examples(65, sources=("large", "large", "small")), BEFORE)
    assert {fold.source for fold in fitted.folds} == {"large"}
    assert fitted.by_source == ()


def test_each_source_is_left_out_once() -> None:
    fitted = fit_kind("message", standing_examples(140, sources=("here", "there")), BEFORE)
    assert [(fold.source, fold.name) for fold in fitted.by_source] == [
        ("here", "without here"),
        ("there", "without there"),
    ]


def test_sources_that_share_a_conversation_share_its_fold() -> None:
    fitted = fit_kind("message", standing_examples(140, sources=("here", "there")), BEFORE)
    by_fold = {source: [f.name for f in fitted.folds if f.source == source] for source in ("here", "there")}
    assert by_fold["here"] == by_fold["there"] == ["1", "2", "3", "4", "5"]


def test_each_kind_starts_from_its_own_weights(tmp_path: Path) -> None:
    policy = RecallPolicy(weights={"lexical": 1.0}, query_weights={"message": BEFORE})
    (fitted,) = fit_kinds(standing_examples(70), policy)
    assert (fitted.kind, fitted.before) == ("message", BEFORE)
    path = tmp_path / "fitted.toml"
    path.write_text(weights_toml("reverie", [fitted]), encoding="utf-8")
    loaded, base = load_policy(str(path)).recall, load_policy("reverie").recall
    assert loaded.weights_for("message") == {**base.weights_for("message"), **fitted.after}
    assert loaded.weights_for("question") == base.weights
