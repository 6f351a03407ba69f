"""Ends that a language model judges: of the statements that were shown, with words of the message, once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Any

import pytest

from reverie.consolidate.facts.language_model import Endings, ends_prompt
from reverie.consolidate.stages import STAGES
from reverie.drive.cycle import catch_up, ingest, pending_cycles
from reverie.inference import load_embedder
from reverie.model import Scope
from reverie.policy import load_policy
from reverie.store.database import Store
from reverie.store.runs import Report
from reverie.store.work import Work
from tests.consolidate.test_compress import TENANT, say
from tests.models.conftest import Conn, Server, give

pytestmark = pytest.mark.filterwarnings("ignore:Item 'summary' on TypedDict:UserWarning")

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
MODEL = "litellm/openai/ours"
CHECKED = ("extract", "embed", "merge", "link")
LEFT = "Danny's jacked it in, he's off to be a teacher. My new supplier is Norbury."


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    """With one connection: a stage that held it while the model works would wait for itself."""
    with Store.open(database_url, size=1) as opened:
        yield opened


@pytest.fixture
def judge(store: Store, load: Any) -> Any:
    """Run the stages up to facts, of which facts alone has the server's model."""

    def run(days: float, *, model: bool = True, dry_run: bool = False, **limits: Any) -> Report:
        common: dict[str, Any] = {"scope": Scope(tenant_id=TENANT), "policy": load_policy("reverie")}
        work = Work(store=store, embedder=load_embedder("minilm"), as_of=START + timedelta(days=days), **common)
        by_name = {stage.name: stage for stage in STAGES}
        for name in CHECKED:
            by_name[name](work)
        asking = load(concurrency=1, **limits) if model else None
        return by_name["facts"](
            Work(
                store=store, embedder=work.embedder, as_of=work.as_of, language_model=asking, dry_run=dry_run, **common
            )
        )

    return run


def reply(*over: tuple[Any, ...]) -> dict[str, str]:
    ended = [dict(zip(("known", "quote", "rest"), each, strict=False)) for each in over]
    return {"content": json.dumps({"replies": [{"number": 1, "over": ended}]})}


def shown(server: Server) -> list[dict[str, Any]]:
    """What the model was shown of each message, in order."""
    texts = [request["messages"][-1]["content"] for request in server.requests]
    return [json.loads(text.removeprefix("<data>").removesuffix("</data>"))["items"][0] for text in texts]


def standing(conn: Conn) -> dict[str, bool]:
    rows = conn.execute("select content, valid_to is null from memory.memories where relation is not null")
    return {content: bool(holds) for content, holds in rows}


def history(conn: Conn) -> None:
    say(conn, "Danny works for me.", START, session="a")
    say(conn, "My supplier is Halden Mills.", START + timedelta(minutes=1), session="a")
    say(conn, LEFT, START + timedelta(days=3), session="b")


def test_ends_what_no_rule_sees(judge: Any, server: Server, conn: Conn) -> None:
    history(conn)
    judge(1)
    before = standing(conn)
    server.script(reply((1, "Danny's jacked it in")))
    assert all(before.values()) and any("Danny" in content for content in before)
    report = judge(4)
    (message,) = shown(server)[-1:]
    assert message["text"] == LEFT and message["date"] == "5 March 2026"
    assert [each["number"] for each in message["known"]] == list(range(1, len(message["known"]) + 1))
    assert "Danny" in message["known"][0]["text"] and message["known"][0]["date"] == "2 March 2026"
    assert (report["judged_ends"], report.model) == (1, MODEL)
    row = conn.execute(
        "select m.state, m.valid_to, b.turn_id = t.id, j.model from memory.judged_ends j"
        " join memory.memories m on m.id = j.memory_id join memory.memories b on b.id = m.superseded_by"
        " join log.turns t on t.id = j.turn_id"
    ).fetchone()
    assert row == ("superseded", START + timedelta(days=3), True, MODEL)
    asked = len(server.requests)
    assert judge(5)["judged_ends"] == 0 and len(server.requests) == asked


def test_claims_that_the_message_does_not_bear_out_end_nothing(judge: Any, server: Server, conn: Conn) -> None:
    history(conn)
    judge(1, model=False)
    server.script(reply((1, "Danny has resigned"), (9, "Danny's jacked it in"), (0, "he's off to be a teacher")))
    report = judge(4)
    assert (report["discarded_unquoted"], report["discarded_no_such_statement"], report["judged_ends"]) == (1, 2, 0)
    assert any("Danny" in content and holds for content, holds in standing(conn).items())


