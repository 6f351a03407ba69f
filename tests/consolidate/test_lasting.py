"""What lasts and what ends: durable relations do not fade, plans end by their own time; live as in a backfill."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row

from reverie.capture.history.importing import import_file
from reverie.capture.live.corrections import CorrectionAsked, correct_memory
from reverie.consolidate.extract.decide import decide_turns, turns_frame
from reverie.consolidate.merge.decide import NearMemory, decide_merges
from reverie.consolidate.merge.undo import undo
from reverie.language.cues.immediate import extract_candidates
from reverie.model import Turn, stable_id
from reverie.policy import Policy
from reverie.store.database import Store
from reverie.store.digest import digest
from reverie.store.session import perform
from tests.promises.test_corrected import wipe
from tests.promises.world import consolidate, lively

Conn = psycopg.Connection[Any]

START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)  # a Monday
POLICY = lively(
    merge={"threshold": 0.9},
    compress={"running_turns": 0, "session_threshold": 0},
    extract={
        "episodes": "none",
        "reader": {"read": False},
        "plan_days": 60.0,
        "relations": {
            "lives_in": {"lasts": "durable", "wording": "Lives in {object}", "values": "one"},
            "plans": {"lasts": "expiring", "wording": "Plans to {object}"},
        },
        "rules": [
            {"name": "live", "cues": ["live in"], "pattern": "i live in (?P<x>.+)", "relation": "lives_in"},
            {"name": "move", "cues": ["moving"], "pattern": "i'm moving to (?P<x>.+)", "relation": "lives_in",
             "phase": "planned", "template": "Is moving to {x}"},
            {"name": "plan", "cues": ["going to"], "pattern": "i'm going to (?P<x>.+)", "relation": "plans"},
            {"name": "do", "cues": ["i do"], "pattern": "i do (?P<x>.+)", "kind": "fact",
             "template": "Is living in {x}"},
        ],
    }
)  # fmt: skip
SAID = {
    "I live in Oslo": 0,
    "I do Bergen": 0,
    "I'm going to fly to Rome next Friday": 0,
    "I'm going to paint the kitchen": 0,
    "I'm moving to Bergen in March": 0,
}


def told(path: Path, said: dict[str, float], tenant: str = "t") -> Path:
    rows = [
        {"tenant_id": tenant, "subject_id": "ann", "session_id": f"s{day}", "source_id": str(number), "role": "user",
         "said_at": (START + timedelta(days=day, minutes=number)).isoformat(), "text": text}
        for number, (text, day) in enumerate(said.items())
    ]  # fmt: skip
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def up_to(store: Store, days: float, policy: Policy = POLICY, tenant: str = "t") -> None:
    consolidate(store, tenant, policy, START + timedelta(days=days))


def contents(conn: Conn) -> dict[str, dict[str, Any]]:
    with conn.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute("select * from memory.memories where tenant_id = 't'").fetchall()
    return {row["content"]: row for row in rows}


@pytest.fixture
def imported(store: Store, tmp_path: Path) -> Store:
    import_file(store, told(tmp_path / "a.jsonl", SAID), tenant_id="t", now=START + timedelta(days=1))
    return store


def test_each_ends_in_its_own_way(imported: Store, conn: Conn) -> None:
    up_to(imported, 1)
    ends = {content: row["expires_at"] for content, row in contents(conn).items()}
    assert ends == {
        "Lives in Oslo": None,
        "Is living in Bergen": None,
        "Plans to fly to Rome next Friday": datetime(2026, 1, 17, tzinfo=UTC),
        "Plans to paint the kitchen": START + timedelta(days=60, minutes=3),
        "Is moving to Bergen in March": datetime(2026, 4, 1, tzinfo=UTC),
    }
    up_to(imported, 50)
    assert "Plans to fly to Rome next Friday" not in contents(conn)
    up_to(imported, 900)
    left = contents(conn)
    # the subject said nothing more, and is not forgotten for that
    assert set(left) == {"Lives in Oslo", "Is living in Bergen"}
    kept = left["Lives in Oslo"]
    assert (kept["lasting"], kept["forget_at"]) == (True, None)
    assert kept["importance"] == kept["peak"] == kept["base"]
    reasons = conn.execute("select reason, count(*) from memory.tombstones group by 1 order by 1").fetchall()
    assert reasons == [("expired", 3)]


def test_at_once_as_day_by_day(store: Store, tmp_path: Path) -> None:
    for tenant, days in (("t", [1, 20, 50, 51, 130, 400]), ("u", [400])):
        import_file(store, told(tmp_path / tenant, SAID, tenant), tenant_id=tenant, now=START + timedelta(days=1))
        for day in days:
            up_to(store, day, tenant=tenant)
    with store.transaction("t") as one, store.transaction("u") as other:
        query = "select content, state, importance, peak, accessed_at, forget_at from memory.memories order by content"
        ended = "select kind, reason, importance, forgotten_at from memory.tombstones order by forgotten_at, kind"
        for asked in (query, ended):
            assert one.execute(asked).fetchall() == other.execute(asked).fetchall()


def test_both_tiers_see_the_same_end() -> None:
    for number, text in enumerate(SAID):
        turn = Turn(
            tenant_id="t",
            subject_id="ann",
            session_id="s",
            source_id=str(number),
            role="user",
            speaker=None,
            text=text,
            said_at=START + timedelta(minutes=number),
            turn_index=number,
        )
        row = (str(turn.id), "ann", "s", "user", None, turn.said_at, text, None, None)
        batch = decide_turns(turns_frame([row]), "t", POLICY, len).candidates
        live = extract_candidates(turn, POLICY, len).candidates
        assert list(live) == batch
        assert len(live) == 1


def test_undo_takes_back_that_a_memory_lasts(store: Store, conn: Conn, tmp_path: Path) -> None:
    """The survivor of a plan and a fact lasts; parted from the fact, it ends as the plan did."""
    where = "the old brick house by the lake in Oslo"
    said = {f"I do {where}": 0, f"I live in {where}": 1}
    import_file(store, told(tmp_path / "a.jsonl", said), tenant_id="t", now=START + timedelta(days=1))
    up_to(store, 2, POLICY.model_copy(update={"merge": POLICY.merge.model_copy(update={"threshold": 0.7})}))
    rows = contents(conn)
    lost = next(row for row in rows.values() if row["state"] == "merged")
    kept = next(row for row in rows.values() if row["state"] == "active")
    assert kept["lasting"] and kept["forget_at"] is None
    undo(store, tenant_id="t", loser_id=lost["id"], policy=POLICY, as_of=START + timedelta(days=3))
    rows = contents(conn)
    assert {content: row["lasting"] for content, row in rows.items()} == {
        f"Lives in {where}": True,
        f"Is living in {where}": False,
    }
    assert {content for content, row in rows.items() if row["forget_at"]} == {f"Is living in {where}"}


def test_what_is_separated_while_it_is_superseded_still_lasts(
    store: Store, conn: Conn, database_url: str, tmp_path: Path
) -> None:
    said = {"I live in Oslo": 0.0, "I live in Oslo.": 1.0, "I live in Hamburg": 10.0}
    import_file(store, told(tmp_path / "a.jsonl", said), tenant_id="t", now=START + timedelta(days=11))
    up_to(store, 11)
    query = "select id, into_id from memory.memories where state = 'merged'"
    ((lost, kept),) = conn.execute(query).fetchall()
    undo(store, tenant_id="t", loser_id=lost, policy=POLICY, as_of=START + timedelta(days=12))
    query = "select state, lasting, forget_at is null from memory.memories where id = %s"
    assert conn.execute(query, [kept]).fetchone() == ("superseded", True, False)
    wrong = CorrectionAsked(memory_id=contents(conn)["Lives in Hamburg"]["id"])
    perform(correct_memory(store.session("t"), wrong, policy=POLICY, as_of=START + timedelta(days=13)))
    up_to(store, 14)
    assert conn.execute(query, [kept]).fetchone() == ("active", True, True)
    wipe(database_url)
    up_to(store, 14)
    assert conn.execute(query, [kept]).fetchone() == ("active", True, True)


def test_what_is_in_force_again_has_not_faded(store: Store, conn: Conn, database_url: str, tmp_path: Path) -> None:
    """A rebuild, in which no decay runs while it is superseded, gives the same."""
    said = {"I live in Oslo": 0.0, "I live in Hamburg": 10.0}
    import_file(store, told(tmp_path / "a.jsonl", said), tenant_id="t", now=START + timedelta(days=11))
    up_to(store, 200)
    rows = contents(conn)
    faded = rows["Lives in Oslo"]
    assert faded["state"] == "superseded" and faded["importance"] < faded["peak"]
    wrong = CorrectionAsked(memory_id=rows["Lives in Hamburg"]["id"])
    perform(correct_memory(store.session("t"), wrong, policy=POLICY, as_of=START + timedelta(days=210)))
    up_to(store, 211)
    kept = contents(conn)["Lives in Oslo"]
    assert (kept["state"], kept["importance"], kept["decayed_at"]) == ("active", kept["peak"], kept["accessed_at"])
    lived = digest(store, "t")
    wipe(database_url)
    up_to(store, 211)
    assert digest(store, "t") == lived


def test_the_survivor_lasts_if_one_of_the_two_does() -> None:
    when = START
    first, second = (
        NearMemory(stable_id(when, text), "ann", "fact", state, text, 0, 0.5, at, at, 1, lasting=lasting)
        for text, state, at, lasting in [
            ("Lives in Oslo", "active", when, True),
            ("Lives in Oslo now", "candidate", when + timedelta(days=300), False),
        ]
    )
    decision = decide_merges([first, second], [(first.id, second.id, 0.99)], [], POLICY)
    (merge_,) = decision.merges
    assert merge_.survivor.lasting
    # the lasting one has not faded meanwhile
    assert merge_.peak_after == pytest.approx(0.5 + POLICY.merge.reinforce)


def test_a_plan_that_is_made_again_after_its_end_is_another() -> None:
    def plan(day: float, ends: float) -> NearMemory:
        at = START + timedelta(days=day)
        end = START + timedelta(days=ends)
        return NearMemory(
            stable_id(at, "plan"), "ann", "fact", "candidate", "Is away this week", 0, 0.5, at, at, 0, expires_at=end
        )

    first, same, later = plan(0, 5), plan(1, 6), plan(100, 105)
    pairs = [(first.id, same.id, 0.99), (first.id, later.id, 0.99), (same.id, later.id, 0.99)]
    decision = decide_merges([first, same, later], pairs, [], POLICY)
    assert [(each.survivor.id, each.loser.id) for each in decision.merges] == [(first.id, same.id)]
    assert decision.kept_apart["expired"] == 1
    assert first.expires_at == same.expires_at
