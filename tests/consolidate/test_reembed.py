"""reembed: another model beside the live one, switched when complete; recall never mixes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from reverie.consolidate.embed.stage import embed
from reverie.drive.cycle import catch_up, ingest
from reverie.drive.reembed import reembed
from reverie.errors import InferenceError, SettingsError
from reverie.inference import Vectors
from reverie.model import Scope
from reverie.policy import load_policy
from reverie.recall.query import RecallQuery
from reverie.recall.recall import recall
from reverie.store.database import Store
from reverie.store.session import perform
from reverie.store.work import Work
from reverie.testing import DatabaseFactory
from tests.promises.world import WordEmbedder

UNTIL = datetime(2026, 9, 1, tzinfo=UTC)
COMMON: dict[str, Any] = {"scope": Scope(tenant_id="t"), "policy": load_policy("reverie")}
OLD = WordEmbedder()


class Wider(WordEmbedder):
    """Another model, of other dimensions; may fail after some texts."""

    model = "wider words"
    dimensions = 128

    def __init__(self, fails_after: int = 10**9, meanwhile: Any = None) -> None:
        self._left = fails_after
        self._meanwhile = meanwhile or (lambda: None)

    def encode(self, texts: Any) -> Vectors:
        self._left -= len(texts)
        if self._left < 0:
            raise InferenceError("The model gave no answer.")
        meanwhile, self._meanwhile = self._meanwhile, lambda: None
        meanwhile()
        return super().encode(texts)


@pytest.fixture(scope="module")
def brought(logged: str, database_factory: DatabaseFactory) -> str:
    """The name of a database with the sample remembered by the old model: to copy."""

    def make(url: str) -> None:
        with Store.open(url, size=1) as store:
            bring(store, OLD)

    return database_factory.prepared("sample_of_t_remembered", make, template=logged)


@pytest.fixture(scope="module")
def templates() -> dict[str, str]:
    return {"remembered": "brought"}


@pytest.fixture
def remembered(store: Store) -> Store:
    return store


def bring(store: Store, embedder: WordEmbedder) -> None:
    given = COMMON | {"embedder": embedder}
    for _ in (*ingest(Work(store=store, as_of=UNTIL, **given)), *catch_up(Work(store=store, as_of=UNTIL, **given))):
        pass


def go(store: Store, embedder: WordEmbedder, **more: Any) -> list[Any]:
    return list(reembed(Work(**COMMON | {"store": store, "as_of": UNTIL, "embedder": embedder} | more)))


def models(conn: psycopg.Connection[Any]) -> dict[str, int]:
    return dict(conn.execute("select model, count(*) from memory.vectors group by 1").fetchall())


def ask(store: Store, embedder: WordEmbedder) -> Any:
    recalled = recall(
        store.session("t"),
        RecallQuery(text="What does she love?", subject_id=subject(store), as_of=UNTIL),
        policy=COMMON["policy"],
        embedder=embedder,
    )
    return perform(recalled)


def subject(store: Store) -> str:
    with store.transaction("t") as conn:
        row = conn.execute("select subject_id from memory.subjects order by items desc, subject_id limit 1").fetchone()
    assert row is not None
    return str(row[0])


def test_the_first_model_is_the_live_one_and_another_is_refused(
    remembered: Store, conn: psycopg.Connection[Any]
) -> None:
    assert conn.execute("select model from ops.tenants").fetchone() == ("words",)
    with pytest.raises(SettingsError, match="^The memory of tenant t is embedded by words, and this process has wider"):
        embed(Work(store=remembered, as_of=UNTIL, embedder=Wider(), **COMMON))
    answer = ask(remembered, Wider())
    assert any("embedded by words" in note for note in answer.notes)
    assert {hit.signals["similarity"].value for hit in answer.hits if hit.signals} <= {None, 0.0}


def test_everything_is_embedded_beside_switched_and_the_old_removed(
    remembered: Store, conn: psycopg.Connection[Any]
) -> None:
    before = models(conn)
    seen: list[dict[str, int]] = []
    alive = conn.execute("select item_id, part, live from memory.vectors order by 1, 2").fetchall()
    answers: list[Any] = []

    def meanwhile() -> None:
        answers.append(ask(remembered, OLD))
        seen.append(models(conn))

    *_, last = go(remembered, Wider(meanwhile=meanwhile))
    assert answers[0].notes == ()
    assert seen == [before]
    assert models(conn) == {"wider words": before["words"]}
    assert last["removed"] == before["words"]
    assert conn.execute("select item_id, part, live from memory.vectors order by 1, 2").fetchall() == alive
    assert ask(remembered, Wider()).notes == ()
    assert ask(remembered, OLD).notes != ()
    with pytest.raises(SettingsError):
        embed(Work(store=remembered, as_of=UNTIL, embedder=OLD, **COMMON))
    bring(remembered, Wider())
    assert [report["removed"] for report in go(remembered, Wider())] == [0, 0]


def test_killed_it_goes_on(remembered: Store, conn: psycopg.Connection[Any]) -> None:
    before = models(conn)["words"]
    with pytest.raises(InferenceError):
        go(remembered, Wider(fails_after=120))
    assert ask(remembered, OLD).notes == ()
    assert conn.execute("select model from ops.tenants").fetchone() == ("words",)
    go(remembered, Wider())
    assert models(conn) == {"wider words": before}


def test_what_is_embedded_meanwhile_is_caught_up_with(remembered: Store, conn: psycopg.Connection[Any]) -> None:
    def meanwhile() -> None:
        # its id is less than all others, so that no later batch of the first pass finds it
        conn.execute(
            """insert into log.turns (tenant_id, id, subject_id, session_id, source_id, turn_index, role, said_at, text,
                                      content_hash)
               values ('t', '00000000-0000-4000-8000-000000000001', %s, 'late', 'late', 0, 'user', %s,
                       'I live in Lisbon.', 'x')""",
            [subject(remembered), UNTIL],
        )
        bring(remembered, OLD)

    before = models(conn)["words"]
    reports = go(remembered, Wider(meanwhile=meanwhile))
    assert len([report for report in reports if report.stage == "embed"]) == 2
    assert models(conn).keys() == {"wider words"}
    assert models(conn)["wider words"] > before


def test_vectors_that_the_policy_does_not_make_are_removed(remembered: Store, conn: psycopg.Connection[Any]) -> None:
    before = conn.execute("select count(*) from memory.vectors where item = 'memory'").fetchall()
    go(remembered, Wider(), policy=load_policy("brain"))
    kept = "select model, item, count(*) from memory.vectors group by 1, 2"
    assert conn.execute(kept).fetchall() == [("wider words", "memory", *before[0])]


def test_what_workers_embedded_after_the_given_time_is_embedded_too(
    remembered: Store, conn: psycopg.Connection[Any]
) -> None:
    before = models(conn)["words"]
    go(remembered, Wider(), as_of=UNTIL - timedelta(days=365))
    assert models(conn) == {"wider words": before}


def test_an_item_on_which_the_new_model_fails_is_left_without(remembered: Store, conn: psycopg.Connection[Any]) -> None:
    (failing,) = conn.execute("select text from log.turns where text <> '' order by id limit 1").fetchone() or ("",)

    class Failing(Wider):
        def encode(self, texts: Any) -> Vectors:
            if any(failing in text for text in texts):
                raise KeyError
            return super().encode(texts)

    go(remembered, Failing())
    assert models(conn).keys() == {"wider words"}
    without = """select count(*) from log.turns t where text <> ''
                 and not exists (select from memory.vectors v where v.item_id = t.id)"""
    letters = """select count(*) from ops.dead_letters d join log.turns t on t.id = d.item::uuid
                 where d.source = 'stage:embed'"""
    assert conn.execute(without).fetchall() == conn.execute(letters).fetchall() != [(0,)]
