"""Turns as they are said: safe once acknowledged, counted once, answered with what the rules make of them."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest

from reverie.errors import ConflictError, InputError
from tests.live.conftest import AT, TENANT, Talk, after


def test_the_answer_says_what_the_rules_make_of_it(talk: Talk) -> None:
    told = talk.say("Always ask about my dog Bruno.", "lol", "Do you like dogs?")
    kinds = [[each.kind for each in heard.noticed.candidates] for heard in told.turns]
    assert kinds[0][0] == "instruction"
    assert told.turns[0].noticed.candidates[0].mentions == ("pet:bruno",)
    assert [heard.noticed.reason for heard in told.turns] == [None, "low_content", "question"]
    assert told.flush_at == after(5)


def test_what_was_answered_is_what_is_written(talk: Talk) -> None:
    told = talk.say("This is my brother Bruno.", "Bruno ate my shoes yesterday.")
    call = {"name": "book_vet", "arguments": {"when": "Monday", "a": 1}, "why": "Bruno ate shoes", "result": "booked"}
    done = talk.send({"role": "assistant", "text": "Booked.", "tool_calls": [call]}, at=after(1))
    talk.flush(after(6.1))
    written = talk.rows("select id, kind, content, state, turn_id from memory.memories order by id")
    answered = [
        (each.id, each.kind, each.content, "candidate", heard.turn_id)
        for heard in (*told.turns, *done.turns)
        for each in heard.noticed.candidates
    ]
    assert written == sorted(answered)
    assert any(row[2] == "book vet: a 1, when Monday → booked — Bruno ate shoes" for row in written)


def test_a_turn_sent_twice_counts_once(talk: Talk) -> None:
    first = talk.say("I have a dog.", source_id="1")
    again = talk.say("I have a dog.", source_id="1", at=after(1))
    assert [heard.status for heard in (*first.turns, *again.turns)] == ["added", "repeated"]
    assert again.turns[0].turn_id == first.turns[0].turn_id
    assert again.turns[0].said_at == AT
    assert again.turns[0].noticed == first.turns[0].noticed
    talk.flush(after(10))
    later = talk.say("I have a dog.", source_id="1", at=after(20))
    assert later.turns[0].status == "repeated"
    assert later.turns[0].noticed == first.turns[0].noticed
    talk.flush(after(60))
    assert talk.texts() == ["I have a dog."]


def test_a_time_that_the_caller_gave_is_a_part_of_the_turn(talk: Talk) -> None:
    talk.say("Hello there.", source_id="1", said_at="2026-03-02T08:59:00Z")
    assert talk.say("Hello there.", source_id="1", said_at="2026-03-02T08:59:00Z").turns[0].status == "repeated"
    with pytest.raises(ConflictError, match="'1'"):
        talk.say("Hello there.", source_id="1", said_at="2026-03-02T08:58:00Z")


def test_a_conflict_names_the_turn_and_writes_nothing(talk: Talk) -> None:
    talk.say("I have a dog.", source_id="1")
    for at in (after(1), after(30)):
        with pytest.raises(ConflictError, match="source_id '1' already belongs to a turn"):
            talk.send(
                {"role": "user", "text": "New.", "source_id": "2"},
                {"role": "user", "text": "I have a cat.", "source_id": "1"},
                at=at,
            )
        talk.flush(after(20))
    assert talk.texts() == ["I have a dog."]
    assert not talk.rows("select from ops.pending_turns")


@pytest.mark.parametrize("text", ["Turn 2.", "Theirs."])
def test_of_a_request_that_another_overtakes_nothing_is_stored_by_halves(talk: Talk, text: str) -> None:
    theirs = (
        "insert into ops.pending_turns (tenant_id, subject_id, session_id, source_id, id, role, said_at, text,"
        " content_hash) values (%s, 'ana', 's1', '2', %s, 'user', %s, %s, '')"
    )
    ours = [{"role": "user", "text": f"Turn {number}.", "source_id": str(number)} for number in (1, 2)]
    waits = "select exists (select from pg_stat_activity where pg_backend_pid() = any(pg_blocking_pids(pid)))"
    with ThreadPoolExecutor(1) as pool:
        with talk.store.transaction(TENANT) as conn:
            conn.execute(theirs, [TENANT, uuid4(), AT, text])
            coming = pool.submit(talk.send, *ours)
            until = time.monotonic() + 30
            while conn.execute(waits).fetchone() != (True,):
                assert time.monotonic() < until and not coming.done()
                time.sleep(0.01)
        if text == "Turn 2.":
            assert [heard.status for heard in coming.result(30).turns] == ["added", "repeated"]
        else:
            with pytest.raises(ConflictError, match="'2' already belongs to a turn"):
                coming.result(30)
    stored = talk.rows("select source_id from ops.pending_turns order by source_id")
    assert stored == ([("1",), ("2",)] if text == "Turn 2." else [("2",)])


def test_one_batch_may_not_contradict_itself(talk: Talk) -> None:
    with pytest.raises(ConflictError, match="occurs twice in this request"):
        talk.say("One.", "Two.", source_id="1")
    assert len(talk.say("One.", "One.", source_id="1").turns) == 1


@pytest.mark.parametrize(
    ("record", "named"),
    [
        ({"role": "user"}, "Turn 1 of 1: text is missing"),
        ({"role": "nobody", "text": "Hi."}, "role"),
        ({"role": "user", "text": "Hi.", "said_at": "2026-03-02"}, "said_at"),
        ({"role": "user", "text": "Hi.", "said_at": "2026-04-02T10:00:00Z"}, "said_at is in the future; expected"),
        ({"role": "user", "text": "Hi.", "type": "outcome", "metric": "x"}, None),
    ],
)
def test_what_is_no_turn_is_refused_by_name(talk: Talk, record: dict[str, str], named: str | None) -> None:
    if named is None:
        assert talk.send(record).turns  # where it is said, everything is a turn
        return
    with pytest.raises(InputError, match=named):
        talk.send(record)
    assert talk.read() is None


def test_not_too_many_at_once(talk: Talk) -> None:
    for number in (0, 101):
        with pytest.raises(InputError, match="1 to 100"):
            talk.say(*["Hi."] * number)


def test_what_postgres_cannot_hold_is_mended(talk: Talk) -> None:
    talk.say("Nul\0 and half a \ud83d.")
    talk.flush(after(10))
    assert talk.texts() == ["Nul and half a \ufffd."]
