"""A database of an older revision, with rows in every table, is upgraded in one step and worked on from there.

`revision_0015.sql.xz` is a dump (`pg_dump --inserts`) that the code of that revision left: the compact history, half of
it worked in before a correction, a pin and a logged recall, model replies, turns on their way to the log, and a made-up
row in tables that these leave empty.
"""

from __future__ import annotations

import lzma
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from reverie.drive.advance import advance
from reverie.drive.rebuild import empty_memory
from reverie.model import Scope
from reverie.recall.query import RecallQuery
from reverie.recall.recall import recall
from reverie.store.connect import connect
from reverie.store.database import Store
from reverie.store.digest import digest
from reverie.store.migrate import migrate
from reverie.store.revisions import known_revisions
from reverie.store.session import perform
from reverie.store.work import Work
from reverie.testing import DatabaseFactory, WordEmbedder
from tests.promises import compact
from tests.promises.compact import TENANT, UNTIL
from tests.store.test_schema import RECORDED, describe

OLD = Path(__file__).parent / "revision_0015.sql.xz"
LATER = UNTIL + timedelta(days=1)


@pytest.fixture(scope="module")
def old(database_factory: DatabaseFactory) -> Iterator[tuple[str, dict[str, int]]]:
    """The upgraded database, and the rows that it had before by table."""
    assert database_factory.template, "the roles of the server"
    with database_factory.empty() as url:
        with connect(url) as conn:
            conn.execute(lzma.decompress(OLD.read_bytes()))
        with connect(url) as conn:
            before = counted(conn)
        assert migrate(url) == known_revisions()[-1]
        yield url, before


def counted(conn: psycopg.Connection[Any]) -> dict[str, int]:
    """Rows by table."""
    tables = conn.execute(
        """select c.oid::regclass::text from pg_class c
           where c.relnamespace::regnamespace::text in ('log', 'memory', 'ops') and c.relkind = 'r' order by 1"""
    ).fetchall()
    return {
        table: conn.execute(f"select count(*) from {table}").fetchone()[0]  # type: ignore[index]  # noqa: S608
        for (table,) in tables
    }


def test_every_row_is_kept_and_the_schema_is_that_of_a_new_database(old: tuple[str, dict[str, int]]) -> None:
    url, before = old
    assert len(before) > 45 and min(before.values()) > 0, "every table has rows"
    with connect(url) as conn:
        after = counted(conn)
        assert {table: rows for table, rows in before.items() if after.get(table) != rows} == {}
        tenants, keyed = after["ops.tenants"], after["ops.erasure_keys"]
        assert tenants == keyed, "what is erased is marked by keys that a backup has"
        marked = conn.execute(
            """select r.standing, count(*), count(a.recall_id) from log.recalls r
               left join memory.accesses a on a.tenant_id = r.tenant_id and a.recall_id = r.id group by 1"""
        ).fetchall()
        assert marked == [("counted", after["log.recalls"], after["memory.accesses"])]
        withheld = conn.execute(
            """select c.memory_kind is not null, c.source_ids, array(
                   select k.item_id from memory.marks k
                   where k.tenant_id = c.tenant_id and k.correction_id = c.id and k.item = 'turn' order by k.item_id)
               from log.corrections c where c.kind in ('wrong', 'replace', 'forget')"""
        ).fetchall()
        assert withheld and all(kind and sources == marked for kind, sources, marked in withheld if marked)
        assert any(sources for _, sources, _ in withheld), "turns that a correction withheld before"
        assert after["memory.signal_days"] == 10, "days that were read before there were signals"
        assert "\n".join(describe(conn)) + "\n" == RECORDED.read_text(encoding="utf-8")


def test_stages_go_on_and_recall_answers(old: tuple[str, dict[str, int]]) -> None:
    url, _ = old
    with Store.open(url, size=2) as store:
        work = Work(
            store=store,
            scope=Scope(tenant_id=TENANT),
            policy=compact.policy(),
            as_of=LATER,
            embedder=WordEmbedder(),
        )
        assert {"flush", "signal"} <= {report.stage for report in advance(work)}, "pending turns came in"
        found = asked(store, "Where does her brother live?")
        assert "Turin" in found and "Has a beagle named Otto" in asked(store, "Who is Otto?")
        lived = digest(store, TENANT)
        assert lived.tables["moods"].rows > 20
        list(advance(work))
        assert digest(store, TENANT).tables == lived.tables
        empty_memory(work)
        list(advance(work))
        assert "Turin" in asked(store, "Where does her brother live?")


def asked(store: Store, question: str) -> str:
    """What is recalled, as one text."""
    query = RecallQuery(text=question, subject_id="ana", as_of=LATER)
    result = perform(recall(store.session(TENANT), query, policy=compact.policy(), embedder=WordEmbedder()))
    return " ".join(hit.told for hit in result.hits)
