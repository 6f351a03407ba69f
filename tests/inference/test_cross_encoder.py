"""The cross-encoder from settings to an answer (spec D4), over a stand-in for its library, which is a gigabyte.

`make test-extras` asks the same of the library itself (`test_extra_models.py`).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from reverie.cli.root import reverie
from reverie.errors import InferenceError
from reverie.inference.cross_encoder import CrossEncoder
from reverie.inference.reranker import Scores

#: Each is a memory of the policy `logic`, whose score is the cross-encoder's alone.
FACTS = (
    "The nurse Priya works at the harbour clinic in Utrecht since 2019.",
    "My sister Ines bought a house with a garden in Lisbon in 2021.",
    "The peanut allergy of my son Tom was found in March 2020.",
    "Our golden retriever Bruno ate two of my shoes on 3 April 2025.",
    "The train to Berlin leaves Amsterdam at 9:15 from platform 7.",
    "Dr. Okafor moved the appointment to 12 May 2026.",
)
QUESTION = "what is she allergic to?"
ASKED = ("recall", QUESTION, "--subject", "ana", "--as-of", "2026-03-10", "--top-k", "6", "--json")


def remembered(
    database_url: str, tmp_path: Path, turns: Sequence[tuple[str, str]], reranker: Path, **settings: str
) -> CliRunner:
    """A command line over a history that is imported and consolidated with named models."""
    history = tmp_path / "history.jsonl"
    with history.open("w", encoding="utf-8") as file:
        for number, (source, text) in enumerate(turns):
            turn: dict[str, Any] = {"subject_id": "ana", "session_id": "s1", "source_id": source, "role": "user"}
            turn |= {"text": text, "said_at": f"2026-03-0{number + 1}T09:00:00Z"}
            file.write(json.dumps(turn) + "\n")
    names = {"REVERIE_RERANKER": f"sentence-transformers/{reranker}"}
    runner = CliRunner(
        env={"DATABASE_URL": database_url, "REVERIE_TENANT": "acme", "REVERIE_THREADS": "1", "REVERIE_DEVICE": None}
        | names
        | settings
    )
    for command in (["import", str(history)], ["run", "--as-of", "2026-03-10"]):
        done = runner.invoke(reverie, command)
        assert done.exit_code == 0, done.output
    return runner


class Network:
    """Reads a folder's weights of words; the number of a pair is the sum of those of the text's words."""

    def __init__(self, path: str, device: str | None) -> None:
        self._weights: dict[str, float] = json.loads((Path(path) / "weights.json").read_text())

    def predict(
        self, pairs: Sequence[tuple[str, str]], *, batch_size: int, show_progress_bar: bool, activation_fn: Any
    ) -> Scores:
        found = [sum(self._weights.get(word, 0.0) for word in text.lower().split()) for _, text in pairs]
        return np.asarray(activation_fn(np.array(found)), np.float32)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cross-encoder for which a train matters most, and then a dog."""
    library, torch = ModuleType("sentence_transformers"), ModuleType("torch")
    library.CrossEncoder = Network  # type: ignore[attr-defined]
    torch.sigmoid = lambda numbers: 1 / (1 + np.exp(-numbers))  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", library)
    monkeypatch.setitem(sys.modules, "torch", torch)
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / "weights.json").write_text(json.dumps({"train": 3.0, "retriever": 2.0, "peanut": -2.0}))
    return tmp_path / "tiny"


def ask(runner: CliRunner, **settings: str) -> Any:
    done = runner.invoke(reverie, ASKED, env=settings)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_its_order_is_the_answers_and_without_it_the_weighed_one_is(
    folder: Path, database_url: str, tmp_path: Path
) -> None:
    turns = [(f"t{place}", text) for place, text in enumerate(FACTS)]
    runner = remembered(database_url, tmp_path, turns, folder, REVERIE_POLICY="logic")
    answer, weighed = ask(runner), ask(runner, REVERIE_RERANKER="none")
    assert (answer["reranker"], answer["notes"]) == ("sentence-transformers/tiny", [])
    contents = [hit["content"] for hit in answer["hits"]]
    assert "train" in contents[0] and "retriever" in contents[1] and "peanut" in contents[-1]
    scores = CrossEncoder(str(folder)).score(QUESTION, contents).tolist()
    assert [hit["score"] for hit in answer["hits"]] == pytest.approx(scores, abs=1e-5)
    before = [hit["id"] for hit in weighed["hits"]]
    assert [hit["rank_weighed"] for hit in answer["hits"]] == [before.index(hit["id"]) + 1 for hit in answer["hits"]]
    gone = ask(runner, REVERIE_RERANKER=f"sentence-transformers/{tmp_path}/gone")
    assert gone["reranker"] is None and [hit["id"] for hit in gone["hits"]] == before
    (note,) = gone["notes"]
    assert note.startswith("The reranker gave no answer (") and note.endswith(": ranked by weighed signals alone.")


def test_what_is_no_number_for_each_text_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for made, sentence in (
        (np.array([0.5]), "one number for each of 2 texts"),
        (np.array([0.5, np.nan]), "one number"),
    ):
        monkeypatch.setattr(Network, "predict", lambda *_, made=made, **__: made)
        with pytest.raises(InferenceError, match=sentence):
            CrossEncoder(str(folder)).score("Who?", ["a", "b"])
