"""What somebody talks about more as memories: in words, with its messages as lineage, over again; live as imported."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from reverie.capture.history.importing import import_file
from reverie.drive.cycle import catch_up, ingest
from reverie.drive.erase.erasing import Eraser
from reverie.drive.erase.targets import turn_target
from reverie.model import Scope
from reverie.policy import Policy, load_policy
from reverie.store.database import Store
from reverie.store.digest import digest
from reverie.store.work import Work
from reverie.testing import WordEmbedder

BEGIN = datetime(2026, 1, 5, 9, tzinfo=UTC)
END = BEGIN + timedelta(weeks=40)
ABOUT = (
    "My dissertation is slow.",
    "Could you read the dissertation?",
    "I dreamt of my dissertation and of a lighthouse.",
)
ALWAYS = ("The cat is on the sofa.", "We had soup at my sister's.", "The printer jammed, I wrote to the landlord.")


@pytest.fixture(scope="module")
def policy() -> Policy:
    """Trends of topics under a policy that the rest of the stage costs little under."""
    plain = load_policy("brain")
    return plain.model_copy(update={"insights": load_policy("reverie").insights})


def history() -> list[dict[str, Any]]:
    """Three days a week over 40 weeks: from week 18 to week 26 most days are about a dissertation."""
    records: list[dict[str, Any]] = []
    for day in (7 * week + weekday for week in range(40) for weekday in (0, 2, 5)):
        texts = list(ALWAYS)
        if 18 * 7 <= day < 26 * 7 and day % 7 != 5:
            texts.append(ABOUT[day % len(ABOUT)])
        for place, text in enumerate(texts):
            at = BEGIN + timedelta(days=day, minutes=place)
            named = {"subject_id": "ana", "session_id": f"{day}", "source_id": f"{day}-{place}", "role": "user"}
            records.append(named | {"said_at": at.isoformat(), "text": text})
    return records


def work_in(store: Store, records: list[dict[str, Any]], path: Path, until: datetime, policy: Policy) -> Work:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    import_file(store, path, tenant_id="t", now=END)
    work = Work(store=store, scope=Scope(tenant_id="t"), policy=policy, as_of=until, embedder=WordEmbedder())
    for _ in (*ingest(work), *catch_up(work)):
        pass
    return work


def rows(store: Store, statement: str) -> list[tuple[Any, ...]]:
    with store.transaction("t") as conn:
        return conn.execute(statement).fetchall()


def test_a_topic_that_comes_up_more_is_told_and_is_over(
    store: Store, other_store: Store, tmp_path: Path, policy: Policy
) -> None:
    records = history()
    work_in(store, records, tmp_path / "all.jsonl", END, policy)
    told = rows(
        store,
        "select content, expires_at, happened_at from memory.memories where origin = 'topic' order by happened_at",
    )
    (more, lasts, at), (over, ends, _), *_ = told
    assert more.startswith("Talks about dissertation more than before: on ")
    assert " messages), on 0 of " in more and "(Fisher's exact test, p " in more
    assert lasts is None and BEGIN + timedelta(weeks=19) <= at <= BEGIN + timedelta(weeks=26)
    assert ends is not None
    assert over.startswith("No longer talks about dissertation more than before, as of ")
    # each rests on messages about it, and on no other
    sources = rows(
        store,
        """select l.source, l.relation, count(*) >= 3, bool_and(t.text like '%dissertation%')
           from memory.memories m join memory.lineage l on l.memory_id = m.id join log.turns t on t.id = l.source_id
           where m.origin = 'topic' group by 1, 2""",
    )
    assert sources == [("turn", "context", True, True)]
    facts = rows(
        store, "select key, importance from memory.structured_facts where origin = 'topic' and valid_to is null"
    )
    # the end of a change ends the fact before it, and no profile tells it
    (fact,) = facts
    assert fact[0] == "topic:dissert" and fact[1] < policy.structured_facts.recall_importance
    first = digest(store, "t")
    for week in (17, 21, 23, 30, 40):
        until = BEGIN + timedelta(weeks=week)
        when = [record for record in records if record["said_at"] < until.isoformat()]
        work_in(other_store, when, tmp_path / f"{week}.jsonl", min(until, END), policy)
    assert digest(other_store, "t") == first


def test_an_erased_message_is_counted_no_more(store: Store, tmp_path: Path, policy: Policy) -> None:
    until = BEGIN + timedelta(weeks=22)
    records = [record for record in history() if record["said_at"] < until.isoformat()]
    work = work_in(store, records, tmp_path / "all.jsonl", until, policy)
    told = "select content from memory.memories where origin = 'topic'"
    assert rows(store, told)
    about = rows(store, "select id from log.turns where text like '%dissertation%' order by said_at")
    assert rows(store, "select count(*) from memory.topics where 'dissertation' = any(words)") == [(len(about),)]
    eraser = Eraser(
        store=store, tenant_id="t", policy=policy, count_tokens=work.embedder.count_tokens, at=until, actor="sam"
    )
    for (turn_id,) in about[1:]:
        eraser.erase(turn_target(turn_id))
    for _ in (*ingest(work), *catch_up(work)):
        pass
    assert rows(store, told) == []
    assert rows(store, "select count(*) from memory.topics where 'dissertation' = any(words)") == [(1,)]


def test_messages_that_had_moods_before_get_their_words(store: Store, tmp_path: Path, policy: Policy) -> None:
    begin = [record for record in history() if record["said_at"] < (BEGIN + timedelta(weeks=2)).isoformat()]
    work_in(store, begin, tmp_path / "all.jsonl", END, policy)
    kept = rows(store, "select turn_id, words from memory.topics order by 1")
    assert kept
    with store.transaction("t") as conn:
        conn.execute("delete from memory.topics")
        conn.execute(
            """insert into memory.signal_days (tenant_id, subject_id, day, turns)
               select tenant_id, subject_id, (said_at at time zone 'UTC')::date, count(*)
               from log.turns group by 1, 2, 3"""
        )
    work_in(store, begin[:1], tmp_path / "all.jsonl", END, policy)
    assert rows(store, "select turn_id, words from memory.topics order by 1") == kept


def test_a_policy_without_it_keeps_no_words(store: Store, tmp_path: Path) -> None:
    work_in(store, history()[:30], tmp_path / "all.jsonl", END, load_policy("brain"))
    assert rows(store, "select count(*) from memory.topics") == [(0,)]
