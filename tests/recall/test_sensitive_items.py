"""What is sensitive by its stored vector is withheld too, and only where the vectors are those of the classifier."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest

from reverie.inference import Embedder, load_embedder, to_half_wire
from reverie.recall.places.sensitive import VectorClasses, without_sensitive
from reverie.recall.places.sensitive_items import read_vector_classes
from reverie.recall.result import Hit, Signal
from reverie.store.session import perform

#: Nothing in these gives itself away by a word of the table.
LOVE, SOUP = "We made love about once a year, he and I.", "The soup needs more salt."


@pytest.fixture(scope="module")
def minilm() -> Embedder:
    return load_embedder("minilm")


class StoredVectors:
    """A session that has vectors of items."""

    tenant_id = "acme"

    def __init__(self, rows: list[tuple[UUID, bytes]]) -> None:
        self.rows, self.asked = rows, list[dict[str, Any]]()

    async def run(self, statement: Any) -> list[tuple[UUID, bytes]]:
        self.asked.append(statement.params)
        return self.rows


def hit(content: str) -> Any:
    return Hit(
        item="memory", id=uuid4(), kind="fact", content=content, happened_at=datetime(2026, 1, 1, tzinfo=UTC),
        score=0.2, signals={"similarity": Signal(value=0.2, weight=1.0)}, ranks={}, turn_id=None, session_id=None,
        importance=0.7,
    )  # fmt: skip


def told(minilm: Embedder, message: str, model: str) -> tuple[StoredVectors, list[Any], VectorClasses]:
    candidates = [(hit(LOVE), None), (hit(SOUP), None), (hit(LOVE), "similarity")]
    wire = to_half_wire(minilm.encode([LOVE, SOUP]))
    rows = [(candidates[place][0].id, wire[place].tobytes()) for place in range(2)]
    session = StoredVectors(rows)
    classes: VectorClasses = perform(
        read_vector_classes(
            session,  # type: ignore[arg-type]
            candidates, minilm.encode([message])[0], subject_id="ana", model=model, among=2,
        )
    )  # fmt: skip
    return session, candidates, classes


def test_a_memory_is_withheld_by_its_vector(minilm: Embedder) -> None:
    session, candidates, classes = told(minilm, "What a day, the sun is out!", minilm.model)
    assert session.asked[0]["ids"] == [candidates[0][0].id, candidates[1][0].id]
    assert dict(classes.items) == {candidates[0][0].id: frozenset({"sexuality"})} and not classes.message
    kept = without_sensitive(candidates, "What a day!", ("sexuality",), near=0.4, among=10, by_vector=classes)
    assert [reason for _, reason in kept] == ["sensitive", None, "similarity"]


def test_a_message_of_the_same_class_brings_it_up(minilm: Embedder) -> None:
    message = "He and I slept together for the first time."
    _, candidates, classes = told(minilm, message, minilm.model)
    assert "sexuality" in classes.message
    kept = without_sensitive(candidates, message, ("sexuality",), near=0.4, among=10, by_vector=classes)
    assert kept[0][1] is None


def test_vectors_of_another_model_tell_nothing(minilm: Embedder) -> None:
    _, _, classes = told(minilm, "What a day!", "another-model")
    assert classes == VectorClasses()
