"""The candidates of labelled queries with their signals, by recall's own statement."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import numpy as np
from psycopg import Connection

from reverie.capture.history.importing import import_file
from reverie.drive.cycle import catch_up, ingest
from reverie.evaluate.ranking.sets import LabelledQuery, LabelledSet
from reverie.evaluate.ranking.weights import Example
from reverie.inference import Embedder
from reverie.model import Scope
from reverie.policy import SIGNALS, Policy
from reverie.recall.question import ParsedQuestion, read_question
from reverie.recall.result import Hit, Signals
from reverie.recall.search import Search, search
from reverie.store.database import Store
from reverie.store.queries import queries
from reverie.store.work import Work

#: Maximum number of ranked candidates: more than the searches find.
_ALL = 10_000
#: Number of queries embedded in one call.
_AT_ONCE = 256


def load_set(
    store: Store,
    labelled: LabelledSet,
    *,
    policy: Policy,
    embedder: Embedder,
    progress: Callable[[str], None] = lambda _stage: None,
) -> None:
    """Import a set as a tenant of its name and run every stage; existing data stays."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "turns.jsonl"
        path.write_text("".join(f"{json.dumps(record)}\n" for record in labelled.records), encoding="utf-8")
        summary = import_file(store, path, tenant_id=labelled.name, policy=policy.name)
    until = (summary.last or datetime(2024, 1, 1, tzinfo=UTC)) + timedelta(days=1)
    scope = Scope(tenant_id=labelled.name)
    work = Work(store=store, scope=scope, policy=policy, as_of=until, embedder=embedder)
    for report in (*ingest(work), *catch_up(work)):
        progress(report.stage)


def parsed_queries(
    conn: Connection[Any], tenant_id: str, asked: Sequence[LabelledQuery], *, policy: Policy, embedder: Embedder
) -> Iterator[tuple[LabelledQuery, ParsedQuestion, Any, datetime]]:
    """Yield each query as recall parses it, with its vector and the time as of which it is asked."""
    known = {
        subject: (speakers, last)
        for subject, speakers, last in conn.execute(queries("ranking")["subjects"], {"tenant": tenant_id}).fetchall()
    }
    for start in range(0, len(asked), _AT_ONCE):
        parsed = []
        for query in asked[start : start + _AT_ONCE]:
            if query.subject_id not in known:
                continue
            speakers, last = known[query.subject_id]
            at = query.asked_at or last + timedelta(seconds=1)
            parsed.append((query, read_question(query.text, policy=policy.recall, speakers=speakers, asked_at=at), at))
        vectors = embedder.encode([question.spoken for _, question, _ in parsed])
        for (query, question, at), vector in zip(parsed, vectors, strict=True):
            yield query, question, vector, at


def examples_of(
    store: Store, source: str, asked: Sequence[LabelledQuery], *, policy: Policy, embedder: Embedder
) -> Iterator[Example]:
    """Yield each query with all its candidates; `source` is the tenant whose memory is searched.

    Queries without a candidate, or about an unknown subject, are left out.
    """
    weights = dict.fromkeys(SIGNALS, 1.0)
    numbers = policy.recall.model_copy(update={"weights": weights, "query_weights": {}})
    every = policy.model_copy(update={"recall": numbers})
    with store.transaction(source) as conn:
        turns = turn_places(conn, source)
        for query, question, vector, at in parsed_queries(conn, source, asked, policy=policy, embedder=embedder):
            wanted = Search(
                tenant_id=source, subject_id=query.subject_id, question=question, vector=vector, model=embedder.model,
                as_of=at, ranked=_ALL,
            )  # fmt: skip
            found = search(conn, wanted, every)
            hits = [hit for hit, reason in found if reason is None]
            if not hits:
                continue
            numbered: dict[str, int] = {}
            places = [numbered.setdefault(key, len(numbered)) if key else -1 for key in keys_of(hits, query, turns)]
            yield Example(
                source=source,
                kind=question.kind,
                group=query.group,
                category=query.category,
                signals=np.array([_measured(cast("Signals", hit.signals)) for hit in hits], np.float32),
                places=np.array(places),
                needs=frozenset(numbered.setdefault(key, len(numbered)) for key in sorted(query.needs)),
            )


def _measured(signals: Signals) -> list[float]:
    return [signals.measured(name) for name in SIGNALS]


def turn_places(conn: Connection[Any], tenant_id: str) -> dict[Any, str]:
    """Return the caller's id of each turn of a tenant."""
    return dict(conn.execute(queries("ranking")["turns"], {"tenant": tenant_id}).fetchall())


def keys_of(hits: Iterable[Hit], query: LabelledQuery, turns: dict[Any, str]) -> list[str | None]:
    """Return the id of each hit's item, turn or session, in the unit of the query; None: it has none."""
    if query.unit == "session":
        return [hit.session_id for hit in hits]
    if query.unit == "item":
        return [str(hit.turn_id or hit.id) for hit in hits]
    return [turns.get(hit.turn_id) for hit in hits]