def test_a_message_waits_for_a_model_that_is_away(judge: Any, server: Server, conn: Conn) -> None:
    history(conn)
    judge(1, model=False)
    server.script(*[{"status": 503}] * 10)
    report = judge(4, attempts=1)
    assert report["judged"] == 0 and "judged_ends" in report.counts
    assert conn.execute("select count(*) from memory.extractions where ends_wait").fetchone() == (1,)
    server.script(reply((1, "Danny's jacked it in")))
    assert judge(5)["judged_ends"] == 1
    assert conn.execute("select count(*) from memory.extractions where ends_wait").fetchone() == (0,)


def test_a_message_waits_no_longer_when_nothing_is_near_to_it(judge: Any, server: Server, conn: Conn) -> None:
    history(conn)
    judge(1, model=False)
    server.script(*[{"status": 503}] * 10)
    judge(4, attempts=1)
    conn.execute("update memory.memories set phase = 'past' where happened_at < %s", (START + timedelta(days=3),))
    asked = len(server.requests)
    judge(5, model=False)
    assert conn.execute("select count(*) from memory.extractions where ends_wait").fetchone() == (1,)
    judge(6)
    assert conn.execute("select count(*) from memory.extractions where ends_wait").fetchone() == (0,)
    assert len(server.requests) == asked


def test_what_is_left_of_a_statement_is_a_memory_of_its_turn(judge: Any, server: Server, conn: Conn) -> None:
    listing = "Listing for the holiday let: sleeps 4, Porthleven, no dogs, 140 a night."
    first = say(conn, listing, START, session="a")
    second = say(conn, "I charge 160 a night for the loft now.", START + timedelta(days=3), session="b")
    judge(1, model=False)
    (whole,) = standing(conn)
    rest = whole.removesuffix(".").removesuffix(", 140 a night")
    server.script(reply((1, "160 a night", rest)))
    report = judge(4)
    assert (report["judged_ends"], report["rests"]) == (1, 1)
    row = conn.execute("select content, state, turn_id, origin, model from memory.memories where origin = 'rest'")
    assert row.fetchone() == (rest, "candidate", first.id, "rest", MODEL)
    lineage = conn.execute(
        "select l.relation, l.source_id from memory.lineage l join memory.memories m on m.id = l.memory_id"
        " where m.origin = 'rest' order by l.relation desc"
    )
    assert lineage.fetchall() == [("extracted", first.id), ("context", second.id)]
    asked = len(server.requests)
    judge(5)
    assert standing(conn)[rest] and len(server.requests) == asked, "nobody is asked about what is left"


def test_a_rest_with_other_words_is_none(judge: Any, server: Server, conn: Conn) -> None:
    history(conn)
    judge(1, model=False)
    server.script(reply((1, "Danny's jacked it in", "Danny worked for me")))
    report = judge(4)
    assert (report["judged_ends"], report["rests"], report["discarded_not_left"]) == (1, 0, 1)


def test_a_dry_run_and_a_policy_without_it_ask_nobody(judge: Any, server: Server, conn: Conn) -> None:
    history(conn)
    asked = len(server.requests)
    judge(4, dry_run=True)
    assert len(server.requests) == asked
    assert {name: load_policy(name).structured_facts.near for name in ("chat", "contact", "reverie")} == {
        "chat": 0, "contact": 0, "reverie": 12
    }  # fmt: skip


def test_its_prompt_says_what_the_reply_holds() -> None:
    prompt = ends_prompt(12)
    assert prompt.reply is Endings and "word for word" in prompt.system and '"known"' in prompt.system


def test_a_message_that_waits_makes_a_cycle_due(store: Store, load: Any, server: Server, conn: Conn) -> None:
    """Also if nothing else is new at a whole cycle, as in the runs of orchestrators."""
    history(conn)
    model, scope = load(concurrency=1, attempts=1), Scope(tenant_id=TENANT)
    common: dict[str, Any] = {"store": store, "scope": scope, "embedder": load_embedder("minilm")}
    common |= {"as_of": START.replace(hour=0) + timedelta(days=4), "policy": load_policy("reverie")}
    work = Work(language_model=model, **common)
    give(conn, 0, TENANT)
    list(chain(ingest(Work(**common)), catch_up(work)))
    assert conn.execute("select count(*) from memory.extractions where ends_wait").fetchone() == (1,)
    assert not server.requests
    conn.execute("update ops.credits set balance_usd = 100")
    server.script(reply((1, "Danny's jacked it in")))
    assert not list(pending_cycles(replace(work, language_model=None), work.as_of))
    assert [at for at, _ in pending_cycles(work, work.as_of)] == [work.as_of]
    (settled, *_) = [report for report in catch_up(work) if report.stage == "facts"]
    assert (settled["judged"], settled["judged_ends"]) == (1, 1), standing(conn)
    assert not list(pending_cycles(work, work.as_of))
