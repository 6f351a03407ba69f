"""An embedder and a cross-encoder by name, from settings to an answer; `make test-extras` installs what they need."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reverie.cli.root import reverie
from reverie.inference.loading import load_reranker
from tests.inference.test_cross_encoder import FACTS, QUESTION, remembered
from tests.inference.test_local import folder as embedder_folder  # noqa: F401
from tests.inference.test_reranker import folder as reranker_folder  # noqa: F401

TURNS = (
    ("a", "I have a golden retriever named Bruno."),
    ("b", "I am allergic to peanuts."),
    ("c", "I work as a nurse at the harbour clinic."),
)


def test_a_history_is_remembered_and_recalled_by_named_models(
    database_url: str,
    tmp_path: Path,
    embedder_folder: Path,  # noqa: F811
    reranker_folder: Path,  # noqa: F811
) -> None:
    embedder = f"sentence-transformers/{embedder_folder}"
    runner = remembered(database_url, tmp_path, TURNS, reranker_folder, REVERIE_EMBEDDING_MODEL=embedder)
    asked = ["recall", QUESTION, "--subject", "ana", "--as-of", "2026-03-10", "--json"]
    answer = json.loads(runner.invoke(reverie, asked).stdout)
    assert (answer["model"], answer["reranker"]) == ("sentence-transformers/tiny", "sentence-transformers/tiny")
    assert answer["hits"] and answer["notes"] == []
    assert all("signal_rerank" in hit and hit["weight_similarity"] == 0 for hit in answer["hits"])
    without = json.loads(runner.invoke(reverie, asked, env={"REVERIE_RERANKER": "none"}).stdout)
    assert without["reranker"] is None and "signal_rerank" not in without["hits"][0]


def test_the_hits_stand_in_the_order_of_the_cross_encoder(
    database_url: str,
    tmp_path: Path,
    reranker_folder: Path,  # noqa: F811
) -> None:
    turns = [(f"t{place}", text) for place, text in enumerate(FACTS)]
    runner = remembered(database_url, tmp_path, turns, reranker_folder, REVERIE_POLICY="logic")
    asked = ["recall", QUESTION, "--subject", "ana", "--as-of", "2026-03-10", "--top-k", "6"]
    weighed = json.loads(runner.invoke(reverie, [*asked, "--json"], env={"REVERIE_RERANKER": "none"}).stdout)
    answer = json.loads(runner.invoke(reverie, [*asked, "--json"]).stdout)
    before, hits = [hit["id"] for hit in weighed["hits"]], answer["hits"]
    assert len(hits) == len(FACTS) and sorted(before) == sorted(hit["id"] for hit in hits)
    reranker = load_reranker(f"sentence-transformers/{reranker_folder}")
    assert reranker is not None
    scores = reranker.score(QUESTION, [hit["content"] for hit in hits]).tolist()
    assert [hit["signal_rerank"] for hit in hits] == pytest.approx(scores, abs=1e-5)
    assert [hit["score"] for hit in hits] == pytest.approx(scores, abs=1e-5)
    assert scores == sorted(scores, reverse=True)
    assert [hit["id"] for hit in hits] != before, "the weighed signals have another order"
    assert [hit["rank_weighed"] for hit in hits] == [before.index(hit["id"]) + 1 for hit in hits]
    shown = runner.invoke(reverie, [*asked, "--why"]).output
    assert "reranker sentence-transformers/tiny" in shown and "rerank" in shown and "weighed" in shown
