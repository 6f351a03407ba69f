"""Of what was said at one time, what arrived later counts as later: which value stands follows from no hash."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from reverie.capture.history.importing import import_file
from reverie.capture.live.acknowledge import TurnBatch, TurnReaders, append_turns
from reverie.consolidate.facts.decide import decide
from reverie.consolidate.facts.statements import StatedValue
from reverie.consolidate.merge.decide import NearMemory, decide_merges
from reverie.drive import drain as deferred
from reverie.drive.drain import Drainer
from reverie.drive.flush import flush_due
from reverie.drive.rebuild import empty_memory
from reverie.model import Scope, Turn, candidate_id, stable_id
from reverie.policy import Policy, load_policy
from reverie.store.database import Store
from reverie.store.digest import Digest, digest
from reverie.store.session import perform
from reverie.store.tenants import ensure_tenant
from reverie.store.work import Work
from tests.conftest import Databases
from tests.promises.world import WordEmbedder, consolidate, lively

DAY = datetime(2026, 3, 1, tzinfo=UTC)
LATER = DAY + timedelta(days=2)
TENANT = "acme"
#: So many that ids, which are hashes, put about half of them in the wrong order.
SUBJECTS = [f"user-{number}" for number in range(12)]
SAID = ("I live in Berlin.", "I live in Munich.")


@pytest.fixture
def store(databases: Databases) -> Iterator[Store]:
    with databases() as url, Store.open(url, size=2) as opened:
        yield opened


def record(subject: str, number: int, text: str, **more: Any) -> dict[str, Any]:
    told = {"tenant_id": TENANT, "subject_id": subject, "session_id": "s", "source_id": f"m{number}", "role": "user"}
    return told | {"said_at": DAY.isoformat(), "text": text} | more


def tell(store: Store, tmp_path: Path, records: list[dict[str, Any]], policy: Policy) -> Digest:
    """Import the records and work them in."""
    file = tmp_path / "history.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    assert not import_file(store, file, tenant_id=TENANT, now=LATER).dead
    consolidate(store, TENANT, policy, LATER)
    return digest(store, TENANT)


def homes(store: Store, key: str = "location") -> dict[str, str]:
    """The value in force of each subject."""
    with store.transaction(TENANT) as conn:
        return dict(
            conn.execute(
                "select subject_id, value from memory.structured_facts where key = %s and replaced_by is null", [key]
            ).fetchall()
        )


MUNICH = dict.fromkeys(SUBJECTS, "Munich")


def test_the_value_that_arrived_last_is_in_force(store: Store, tmp_path: Path) -> None:
    records = [record(subject, number, text) for number, text in enumerate(SAID) for subject in SUBJECTS]
    imported = tell(store, tmp_path, records, load_policy("chat"))
    assert homes(store) == MUNICH
    empty_memory(Work(store=store, scope=Scope(tenant_id=TENANT), policy=load_policy("chat"), as_of=LATER))
    consolidate(store, TENANT, load_policy("chat"), LATER)
    assert homes(store) == MUNICH
    assert digest(store, TENANT).tables == imported.tables


def test_an_index_tells_the_arrival_in_whatever_order_the_lines_come(store: Store, tmp_path: Path) -> None:
    records = [record(subject, n, text, turn_index=n) for n, text in enumerate(SAID) for subject in SUBJECTS]
    tell(store, tmp_path, records[::-1], load_policy("chat"))
    assert homes(store) == MUNICH


def test_of_sessions_of_one_time_the_last_by_id_counts(store: Store, tmp_path: Path) -> None:
    records = [record(subject, n, text, session_id=f"s{n}") for n, text in enumerate(SAID) for subject in SUBJECTS]
    tell(store, tmp_path, records[::-1], load_policy("chat"))
    assert homes(store) == MUNICH


@pytest.mark.parametrize("apart", [False, True])
def test_said_live_the_last_is_in_force_too(
    apart: bool, store: Store, databases: Databases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy, embedder = load_policy("chat"), WordEmbedder()
    monkeypatch.setattr(deferred, "load_policy", lambda name: policy)
    with store.transaction(TENANT) as conn:
        ensure_tenant(conn, TENANT, "chat")
    rounds = [[text] for text in SAID] if apart else [list(SAID)]
    number, at = 0, DAY
    for texts in rounds:
        for text in texts:
            for subject in SUBJECTS:
                given = {name: value for name, value in record(subject, number, text).items() if name[-3:] != "_id"}
                perform(
                    append_turns(
                        store.session(TENANT),
                        TurnBatch(
                            records=[given | {"source_id": f"m{number}"}], subject_id=subject, session_id="s"
                        ),
                        policy=policy, as_of=at,
                        readers=TurnReaders(count_tokens=embedder.count_tokens, embedder=embedder),
                    ),
                )  # fmt: skip
            number += 1
        at += timedelta(hours=3)
        list(flush_due(store, policy_of=lambda tenant: policy, as_of=at, count_tokens=embedder.count_tokens))
        Drainer(store=store, embedder=embedder, clock=lambda now=at: now).drain(as_of=at)
    assert homes(store) == MUNICH
    consolidate(store, TENANT, policy, LATER)
    drained = digest(store, TENANT)
    with databases() as url, Store.open(url, size=2) as other:
        records = [record(subject, n, text) for n, text in enumerate(SAID) for subject in SUBJECTS]
        assert tell(other, tmp_path, records, policy).tables == drained.tables


def test_of_two_alike_the_one_that_arrived_first_survives(store: Store, tmp_path: Path) -> None:
    texts = ("I adore green tea.", "I adore green tea!")  # alike in all but their marks
    records = [record(subject, n, text) for n, text in enumerate(texts) for subject in SUBJECTS]
    tell(store, tmp_path, records, lively("reverie"))
    with store.transaction(TENANT) as conn:
        survivors = conn.execute(
            """select m.subject_id, t.source_id from memory.merges g
               join memory.memories m on m.tenant_id = g.tenant_id and m.id = g.survivor_id
               join log.turns t on t.tenant_id = m.tenant_id and t.id = m.turn_id
               where m.kind = 'preference'"""
        ).fetchall()
    assert dict(survivors) == dict.fromkeys(SUBJECTS, "m0")


def test_the_first_that_arrived_is_the_most_novel(store: Store, tmp_path: Path) -> None:
    texts = ("I prefer green tea.", "I prefer green glass.")
    records = [record(subject, n, text) for n, text in enumerate(texts) for subject in SUBJECTS]
    tell(store, tmp_path, records, load_policy("logic"))
    with store.transaction(TENANT) as conn:
        found = conn.execute(
            """select m.subject_id, t.turn_index, max(m.base) from memory.memories m
               join log.turns t on t.tenant_id = m.tenant_id and t.id = m.turn_id
               group by m.subject_id, t.turn_index"""
        ).fetchall()
    rated = {(subject, index): base for subject, index, base in found}
    assert len(rated) == 2 * len(SUBJECTS)
    assert all(rated[subject, 0] > rated[subject, 1] for subject in SUBJECTS)


def test_the_folds_go_by_arrival() -> None:
    policy = load_policy("reverie")
    for subject in SUBJECTS:
        turns = [
            Turn(
                tenant_id=TENANT, subject_id=subject, session_id="s", source_id=f"m{number}", role="user",
                speaker=None, said_at=DAY, text=text,
            )
            for number, text in enumerate(SAID)
        ]  # fmt: skip
        ids = [candidate_id(DAY, TENANT, subject, "fact", str(turn.id), "location", 0) for turn in turns]
        places = [{"session_id": "s", "turn_index": number, "turn_id": turn.id} for number, turn in enumerate(turns)]
        members = [
            NearMemory(id_, subject, "fact", "candidate", "Likes tea", 0, 0.5, DAY, DAY, 0, **place)
            for id_, place in zip(ids, places, strict=True)
        ]
        (merge,) = decide_merges(members[::-1], [(*ids, 0.99)], [], policy).merges
        assert merge.survivor.id == ids[0]
        values = [
            StatedValue(
                id=stable_id(DAY, "structured_fact", TENANT, subject, str(id_)), subject_id=subject, speaker="",
                relation="identity/location", is_keyed=True, object=text, category="identity", key="location",
                value=text, confidence=0.9, sure=0.9, importance=0.8, valid_from=DAY, memory_id=id_, bearer_id=id_,
                origin="location", **place,
            )
            for id_, text, place in zip(ids, SAID, places, strict=True)
        ]  # fmt: skip
        assert [one.fact.value for one in decide(values[::-1]).values] == list(SAID)
