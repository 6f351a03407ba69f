"""Kept replies with their turns, and what a model claims of a turn beside what is found in it without the model."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from reverie.evaluate.distill.labels import TurnExample, turn_examples
from reverie.evaluate.distill.replied import count_replied, replied_turns
from reverie.policy import load_policy
from reverie.store.database import Store
from tests.consolidate.test_compress import TENANT, say

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
POLICY = load_policy("reverie")
Conn = psycopg.Connection[Any]


def keep(conn: Conn, reply: Any, *source_ids: Any, model: str = "m", day: int = 0) -> None:
    conn.execute(
        """insert into ops.replies (tenant_id, model, prompt_hash, input_hash, subject_id, source_ids, reply, call_id,
                                    made_at)
           values (%s, %s, '', %s, 'arjun', %s, %s, gen_random_uuid(), %s)""",
        [TENANT, model, str(source_ids).encode(), list(source_ids), Jsonb(reply), START + timedelta(days=day)],
    )


def note(text: str, quote: str, **more: Any) -> dict[str, Any]:
    return {"kind": "fact", "text": text, "quote": quote} | more


def test_the_latest_reply_counts_with_what_the_model_was_shown(conn: Conn, database_url: str) -> None:
    asked = say(conn, "Where do you live?", START, subject="arjun")
    conn.execute("update log.turns set role = 'assistant', speaker = null")
    first = say(conn, "Bergen.", START + timedelta(minutes=1))
    unfit = say(conn, "I live in Oslo now.", START + timedelta(minutes=2))
    keep(conn, {"notes": []}, first.id, asked.id, model="old")
    keep(conn, {"notes": [note("Lives in Bergen", "Bergen.")]}, first.id, asked.id, model="new", day=1)
    keep(conn, {"notes": [{"kind": "fact"}]}, unfit.id)
    keep(conn, {"summary": "x"}, asked.id)
    with Store.open(database_url) as store:
        assert count_replied(store, TENANT) == 2, "a summary is of no turn"
        ((replied,),) = replied_turns(store, TENANT, POLICY)
    assert (replied.turn.id, replied.model, [one.text for one in replied.reply.notes]) == (
        first.id,
        "new",
        ["Lives in Bergen"],
    )
    assert replied.turn.before_texts == ["Where do you live?"] and replied.row[-1] == "Where do you live?"


BERGEN, PHONE = "I live in Bergen", "My phone number is 0151 2345600"


@pytest.mark.parametrize(
    ("said", "notes", "counts"),
    [
        (f"{BERGEN}.", [note("Lives in Bergen", BERGEN, relation="lives_in", object="Bergen")], (1, 1, 1)),
        (f"{BERGEN}.", [note("Lives in Bergen", BERGEN)], (1, 1, 1)),
        (f"{BERGEN}.", [note("Lives in Bergen", BERGEN, relation="comes_from", object="Bergen")], (1, 1, 0)),
        (f"{BERGEN}.", [], (1, 0, 0)),
        (f"{BERGEN}.", [note("Lives in Narvik", BERGEN)], (1, 0, 0)),
        (f"{PHONE}.", [note("Phone is 0151 2345600", PHONE)], (1, 1, 1)),
    ],
    ids=["states it", "says it", "states another", "keeps nothing", "invents", "a pattern knows it"],
)  # fmt: skip
def test_what_both_have_is_counted(conn: Conn, database_url: str, said: str, notes: list[Any], counts: Any) -> None:
    keep(conn, {"notes": notes}, say(conn, said, START).id)
    with Store.open(database_url) as store:
        ((replied,),) = replied_turns(store, TENANT, POLICY)
    (example,) = turn_examples([replied], TENANT, POLICY, len)
    assert example[3:] == counts and example.subject_id == "arjun"
    assert example.errors == counts[0] + counts[1] - 2 * counts[2]


def test_errors_are_what_one_of_both_has() -> None:
    assert TurnExample("ana", 0.5, (), 3, 2, 1).errors == 3
