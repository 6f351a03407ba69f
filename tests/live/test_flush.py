"""Working memory ends in the log: when a session goes quiet, waits long, is closed, or its time is over."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reverie.capture.append import insert_turns
from reverie.capture.live import flush as stage
from reverie.consolidate.extract import stage as extract_stage
from reverie.drive import flush as driven
from reverie.drive.rebuild import empty_memory
from reverie.errors import StageError
from reverie.model import Scope, Turn
from reverie.policy import load_policy
from reverie.store.work import Work
from tests.live.conftest import AT, TENANT, Talk, after
from tests.promises.world import WordEmbedder


def test_a_quiet_session_is_flushed(talk: Talk) -> None:
    talk.say("I have a dog named Bruno.")
    talk.say("He is three.", at=after(4))
    assert talk.flush(after(8.9)) == []
    (report,) = talk.flush(after(9))
    assert (report["sessions"], report["logged"], report["turns"], report["ended"]) == (1, 2, 2, 0)
    assert talk.texts() == ["I have a dog named Bruno.", "He is three."]
    assert talk.flush(after(9)) == []
    assert talk.rows("select turns, due_at, said_at from ops.queue") == [(2, after(9), after(4))]
    assert talk.rows("select stage, status, report ->> 'logged' from ops.runs") == [("flush", "done", "2")]


def test_a_short_reply_is_read_with_its_question_and_comes_to_the_same_as_imported(talk: Talk) -> None:
    reply = {"role": "user", "speaker": "Ana", "text": "Pune"}
    talk.send({"role": "assistant", "speaker": "Copilot", "text": "And where do you live?"}, reply)
    talk.flush(after(5))
    talk.send({"role": "assistant", "speaker": "Copilot", "text": "What's your dog called?"}, at=after(20))
    talk.flush(after(30))
    talk.send(reply | {"text": "Rex"}, at=after(31))
    talk.flush(after(40))
    found = "select id, content from memory.memories order by id"
    live = talk.rows(found)
    assert [content.rpartition(" ")[2] for _, content in live] == ["Pune", "Rex"]
    work = Work(
        store=talk.store, scope=Scope(tenant_id=TENANT), policy=talk.policy, as_of=after(60), embedder=WordEmbedder()
    )  # fmt: skip
    empty_memory(work)
    extract_stage.extract(work)
    assert talk.rows(found) == live


def test_one_that_never_goes_quiet_waits_no_longer_than_allowed(talk: Talk) -> None:
    for minute in range(0, 40, 4):
        talk.say(f"Minute {minute}.", at=after(minute))
        talk.flush(after(minute))
    assert talk.texts()[-1] == "Minute 32."
    session = talk.read(after(36))
    assert session is not None
    assert session.flush_at == after(41)


def test_what_is_held_outlives_a_quiet_hour_and_not_the_day(talk: Talk) -> None:
    talk.say("Shall we delete it?")
    talk.hold(confirmations=[{"delete": "post 7"}])
    talk.flush(after(5))
    session = talk.read(after(60))
    assert session is not None
    assert session.confirmations == [{"delete": "post 7"}]
    assert [turn.text for turn in session.turns] == ["Shall we delete it?"]
    assert talk.read(after(24 * 60 + 1)) is None
    talk.say("A new day.", at=after(25 * 60))
    session = talk.read(after(25 * 60))
    assert session is not None
    assert ([turn.text for turn in session.turns], session.confirmations) == (["A new day."], [])


def test_an_entry_past_its_end_is_gone(talk: Talk) -> None:
    talk.say("Hello there.")
    talk.flush(after(5))
    (report,) = talk.flush(after(24 * 60))
    assert (report["sessions"], report["logged"], report["ended"]) == (1, 0, 1)
    assert not talk.rows("select from ops.sessions")


def test_a_closed_session_ends_with_its_flush(talk: Talk) -> None:
    talk.say("I have a dog.", "And a cat.")
    assert talk.close(after(1)) == 2
    (report,) = talk.flush(after(1))
    assert (report["logged"], report["ended"]) == (2, 1)
    assert talk.read(after(1)) is None
    assert talk.close(after(2)) is None
    talk.say("I am back.", at=after(3))
    session = talk.read(after(3))
    assert session is not None
    assert [turn.text for turn in session.turns] == ["I am back."]


def test_a_turn_after_closing_opens_it_again(talk: Talk) -> None:
    talk.say("One.")
    talk.close(after(1))
    talk.say("Two.", at=after(1))
    assert talk.flush(after(2)) == []
    session = talk.read(after(2))
    assert session is not None
    assert [turn.text for turn in session.turns] == ["One.", "Two."]


def test_more_sessions_than_a_batch(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage, "BATCH", 3)
    for number in range(8):
        replace(talk, session=f"s{number}").say(f"Number {number}.")
    reports = talk.flush(after(9))
    assert [report["sessions"] for report in reports] == [3, 3, 2]
    assert talk.rows("select count(*) from log.turns") == [(8,)]


def test_what_the_log_has_otherwise_meanwhile_becomes_a_dead_letter(talk: Talk) -> None:
    talk.say("I have a dog.", "I have a cat.", source_id=None)
    talk.say("Live.", source_id="x")
    turn = Turn(
        tenant_id=TENANT, subject_id="ana", session_id="s1", source_id="x", role="user", speaker=None, said_at=AT,
        text="Imported.",
    )  # fmt: skip
    with talk.store.transaction(TENANT) as conn:
        insert_turns(conn, TENANT, [turn])
    (report,) = talk.flush(after(9))
    assert (report["logged"], report["conflicts"], report["repeated"]) == (2, 1, 0)
    assert talk.rows("select source, reason from ops.dead_letters") == [("live", "conflict")]
    assert sorted(talk.texts()) == ["I have a cat.", "I have a dog.", "Imported."]


def test_a_session_that_fails_keeps_no_other_from_the_log(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b", "c"):
        replace(talk, subject=name, session=name).say(f"I am session {name}.")
    original = extract_stage.write_turns

    def fails(conn, attempt, decisions):  # type: ignore[no-untyped-def]
        if "b" in {verdict.subject_id for verdict in decisions.verdicts}:
            raise RuntimeError("what the user said")
        original(conn, attempt, decisions)

    monkeypatch.setattr(extract_stage, "write_turns", fails)
    with pytest.raises(StageError, match=r"1 sessions could not be flushed: RuntimeError") as told:
        talk.flush(after(9))
    assert "what the user said" not in str(told.value)
    assert talk.rows("select session_id from log.turns order by 1") == [("a",), ("c",)]
    assert talk.rows("select session_id from ops.pending_turns") == [("b",)]
    assert ("failed",) in talk.rows("select status from ops.runs")
    monkeypatch.setattr(extract_stage, "write_turns", original)
    assert talk.flush(after(10)) == []
    assert len(talk.flush(after(14))) == 1
    assert talk.rows("select count(*) from log.turns") == [(3,)]


def test_tenants_are_flushed_by_their_own_policy(talk: Talk) -> None:
    from reverie.store.tenants import ensure_tenant

    other = Talk(talk.store, load_policy("contact"), tenant="other")
    with talk.store.transaction("other") as conn:
        ensure_tenant(conn, "other", "contact")
    talk.say("I have a dog.")
    other.say("I have a dog.")
    policies = {TENANT: talk.policy, "other": other.policy}
    reports = list(driven.flush_due(talk.store, policy_of=policies.__getitem__, as_of=after(9), count_tokens=len))
    assert [report["logged"] for report in reports] == [1, 1]
    assert talk.rows("select distinct policy from ops.runs") == [("reverie",)]
    assert other.rows("select distinct policy from ops.runs") == [("contact",)]


def test_a_refused_turn_leaves_no_mood(talk: Talk) -> None:
    talk.say("I'm so sad today.")
    with talk.store.transaction(TENANT) as conn:
        refused = "insert into ops.consents (tenant_id, subject_id, capture, changed_at) values (%s, 'ana', false, %s)"
        conn.execute(refused, [TENANT, after(1)])
    (report,) = talk.flush(after(9))
    assert (report["logged"], report["refused"]) == (0, 1)
    assert not talk.rows("select from log.moods")


def test_lists_written_after_closing_stay(talk: Talk) -> None:
    talk.say("One.")
    talk.close(after(1))
    talk.hold(at=after(1), preferences=["blog-only focus"])
    (report,) = talk.flush(after(2))
    assert (report["logged"], report["ended"]) == (1, 0)
    session = talk.read(after(2))
    assert session is not None
    assert session.preferences == ["blog-only focus"]
