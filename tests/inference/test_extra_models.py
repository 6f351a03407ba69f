"""An embedder and a cross-encoder by name, from settings to an answer; `make test-extras` installs what they need."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from reverie.cli.root import reverie
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
    history = tmp_path / "history.jsonl"
    with history.open("w", encoding="utf-8") as file:
        for number, (source, text) in enumerate(TURNS):
            turn: dict[str, Any] = {"subject_id": "ana", "session_id": "s1", "source_id": source, "role": "user"}
            turn |= {"text": text, "said_at": f"2026-03-0{number + 1}T09:00:00Z"}
            file.write(json.dumps(turn) + "\n")
    names = {
        "REVERIE_EMBEDDING_MODEL": f"sentence-transformers/{embedder_folder}",
        "REVERIE_RERANKER": f"sentence-transformers/{reranker_folder}",
    }
    runner = CliRunner(
        env={"DATABASE_URL": database_url, "REVERIE_TENANT": "acme", "REVERIE_THREADS": "1", "REVERIE_DEVICE": None}
        | names
    )
    for command in (["import", str(history)], ["run", "--as-of", "2026-03-10"]):
        done = runner.invoke(reverie, command)
        assert done.exit_code == 0, done.output
    asked = ["recall", "what is she allergic to?", "--subject", "ana", "--as-of", "2026-03-10", "--json"]
    answer = json.loads(runner.invoke(reverie, asked).stdout)
    assert (answer["model"], answer["reranker"]) == ("sentence-transformers/tiny", "sentence-transformers/tiny")
    assert answer["hits"] and answer["notes"] == []
    assert all("signal_rerank" in hit and hit["weight_similarity"] == 0 for hit in answer["hits"])
    without = json.loads(runner.invoke(reverie, asked, env={"REVERIE_RERANKER": "none"}).stdout)
    assert without["reranker"] is None and "signal_rerank" not in without["hits"][0]
