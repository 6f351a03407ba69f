"""A corpus written item by item, and the sample history through the whole pipeline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import psycopg
import pytest

from reverie.inference import Embedder, Vectors, load_embedder, to_half_wire
from reverie.model import stable_id
from reverie.policy import Policy, load_policy
from reverie.recall.question import ParsedQuestion, read_question
from reverie.recall.search import Search, search
from reverie.store.database import Store
from reverie.store.queries import queries
from reverie.testing import DatabaseFactory

START = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
LATER = START + timedelta(days=300)
MODEL, DIMENSIONS = "words", 8
SAMPLE = Path(__file__).resolve().parents[2] / "examples" / "sample_history.jsonl"


def day(number: float) -> datetime:
    return START + timedelta(days=number)


def policy_with(**recall: Any) -> Policy:
    """The default policy with other numbers for recall."""
    policy = load_policy("reverie")
    return policy.model_copy(update={"recall": policy.recall.model_copy(update=recall)})


class Corpus:
    """Writes turns and memories as `extract` and `embed` would, with the vectors and states that a test wants."""

    def __init__(self, conn: psycopg.Connection[Any], tenant: str = "acme", subject: str = "ann") -> None:
        self.conn, self.tenant, self.subject, self.number = conn, tenant, subject, 0
        conn.execute("insert into ops.tenants (tenant_id) values (%s) on conflict do nothing", [tenant])

    def turn(self, text: str, *, at: datetime | None = None, **given: Any) -> UUID:
        """Say it; `speaker`, `role`, `session`, `asked_by` and `vectors` may be given."""
        self.number += 1
        at = at or day(self.number / 100)
        id_ = stable_id(at, self.tenant, self.subject, str(self.number))
        self.conn.execute(
            "insert into log.turns (tenant_id, id, subject_id, session_id, source_id, turn_index, role, speaker,"
            " said_at, text, content_hash) values (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, '')",
            [self.tenant, id_, self.subject, given.get("session", "s1"), str(self.number), self.number,
             given.get("role", "user"), given.get("speaker"), at, text],
        )  # fmt: skip
        speaker = given.get("speaker")
        self._write("turn", id_, f"{speaker}: {text}" if speaker else text, at, given)
        return id_

    def memory(self, text: str, *, at: datetime | None = None, **given: Any) -> UUID:
        """Remember it; `kind`, `state`, `importance`, `expires_at`, `turn` and `vectors` may be given."""
        self.number += 1
        at = at or day(self.number / 100)
        id_ = stable_id(at, self.tenant, self.subject, str(self.number))
        importance = given.get("importance", 0.7)
        self.conn.execute(
            "insert into memory.memories (tenant_id, id, subject_id, kind, state, content, content_hash, base, peak,"
            " importance, happened_at, accessed_at, decayed_at, expires_at, turn_id, origin, run_id, policy_hash)"
            " values (%s, %s, %s, %s, %s, %s, '', %s, %s, %s, %s, %s, %s, %s, %s, 'test', %s, 'test')",
            [self.tenant, id_, self.subject, given.get("kind", "fact"), given.get("state", "active"), text,
             importance, importance, importance, at, at, at, given.get("expires_at"), given.get("turn"), UUID(int=0)],
        )  # fmt: skip
        self._write("memory", id_, text, at, given)
        return id_

    def search(self, question: ParsedQuestion | str = "", **given: Any) -> list[tuple[Any, str | None]]:
        """Search in the reader's role, bound to this corpus's tenant unless another is given."""
        policy = given.pop("policy", None) or load_policy("reverie")
        at = given.get("as_of", LATER)
        if isinstance(question, str):
            question = read_question(question, policy=policy.recall, speakers=(), asked_at=at)
        common = {"tenant_id": self.tenant, "subject_id": self.subject, "vector": None, "model": MODEL}
        wanted = Search(**(common | {"question": question, "as_of": at} | given))
        with self.conn.transaction():
            self.conn.execute("set local role reverie_reader")
            self.conn.execute("select set_config('reverie.tenant', %s, true)", [wanted.tenant_id])
            return search(self.conn, wanted, policy)

    def _write(self, item: str, id_: UUID, text: str, at: datetime, given: dict[str, Any]) -> None:
        vectors: Sequence[Any] = given.get("vectors", [np.eye(DIMENSIONS, dtype=np.float32)[0]])
        live = given.get("state", "active") in ("candidate", "active")
        for part, wire in enumerate(to_half_wire(np.stack(vectors).astype(np.float32))):
            with self.conn.cursor().copy(
                "copy memory.vectors (tenant_id, subject_id, model, item_id, part, item, live, vec)"
                " from stdin (format binary)"
            ) as copy:
                copy.set_types(["text", "text", "text", "uuid", "int2", "text", "bool", "bytea"])
                copy.write_row((self.tenant, self.subject, MODEL, id_, part, item, live, wire.tobytes()))
        columns = {
            "tenant": self.tenant, "item": item, "language": "english", "item_ids": [id_], "texts": [text],
            "subject_ids": [self.subject], "subjects": [self.subject], "session_ids": [given.get("session", "s1")],
            "happened_at": [at], "speakers": [given.get("speaker")], "roles": [given.get("role", "user")],
            "words": [len(text.split())], "asks": [text.endswith("?")], "first_person": [False],
            "names_time": [False], "asked_by": [given.get("asked_by")],
        }  # fmt: skip
        for name in ("write_items", "write_speakers"):
            self.conn.execute(queries("embed")[name], columns)


@pytest.fixture
def corpus(conn: psycopg.Connection[Any]) -> Corpus:
    return Corpus(conn)


@pytest.fixture
def reader(database_url: str) -> Iterator[Store]:
    with Store.open(database_url, role="reader", size=1) as opened:
        yield opened


class FixedEmbedder:
    """Every text is the first axis."""

    model, dimensions, price_per_token = MODEL, DIMENSIONS, 0.0

    def encode(self, texts: Sequence[str]) -> Vectors:
        return np.tile(np.eye(DIMENSIONS, dtype=np.float32)[0], (len(texts), 1))

    def count_tokens(self, text: str) -> int:
        return len(text.split())


@pytest.fixture(scope="session")
def embedder() -> Embedder:
    return load_embedder("minilm", threads=1)


@pytest.fixture(scope="session")
def sample_store(database_factory: DatabaseFactory, sample: str) -> Iterator[Store]:
    """A reader of the sample history; tenant `demo`."""
    with database_factory.copy(sample) as url, Store.open(url, role="reader", size=1) as store:
        yield store
