"""Trends as memories: in words, with their numbers as lineage, superseded when they change; live as imported."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reverie.capture.history.importing import import_file
from reverie.drive.cycle import catch_up, ingest
from reverie.model import Scope
from reverie.policy import Policy, load_policy
from reverie.store.database import Store
from reverie.store.digest import digest
from reverie.store.work import Work
from reverie.testing import WordEmbedder

BEGIN = datetime(2026, 1, 5, 9, tzinfo=UTC)
END = datetime(2026, 4, 1, tzinfo=UTC)
SAID = ("My recipe post got {} views.", "The new recipe post has {} views so far.", "Recipe post: {} views.")


@pytest.fixture(scope="module")
def policy() -> Policy:
    return load_policy("brain")


def history() -> list[dict[str, Any]]:
    """Views of posts over eight weeks: those of recipes rise, those of news do not. And a shop's outcomes."""
    random = np.random.default_rng(5)
    records: list[dict[str, Any]] = []

    def record(subject: str, at: datetime, text: str, role: str = "user", **more: Any) -> None:
        common = {
            "subject_id": subject,
            "session_id": f"{subject}-{at:%m-%d}",
            "source_id": f"{subject}-{len(records)}",
        }
        records.append(common | {"role": role, "said_at": at.isoformat(), "text": text} | more)

    for place in range(14):
        at = BEGIN + timedelta(days=4 * place)
        record("ana", at, SAID[place % 3].format(round(310 + 110 * place / 13 + 10 * random.normal())))
        record("ana", at + timedelta(days=1), f"The news post got {round(120 + 20 * random.normal())} views.")
        call = {
            "name": "suggest_post",
            "arguments": {"category": "recipe", "title": f"A title of some length, {place}"},
        }
        record("shop", at, "I have an idea.", "assistant", tool_calls=[call])
        decision = {name: records[-1][name] for name in ("subject_id", "session_id", "source_id")}
        outcome = {"type": "outcome", "metric": "sales", "positive": True, "value": 80 - 3 * place + random.normal()}
        records.append(decision | outcome | {"observed_at": (at + timedelta(days=3)).isoformat()})
    return records


def work_in(store: Store, records: list[dict[str, Any]], path: Path, until: datetime, policy: Policy) -> Work:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    import_file(store, path, tenant_id="t", now=END)
    work = Work(store=store, scope=Scope(tenant_id="t"), policy=policy, as_of=until, embedder=WordEmbedder())
    for _ in (*ingest(work), *catch_up(work)):
        pass
    return work


def rows(store: Store, statement: str) -> list[tuple[Any, ...]]:
    with store.transaction("t") as conn:
        return conn.execute(statement).fetchall()


def test_numbers_become_insights(store: Store, other_store: Store, tmp_path: Path, policy: Policy) -> None:
    records = history()
    work = work_in(store, records, tmp_path / "all.jsonl", END, policy)
    told = "select subject_id, content from memory.memories where origin = 'trend' and state = 'active' order by 1"
    (ana, views), (shop, sales) = rows(store, told)
    assert (ana, shop) == ("ana", "shop")
    assert views.startswith("Recipe post: rose from 3") and " views over " in views
    assert "Mann-Kendall test, p < 0.001" in views and "numbers from 5 January to " in views
    assert sales.startswith("Recipe post: fell from ") and " sales over " in sales
    # each rests on its numbers alone, a turn as context and an outcome as outcome
    sources = rows(
        store,
        """select m.subject_id, l.source, l.relation, count(*), bool_and(coalesce(t.text ~ 'ecipe', true))
           from memory.memories m join memory.lineage l on l.memory_id = m.id
           left join log.turns t on t.id = l.source_id
           where m.origin = 'trend' and m.state = 'active' group by 1, 2, 3 order by 1""",
    )
    assert [row[:3] for row in sources] == [("ana", "turn", "context"), ("shop", "outcome", "outcome")]
    assert all(row[3] >= 8 and row[4] for row in sources)
    # a trend that has grown superseded the one before, and the fact in force is the latest
    ((superseded,),) = rows(
        store,
        "select count(*) from memory.memories where origin = 'trend' and state = 'superseded' and subject_id = 'ana'",
    )
    assert superseded >= 1
    facts = rows(
        store, "select key, value from memory.structured_facts where origin = 'trend' and valid_to is null order by key"
    )
    assert facts == [("trend:sell-post", sales), ("trend:view-recip", views)]
    ((before,),) = rows(store, "select count(*) from memory.measurements")
    assert before == 14 * 3
    for _ in (*ingest(work), *catch_up(work)):
        pass
    assert rows(store, told) == [(ana, views), (shop, sales)]
    first = digest(store, "t")
    for day in (15, 40, 86):
        until = BEGIN + timedelta(days=day)
        when = [r for r in records if r.get("observed_at", r.get("said_at", "")) < until.isoformat()]
        work_in(other_store, when, tmp_path / f"{day}.jsonl", min(until, END), policy)
    assert digest(other_store, "t") == first
