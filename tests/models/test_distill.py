"""`reverie reader`: the kept replies of a language model teach the reader of which turns the model must be asked."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from click.testing import CliRunner, Result
from psycopg.types.json import Jsonb

from reverie.cli.root import reverie
from reverie.consolidate.extract.stage import extract
from reverie.inference.reader import shared_reader
from reverie.model import Scope
from reverie.policy import Policy, load_policy
from reverie.store.database import Store
from reverie.store.digest import digest
from reverie.store.work import Work
from tests.consolidate.test_compress import TENANT, say
from tests.models.conftest import Conn, Server
from tests.models.test_extract_language_model import START, forget_all
from tests.promises.world import WordEmbedder

pytestmark = pytest.mark.filterwarnings("ignore:Item 'summary' on TypedDict:UserWarning")

PEOPLE = [f"person {number}" for number in range(16)]
CITIES = ("Graz", "Cork", "Lille", "Ghent")
Invoke = Callable[..., Result]
Keeps = Callable[[str, str], bool]


@pytest.fixture
def invoke(database_url: str, conn: Conn) -> Invoke:
    conn.execute("insert into ops.tenants (tenant_id, policy) values (%s, 'reverie')", [TENANT])

    def call(*arguments: str) -> Result:
        env = {"DATABASE_URL": database_url, "REVERIE_TENANT": TENANT, "REVERIE_THREADS": "1"}
        return CliRunner(env=env).invoke(reverie, ["reader", *arguments])

    return call


def told(conn: Conn) -> None:
    """Each person says where they live four times, every other time with a question after it."""
    for person in PEOPLE:
        for place, city in enumerate(CITIES):
            at = START + timedelta(minutes=place, hours=PEOPLE.index(person))
            text = f"i'm based around {city}." if place % 2 else f"i'm based around {city}. What time is it there?"
            say(conn, text, at, subject=person, session=f"s{place}")


def read(store: Store, load: Any, server: Server, keeps: Keeps) -> None:
    """Ask about each turn a model that keeps what it is told in some of them."""
    with store.transaction(TENANT) as conn:
        turns = conn.execute("select subject_id, text from log.turns order by id").fetchall()
    replies = [[{"number": 1, "notes": notes(text) if keeps(person, text) else []}] for person, text in turns]
    server.script(*({"content": json.dumps({"replies": reply})} for reply in replies))
    assert extract(work(store, load(concurrency=1)))["asked"] == len(turns)


def notes(text: str) -> list[dict[str, Any]]:
    city = text.partition(".")[0].rpartition(" ")[2]
    claim = {"kind": "fact", "text": f"Lives in {city}", "quote": f"i'm based around {city}", "confidence": 0.9}
    return [claim | {"relation": "lives_in", "object": city}]


def work(store: Store, model: Any = None, policy: Policy | None = None) -> Work:
    return Work(
        store=store, scope=Scope(tenant_id=TENANT), policy=policy or load_policy("reverie"),
        as_of=START + timedelta(days=9), embedder=WordEmbedder(), language_model=model,
    )  # fmt: skip


def readers(conn: Conn) -> set[str]:
    return {row[0] for row in conn.execute("select distinct reader from memory.extractions")}


def test_it_learns_what_the_model_keeps_and_asks_about_the_rest(
    store: Store, load: Any, server: Server, conn: Conn, invoke: Invoke
) -> None:
    """A model that keeps what is told before a question alone: where none is asked the reader errs, sure as it is."""
    told(conn)
    read(store, load, server, lambda person, text: "?" in text)
    shipped = shared_reader().model
    assert readers(conn) == {shipped}
    found = json.loads(invoke("distill", "--least", "50", "--json").stdout)
    assert found["adopted"] and found["replies"] == len(PEOPLE) * len(CITIES) and found["gain"]["low"] > 0
    assert found["version"].startswith(f"{shipped}+") and found["fitted"] + found["turns"] == found["replies"]
    (half,) = (place for place, point in enumerate(found["before"]) if place and point["saved"] == 0.5)
    assert found["before"][half]["agreement"] < found["after"][half]["agreement"] == 1.0
    text = invoke("distill", "--least", "50").stdout
    assert "64 replies of litellm/openai/ours." in text and f"{found['version']} is in force" in text, "the same again"
    shown = invoke("show").stdout
    assert found["version"] in shown and "64 replies of litellm/openai/ours" in shown

    before = digest(store, TENANT)
    forget_all(conn)
    server.script()
    given = load_policy("reverie").extract
    ((steps,),) = conn.execute("select head -> 'steps' from ops.reader_heads").fetchall()
    sure = steps[0][1] + 0.7 * (steps[-1][1] - steps[0][1])
    model = given.model.model_copy(update={"when": "unsure", "sure": sure})
    unsure = load_policy("reverie").model_copy(update={"extract": given.model_copy(update={"model": model})})
    extract(work(store, load(concurrency=1), unsure))
    assert readers(conn) == {found["version"]} and digest(store, TENANT) != before
    asked = conn.execute(
        """select t.text like '%?', e.model is not null, count(*) from memory.extractions e
           join log.turns t on t.id = e.turn_id group by 1, 2 order by 1, 2"""
    ).fetchall()
    assert {row[:2] for row in asked} == {(False, True), (True, False)}, "asked about where it errs, and there alone"

    assert f"{found['version']} is no longer in force" in invoke("reset", "--yes").stdout
    shown = invoke("show").stdout
    assert f"In force: {shipped}, as shipped" in shown and "no longer in force (1)" in shown
    forget_all(conn)
    extract(work(store, load(concurrency=1)))
    assert readers(conn) == {shipped} and digest(store, TENANT) == before
    assert "already in use" in invoke("reset", "--yes").stdout


def test_where_nothing_tells_nothing_changes(
    store: Store, load: Any, server: Server, conn: Conn, invoke: Invoke
) -> None:
    told(conn)
    read(store, load, server, lambda person, text: zlib.crc32(f"{person} {text}".encode()) % 2 == 0)
    result = invoke("distill", "--least", "50")
    assert result.exit_code == 0 and "Nothing changes." in result.stdout
    assert conn.execute("select count(*) from ops.reader_heads").fetchone() == (0,)
    assert json.loads(invoke("show", "--json").stdout) == {
        "in_force": shared_reader().model, "reader": shared_reader().model, "heads": []
    }  # fmt: skip


def test_too_few_replies_or_people_are_said_so(
    store: Store, load: Any, server: Server, conn: Conn, invoke: Invoke
) -> None:
    assert "kept replies about 0 turns; the reader needs at least 1,000" in invoke("distill").output
    say(conn, "I live in Bergen.", START, subject="ana")
    read(store, load, server, lambda person, text: True)
    few = invoke("distill", "--least", "1")
    assert few.exit_code != 0 and "too few people" in few.output
    brain = invoke("distill", "--policy", "brain")
    assert brain.exit_code != 0 and "has no reader to train" in brain.output


def test_a_head_of_another_reader_is_not_used(store: Store, conn: Conn, invoke: Invoke) -> None:
    conn.execute(
        """insert into ops.reader_heads (tenant_id, version, reader, head, models, replies, figures, made_at)
           values (%s, 'reader-old+1', 'reader-old', %s, '{m}', 1, '{}', %s)""",
        [TENANT, Jsonb({"means": [], "scales": [], "weights": [], "steps": []}), START],
    )
    say(conn, "I live in Bergen.", START, subject="ana")
    extract(work(store))
    assert readers(conn) == {shared_reader().model}
    assert "reader-old+1 was learned for another version of the reader" in invoke("show").stdout
