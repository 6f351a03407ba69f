"""The sample history with the replies that were written down for it: used, believed, and enough to do it again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from psycopg.sql import SQL, Identifier

from reverie.capture.history.importing import import_file
from reverie.inference import load_embedder
from reverie.inference.completions import Limits
from reverie.inference.recorded import load_recorded
from reverie.policy import load_policy
from reverie.store.connect import connect
from reverie.store.database import Store
from reverie.store.digest import digest
from tests.conftest import Databases
from tests.promises.world import SAMPLE, consolidate

RECORDED = SAMPLE.with_name("recorded.jsonl")
TENANT = "demo"
#: Share of the recordings that must be used. Statements are worded otherwise than when most replies were written down,
#: so that three in ten questions (on patterns, and all on profiles) have none until they are recorded anew.
LEAST_USED = 0.65


@pytest.fixture(scope="module")
def runs(databases: Databases) -> Iterator[dict[str, Any]]:
    """What two runs counted, the second from the log and the kept replies alone, with a model that knows nothing."""
    model = load_recorded(RECORDED, limits=Limits(concurrency=2))
    embedder, policy = load_embedder("minilm", threads=1), load_policy("reverie")
    with databases() as url, Store.open(url) as store, connect(url) as conn:
        last = import_file(store, SAMPLE, tenant_id=TENANT).last
        assert last is not None
        until = last + timedelta(hours=6)  # as the demo
        found: dict[str, Any] = {}
        for turn, each in (("first", model), ("again", replace(model, replies={}))):
            counts: Counter[str] = Counter()
            for report in consolidate(store, TENANT, policy, until, embedder, each):
                if report.counts.get("asked"):
                    counts.update(report.counts | {"calls": report.model_calls})
            found[turn] = counts, digest(store, TENANT)
            found["texts"] = conn.execute("select count(*) from memory.memories where model is not null").fetchone()
            tables = conn.execute("select tablename from pg_tables where schemaname = 'memory'").fetchall()
            conn.execute(SQL("truncate {}").format(SQL(", ").join(Identifier("memory", row[0]) for row in tables)))
        yield found | {"model": model}


def test_the_recordings_are_used_and_believed(runs: dict[str, Any]) -> None:
    counts, _ = runs["first"]
    unanswered = sum(number for name, number in counts.items() if name.startswith("failed_"))
    assert counts["asked"] - unanswered >= LEAST_USED * len(runs["model"].replies) >= 260
    assert unanswered <= (1 - LEAST_USED) * counts["asked"]
    assert unanswered == counts["failed_unrecorded"]
    refused = ("discarded_ungrounded", "discarded_unquoted", "discarded_malformed", "asked_again")
    assert {name: counts[name] for name in refused if counts[name]} == {}
    assert counts["retold"] > 40 and counts["noted"] > 100 and runs["texts"][0] > 100


def test_the_whole_sample_is_made_again_from_what_was_kept(runs: dict[str, Any]) -> None:
    """Promise 4 with a model: the same digest, no reply that was not kept."""
    (first, before), (again, after) = runs["first"], runs["again"]
    assert after == before
    assert again["kept"] == first["asked"] - first["failed_unrecorded"]
    assert again["calls"] == 0
