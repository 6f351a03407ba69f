"""Extract: candidates for memory, and a verdict on every turn."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import psycopg
import pytest

from reverie.capture.history.importing import import_file
from reverie.consolidate.extract import read
from reverie.consolidate.extract.decide import TurnVerdict, decide_turns, turns_frame
from reverie.consolidate.extract.reading import read_messages
from reverie.consolidate.extract.stage import extract
from reverie.inference.reader import AskedMessage, ReadMessage
from reverie.inference.reader.reader import TrainedReader
from reverie.model import Candidate, Scope, stable_id
from reverie.policy import Policy, load_policy
from reverie.store.database import Store
from reverie.store.digest import digest
from reverie.store.work import Work
from tests.promises.world import WordEmbedder, lively

ORIGIN = datetime(2026, 1, 1, 9, tzinfo=UTC)
POLICY = lively()


def words(text: str) -> int:
    return len(text.split())


def turns(*said: tuple[str, str], calls: list[dict[str, Any]] | None = None) -> pl.DataFrame:
    rows = [
        (
            str(stable_id(ORIGIN + timedelta(minutes=number), text)),
            "ann",
            "s",
            role,
            "Ann" if role == "user" else None,
            ORIGIN + timedelta(minutes=number),
            text,
            json.dumps(calls) if calls else None,
            None,
        )
        for number, (role, text) in enumerate(said)
    ]
    return turns_frame(rows)


def decide(frame: pl.DataFrame, policy: Policy = POLICY) -> tuple[list[Candidate], list[TurnVerdict]]:
    decisions = decide_turns(frame, "t", policy, words, read=read_messages(frame, policy))
    return decisions.candidates, decisions.verdicts


def test_every_turn_gets_a_verdict() -> None:
    frame = turns(
        ("user", "I live in Mumbai"),
        ("user", "lol"),
        ("assistant", "I live in the cloud."),
        ("user", "How are you today?"),
        ("user", "The blue one over there, perhaps"),
    )
    (candidate,), verdicts = decide(frame)
    assert [verdict.reason for verdict in verdicts] == [None, "low_content", "role", "question", "no_rule"]
    assert [verdict.candidates for verdict in verdicts] == [1, 0, 0, 0, 0]
    assert [verdict.turn_id for verdict in verdicts] == frame["id"].to_list()
    assert not any(verdict.waits for verdict in verdicts)
    # the subject speaks for itself: no name before the content
    assert (candidate.kind, candidate.content) == ("fact", "Lives in Mumbai")
    assert (str(candidate.turn_id), candidate.mentions) == (frame["id"][0], ("place:mumbai",))


def test_what_a_person_says_waits_for_a_model() -> None:
    frame = turns(("user", "I live in Lisbon."), ("user", "lol"), ("assistant", "I live in the cloud."))
    verdicts = decide_turns(frame, "t", POLICY, words, with_model=True).verdicts
    assert [verdict.waits for verdict in verdicts] == [True, False, False]
    verdicts = decide_turns(frame, "t", load_policy("brain"), words, with_model=True).verdicts
    assert not any(verdict.waits for verdict in verdicts), "its policy asks for no claims"


def test_whose_it_is_when_several_speak() -> None:
    frame = turns(("user", "I live in Mumbai")).with_columns(speaker=pl.lit("Bob"))
    (candidate,), _ = decide(frame)
    assert candidate.content == "Bob lives in Mumbai"


def test_a_tool_call_is_an_episode_of_what_was_done_and_why() -> None:
    call = {"name": "create_post", "arguments": {"topic": "Diwali"}, "why": "festival traffic", "result": "published"}
    (candidate,), (verdict,) = decide(turns(("assistant", "Done."), calls=[call]))
    assert (candidate.kind, candidate.origin) == ("episode", "tool_call")
    assert "festival traffic" in candidate.content
    assert verdict.reason is None


def test_a_long_turn_becomes_several_episodes() -> None:
    logic = lively("logic")
    text = "\n\n".join(f"Paragraph {number}. " + "It tells of many things at length. " * 30 for number in range(4))
    candidates, _ = decide(turns(("user", text)), logic)
    assert len(candidates) == len({candidate.id for candidate in candidates}) > 1
    assert all(words(candidate.content) <= logic.chunk.max_tokens for candidate in candidates)


def test_of_equal_parts_of_a_long_turn_one_is_kept() -> None:
    text = "My neighbour's dog bites and I went to the doctor about it. " * 500
    candidates, _ = decide(turns(("user", text)), lively("logic"))
    contents = [candidate.content for candidate in candidates]
    assert len(contents) == len(set(contents)) < 3


def test_a_preference_is_stored_once() -> None:
    """Logic 1.6: a chunk has one type."""
    frame = turns(("user", "I prefer texting"), ("user", "I hate calls. My sister came by yesterday."))
    candidates, _ = decide(frame, lively("logic"))
    assert [(each.kind, each.content) for each in candidates] == [
        ("preference", "Prefers texting"),
        ("preference", "Hates calls"),
        ("episode", "My sister came by yesterday."),
    ]


def test_nothing_in_nothing_out() -> None:
    assert decide(turns().clear()) == ([], [])


def test_the_same_candidates_in_whatever_portions() -> None:
    said = [("user", "I'm allergic to peanuts. My email is ana@example.com"), ("user", "I work at Zoho")]
    frame = turns(*said)
    whole, _ = decide(frame)
    parts = [decide(frame[number : number + 1])[0] for number in range(2)]
    assert whole == parts[0] + parts[1]
    assert all(parts)


def run(store: Store, at: datetime = datetime(2026, 9, 1, tzinfo=UTC), **options: Any):
    return extract(
        Work(store=store, scope=Scope(tenant_id="t"), policy=POLICY, as_of=at, embedder=WordEmbedder(), **options)
    )


def test_reports_lineage_and_the_ledger_agree(told: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read, "_TURNS", 100)
    heard: list[int] = []
    report = run(told, progress=lambda stage, number: heard.append(number))
    assert sum(heard) == report["turns"] > 400
    with told.transaction("t") as conn:
        found = conn.execute(
            """select (select count(*) from log.turns), (select count(*) from memory.extractions),
                      (select sum(candidates) from memory.extractions), (select count(*) from memory.memories),
                      (select count(*) from memory.lineage where relation = 'extracted')"""
        ).fetchone()
        ledger = conn.execute("select stage, status, attempts, report from ops.runs").fetchall()
        reasons = dict(
            conn.execute("select reason, count(*) from memory.extractions where reason <> '' group by 1").fetchall()
        )
    turns, candidates = report["turns"], report["candidates"]
    assert found == (turns, turns, candidates, candidates, candidates)
    assert ledger == [("extract", "done", 1, report.counts)]
    assert {f"discarded_{reason}": number for reason, number in reasons.items()} == {
        name: number for name, number in report.counts.items() if name.startswith("discarded_")
    }


def test_a_second_run_reads_nothing_and_a_dry_run_writes_nothing(told: Store) -> None:
    before = digest(told, "t")
    dry = run(told, dry_run=True)
    assert digest(told, "t") == before
    assert run(told).counts == dry.counts
    after = digest(told, "t")
    again = run(told)
    assert (again["turns"], again["candidates"]) == (0, 0)
    assert digest(told, "t") == after


def test_what_was_said_later_waits(told: Store) -> None:
    early = run(told, datetime(2026, 3, 1, tzinfo=UTC))
    late = run(told)
    assert early["turns"] and late["turns"]
    with told.transaction("t") as conn:
        assert conn.execute("select count(*) from log.turns").fetchone() == (early["turns"] + late["turns"],)
        assert conn.execute("select count(*) from ops.runs").fetchone() == (2,)


def test_a_run_that_finds_nothing_is_in_the_ledger(store: Store) -> None:
    run(store)
    with store.transaction("t") as conn:
        assert conn.execute("select stage, report from ops.runs").fetchall() == [
            ("extract", {"turns": 0, "candidates": 0})
        ]


def test_candidates_left_out_are_counted_in_the_ledger_and_the_row(
    store: Store, tmp_path: Path, conn: psycopg.Connection[Any]
) -> None:
    said = {"tenant_id": "t", "subject_id": "ann", "session_id": "s", "role": "user", "said_at": "2026-06-01T10:00:00Z"}
    path = tmp_path / "long.jsonl"
    path.write_text(json.dumps(said | {"text": "Always ask us first. " * 250}) + "\n", encoding="utf-8")
    at = datetime(2026, 9, 1, tzinfo=UTC)
    import_file(store, path, tenant_id="t", now=at)
    report = extract(Work(store=store, scope=Scope(tenant_id="t"), policy=POLICY, as_of=at, embedder=WordEmbedder()))
    assert (report["candidates"], report["discarded_beyond_turn_candidates"]) == (200, 50)
    assert conn.execute("select candidates, left_out from memory.extractions").fetchall() == [(200, 50)]


def test_a_short_message_is_read_with_the_end_of_what_somebody_else_said_before_it(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draft = "Dear all, " + "we close early on Friday. " * 40 + "Happy holidays!"
    said = [
        ("system", "Tools: jira."), ("user", "write to the staff"), ("assistant", draft), ("user", "no emojis"),
        ("assistant", "Sure."), ("user", "and to the suppliers, too, " * 10), ("user", "shorter"),
    ]  # fmt: skip
    path = tmp_path / "draft.jsonl"
    records = [
        {"subject_id": "ann", "session_id": "s", "role": role, "said_at": f"2026-06-01T10:0{number}:00Z", "text": text}
        for number, (role, text) in enumerate(said)
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    import_file(store, path, tenant_id="t", now=datetime(2026, 9, 1, tzinfo=UTC))
    asked: dict[str, str] = {}

    def read_nothing(_: TrainedReader, messages: Sequence[AskedMessage]) -> list[ReadMessage]:
        asked.update({each.text: each.question for each in messages})
        return [ReadMessage([], 0.0) for _ in messages]

    monkeypatch.setattr(TrainedReader, "read", read_nothing)
    run(store)
    # a long message is read alone, and so is one after another of the same person
    assert asked == {
        "write to the staff": "", "no emojis": draft[-400:], said[5][1]: "", "shorter": "",
    }  # fmt: skip


def test_events_come_in_portions_of_a_number_and_a_size(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lengths = [40, 40, 40, 900, 900, 40, 2_000, 40, 40]
    records = [
        {"type": "statement", "subject_id": "ann", "source_id": f"s{number}", "kind": "document",
         "observed_at": f"2026-01-01T09:00:{number:02}Z", "text": f"{number} ".ljust(length, "x")}
        for number, length in enumerate(lengths)
    ]  # fmt: skip
    path = tmp_path / "statements.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    assert import_file(store, path, tenant_id="t").statements == len(records)
    monkeypatch.setattr(read, "_EVENTS", 3)
    monkeypatch.setattr(read, "_EVENT_BYTES", 1_000)
    monkeypatch.setattr(read, "_LISTED", 7)
    work = Work(store=store, scope=Scope(tenant_id="t"), policy=POLICY, as_of=datetime(2026, 9, 1, tzinfo=UTC))
    portions = [[len(event.content) for event in portion] for portion in read.unread_events(work)]
    # three at most; the one that fills a portion is its last
    assert portions == [[40, 40, 40], [900, 900], [40, 2_000], [40, 40]]
    first = read.unread_events(work)
    next(first)
    assert run(store)["events"] == len(records)
    assert list(first) == [], "what another run has read meanwhile is left out"
    assert list(read.unread_events(work)) == []
