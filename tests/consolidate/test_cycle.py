"""Cycles: a history replayed gives the memory of having lived through it, and what is done is not done again."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg.sql import SQL, Identifier

from reverie.capture.history.importing import import_file
from reverie.drive.cycle import catch_up, floor_cycle, ingest
from reverie.model import Scope, stable_id
from reverie.policy import Policy
from reverie.store.database import Store
from reverie.store.digest import digest
from reverie.store.work import Work
from tests.promises.world import SAMPLE, WordEmbedder, lively

PERIOD = timedelta(hours=6)
MIDNIGHT = datetime(2026, 1, 1, tzinfo=UTC)
END = datetime(2026, 9, 1, tzinfo=UTC)
EMBEDDER = WordEmbedder()

TIMES = st.datetimes(timezones=st.just(UTC)).filter(lambda at: 1900 < at.year < 2200)


@given(TIMES, st.sampled_from([1, 2, 3, 4, 6, 8, 12, 24]))
def test_cycles_lie_at_multiples_of_the_period_since_midnight(at: datetime, hours: int) -> None:
    period = timedelta(hours=hours)
    floor = floor_cycle(at, period)
    assert floor <= at < floor + period
    assert (floor - floor.replace(hour=0, minute=0, second=0, microsecond=0)) % period == timedelta(0)
    assert floor_cycle(floor, period) == floor


def ceil_cycle(at: datetime, period: timedelta) -> datetime:
    """The first cycle at or after `at`."""
    floor = floor_cycle(at, period)
    return floor if floor == at else floor + period


def when(record: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(record.get("said_at") or record["observed_at"])


@pytest.fixture(scope="module")
def history() -> list[dict[str, Any]]:
    """The shipped sample in the order in which it happened; one thing is told again soon, and merges."""
    records = [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines()]
    (told,) = (record for record in records if record.get("text", "").startswith("I love biryani"))
    later = (when(told) + timedelta(days=20)).isoformat()
    again = {"session_id": "again", "said_at": later, "text": "Biryani is my favourite food, I love it."}
    return sorted([*records, told | again], key=when)


Recalled = tuple[datetime, str, list[UUID]]


def log_recalls(store: Store, tenant: str, recalls: Sequence[Recalled]) -> None:
    with store.transaction(tenant) as conn:
        conn.cursor().executemany(
            """insert into log.recalls (tenant_id, id, subject_id, asked_at, question, policy_hash, item_ids, dropped)
               values (%s, %s, %s, %s, 'what?', 'test', %s, 0)""",
            [(tenant, stable_id(at, tenant, subject), subject, at, ids) for at, subject, ids in recalls],
        )


def run(store: Store, tenant: str, until: datetime, policy: Policy) -> list[Any]:
    common: dict[str, Any] = {"scope": Scope(tenant_id=tenant), "policy": policy, "embedder": EMBEDDER}
    return [*ingest(Work(store=store, as_of=until, **common)), *catch_up(Work(store=store, as_of=until, **common))]


def live(
    store: Store,
    history: list[dict[str, Any]],
    cuts: list[datetime],
    path: Path,
    policy: Policy,
    chance: Random | None = None,
) -> list[Recalled]:
    """Import what happened up to each cut, and consolidate up to it; given chance, somebody then asks for some of it.

    Returns what was asked.
    """
    before, recalls = datetime.min.replace(tzinfo=UTC), list[Recalled]()
    for cut in cuts:
        new = [record | {"tenant_id": "t"} for record in history if before < when(record) <= cut]
        path.write_text("".join(json.dumps(record) + "\n" for record in new), encoding="utf-8")
        if new:
            import_file(store, path, tenant_id="t", now=END)
        log_recalls(store, "t", [one for one in recalls if before < one[0] <= cut])
        run(store, "t", cut, policy)
        recalls += recalls_of(store, cut, chance) if chance else []
        before = cut
    return [one for one in recalls if one[0] <= before]


def rows_of(store: Store, *, period: timedelta) -> dict[str, list[str]]:
    """All rows of memory; the time at which something was worked in is that of its cycle."""
    rows: dict[str, list[str]] = {}
    with store.transaction("t") as conn:
        for table in digest(store, "t").tables:
            query = SQL("select to_jsonb(x) - 'run_id' from memory.{} x").format(Identifier(table))
            found = conn.execute(query).fetchall()
            for (row,) in found:
                if "as_of" in row:
                    row["as_of"] = ceil_cycle(datetime.fromisoformat(row["as_of"]), period).isoformat()
            rows[table] = sorted(json.dumps(row, sort_keys=True) for (row,) in found)
    return rows


def compare(one: dict[str, list[str]], other: dict[str, list[str]]) -> None:
    for table in one:
        only = sorted(set(one[table]) ^ set(other[table]))
        assert not only, f"{table}: {len(only)} rows differ, {only[:4]}"


def recalls_of(store: Store, at: datetime, chance: Random) -> list[Recalled]:
    """Some recalls of what is remembered then: soon, or when it may be forgotten."""
    with store.transaction("t") as conn:
        found = conn.execute("select subject_id, id from memory.memories order by id").fetchall()
    return [
        (at + timedelta(days=chance.choice([0.1, 3, 11, 40]), seconds=number), subject, [id_])
        for number, (subject, id_) in enumerate(chance.sample(found, min(3, len(found))))
    ]


@pytest.mark.parametrize(("name", "aligned"), [("reverie", True), ("reverie", False), ("logic", False)])
def test_a_replayed_history_is_a_lived_one(
    store: Store, other_store: Store, history: list[dict[str, Any]], tmp_path: Path, name: str, aligned: bool
) -> None:
    """Promise 3; between cycles the deferred tier works in a part of what the next cycle finishes.

    Where each cut is at a cycle, the digests are equal too.
    """
    policy = lively(name)
    path = tmp_path / "part.jsonl"
    history = history[: len(history) // 2]
    chance = Random(f"{name} {aligned}")
    first, last = when(history[0]), when(history[-1]) + timedelta(days=60)
    times = [first + chance.random() * (last - first) for _ in range(8)]
    moments = [when(record) + timedelta(seconds=chance.randint(0, 900)) for record in chance.sample(history, 4)]
    cuts = sorted({ceil_cycle(at, PERIOD) if aligned else at for at in times + moments})
    recalls = live(other_store, history, [*cuts, END], path, policy, chance)
    assert len(recalls) > 20
    log_recalls(store, "t", recalls)
    live(store, history, [END], path, policy)
    compare(rows_of(store, period=PERIOD), rows_of(other_store, period=PERIOD))
    empty = {table for table, each in digest(store, "t").tables.items() if not each.rows}
    assert not empty & {"memories", "lineage", "merges", "tombstones", "accesses", "entities", "links"}
    if aligned:
        assert digest(store, "t") == digest(other_store, "t")


def test_a_second_run_changes_nothing_and_works_in_nothing(
    store: Store, history: list[dict[str, Any]], tmp_path: Path
) -> None:
    policy = lively()
    live(store, history[: len(history) // 2], [END], tmp_path / "half.jsonl", policy)
    before = digest(store, "t")
    reports = run(store, "t", END, policy)
    assert digest(store, "t") == before
    assert [report.stage for report in reports] == ["extract", "embed", "signal", "prune", "decay"]
    assert not any(value for report in reports for value in report.counts.values())


def test_between_cycles_new_memories_are_merged_and_linked_but_not_forgotten(
    store: Store, history: list[dict[str, Any]], tmp_path: Path
) -> None:
    cut = when(history[0]) + timedelta(minutes=5)
    live(store, history, [cut], tmp_path / "some.jsonl", lively())
    with store.transaction("t") as conn:
        found = conn.execute(
            "select distinct kind = 'summary', state, linked, scored from memory.memories"
            " where state <> 'superseded' order by 1"
        ).fetchall()
    assert found == [(False, "active", True, False), (True, "active", True, True)], "a range has nothing to score"
