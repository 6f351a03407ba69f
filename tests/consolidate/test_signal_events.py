"""signal: life events of a history, with their days, what became of them, and the triggers around them."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from reverie.capture.history.importing import import_file
from reverie.drive.cycle import catch_up, ingest
from reverie.model import Scope
from reverie.policy import Policy, load_policy
from reverie.store.database import Store
from reverie.store.digest import digest
from reverie.store.work import Work
from reverie.testing import WordEmbedder

#: A Wednesday; late in the evening it is Thursday in Kolkata.
BEGIN = datetime(2026, 3, 11, 10, 0, tzinfo=UTC)
END = datetime(2026, 4, 30, tzinfo=UTC)
SAID = (
    (0, "My birthday is on 4 May."),
    (0, "I have a dentist appointment on Friday at 3 pm."),
    (0, "We're flying to Rome in three weeks with the kids."),
    (0, "I have a job interview next Tuesday at the bank."),
    (1, "My sister Ann's birthday is on the 12th of June."),
    (2, "We moved the dentist appointment to Monday."),
    (3, "The Rome trip is off, we cancelled the flights."),
    (7, "I had the job interview at the bank yesterday and it went well."),
    (8, "Last Saturday I ran my first charity race with my sister."),
    (9, "Do you think I should go to Paris on Friday?"),
    (9, 'He wrote: "I\'m moving to Lisbon next month".'),
    (10, "My birthday is on 5 May."),
)


def records() -> list[dict[str, Any]]:
    return [
        {
            "subject_id": "ana",
            "session_id": f"s{day}",
            "role": "user",
            "said_at": (BEGIN + timedelta(days=day, minutes=place)).isoformat(),
            "text": text,
            "metadata": {"timezone": "Europe/Lisbon"},
        }
        for place, (day, text) in enumerate(SAID)
    ]


def work_in(store: Store, said: list[dict[str, Any]], path: Path, until: datetime, policy: Policy) -> Work:
    path.write_text("".join(json.dumps(record) + "\n" for record in said), encoding="utf-8")
    import_file(store, path, tenant_id="t", now=END)
    work = Work(store=store, scope=Scope(tenant_id="t"), policy=policy, as_of=until, embedder=WordEmbedder())
    for _ in (*ingest(work), *catch_up(work)):
        pass
    return work


@pytest.fixture
def policy() -> Policy:
    return load_policy("contact")


def rows(store: Store, statement: str) -> list[tuple[Any, ...]]:
    with store.transaction("t") as conn:
        return conn.execute(statement).fetchall()


def test_a_history_gives_events_and_triggers(store: Store, other_store: Store, tmp_path: Path, policy: Policy) -> None:
    said = records()
    work = work_in(store, said, tmp_path / "all.jsonl", END, policy)
    found = rows(
        store,
        """select title, state, first_on, last_on, precision, certainty, clock, yearly, who, zone
           from memory.life_events order by told_at, turn_id""",
    )
    for row in found:
        print(row)
    print(rows(store, "select kind, due_at, until_at, why, withheld from memory.triggers order by due_at"))
    assert digest(store, "t") == digest(store, "t")
    before = digest(store, "t")
    for _ in (*ingest(work), *catch_up(work)):
        pass
    assert digest(store, "t") == before
    for number in range(4):
        begin, end = BEGIN + timedelta(days=3 * number), BEGIN + timedelta(days=3 * (number + 1))
        part = [record for record in said if begin <= datetime.fromisoformat(record["said_at"]) < end]
        work_in(other_store, part, tmp_path / f"{number}.jsonl", end if number < 3 else END, policy)
    assert digest(other_store, "t").tables == before.tables
