"""Promise 6: what is erased was never said: memory is that of a log without it, and nothing takes it in again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from psycopg.sql import SQL, Identifier

from reverie.capture.history.importing import import_file
from reverie.capture.live.corrections import CorrectionAsked, correct_memory
from reverie.drive.erase.erasing import Erased, Eraser
from reverie.drive.erase.targets import (
    memory_target,
    retention_target,
    session_target,
    subject_target,
    turn_target,
)
from reverie.inference.tokens import token_counter
from reverie.model import Turn
from reverie.store.connect import connect
from reverie.store.database import Store
from reverie.store.digest import Digest, digest
from reverie.store.session import perform
from reverie.testing import DatabaseFactory
from tests.conftest import Databases
from tests.promises import compact
from tests.promises.compact import TENANT, UNTIL
from tests.promises.conftest import WorkedIn
from tests.promises.test_corrected_at_once import find, rows
from tests.promises.world import consolidate

POLICY = compact.policy()
Record = dict[str, Any]


class Opened(NamedTuple):
    """A database as those see it who work on it, and as the eraser does."""

    store: Store
    eraser: Eraser
    url: str


@contextmanager
def opened(databases: Databases) -> Iterator[Opened]:
    """A database of its own, as `databases` makes it."""
    with databases() as url, Store.open(url, size=2) as store:
        eraser = Eraser(
            store=store,
            tenant_id=TENANT,
            policy=POLICY,
            count_tokens=token_counter(None, None).count,
            at=UNTIL,
            actor="sam",
        )
        yield Opened(store, eraser, url)


def take_in(store: Store, folder: Path, records: Sequence[Record]) -> Any:
    """Import records."""
    file = folder / "history.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return import_file(store, file, tenant_id=TENANT, now=UNTIL)


def remember(store: Store) -> Digest:
    """Work everything in."""
    consolidate(store, TENANT, POLICY, UNTIL)
    return digest(store, TENANT)


def records_of(history: Path) -> list[Record]:
    """The whole records of the compact history."""
    found = []
    for line in history.read_text(encoding="utf-8").splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            continue  # the line that is no record
    return found


def id_of(record: Record) -> UUID:
    """The id that its turn has."""
    return Turn(
        tenant_id=TENANT,
        subject_id=record["subject_id"],
        session_id=record["session_id"],
        source_id=record["source_id"],
        role=record["role"],
        speaker=record["speaker"],
        said_at=datetime.fromisoformat(record["said_at"]),
        text=record["text"],
    ).id


def is_of(record: Record, turn: Record) -> bool:
    """Whether it is the turn, or an outcome of its decision."""
    return all(record[name] == turn[name] for name in ("subject_id", "session_id", "source_id"))


#: Several things at once, and a message that ends one of them.
SHOP = "bread and cakes from us, flour from Borg, eggs from Lund, closed mondays"
FLOUR = "flour comes from Halden Mill now"
#: A wait, and a message that states nothing and ends it.
SCAN, CLEAR = "The results of my scan come on Friday.", "The results were fine, I cried in the car."
#: What people say: the same in other words, values that replace one another, plans, what no rule reads.
SAID = (
    "I have a golden retriever named Rex.",
    "I have a golden retriever named Rex!",
    "My sister lives in Pune.",
    "My sister lives in Delhi.",
    "I live in Mumbai.",
    "I moved to Chennai.",
    "I work at Infosys.",
    "I prefer texts to emails.",
    "I prefer texts to emails!",
    "I can't stand coffee.",
    "We went to the lake with Bruno last weekend.",
    "Yesterday I took Bruno to the vet.",
    "We met Bruno's trainer yesterday.",
    "My dog Bruno loves the park.",
    "Do you like lakes?",
    SHOP,
    FLOUR,
    SCAN,
    CLEAR,
    "ok",
)


def said(subject: str, session: str, source_id: str, at: datetime, text: str) -> Record:
    """A record of a message."""
    names = {"subject_id": subject, "session_id": session, "source_id": source_id}
    return names | {"said_at": at.isoformat(), "role": "user", "speaker": subject, "text": text}


@st.composite
def logs(draw: st.DrawFn) -> tuple[list[Record], int]:
    """A small log of two subjects, and the place of the turn that is erased."""
    turns = draw(
        st.lists(
            st.tuples(st.sampled_from(["ana", "ben"]), st.integers(0, 2), st.integers(0, 40), st.sampled_from(SAID)),
            min_size=1,
            max_size=14,
        )
    )
    records = []
    for place, (subject, session, day, text) in enumerate(turns):
        at = compact.START + timedelta(days=day + 30 * session, minutes=place)
        records.append(said(subject, f"{subject}-{session}", f"t{place}", at, text))
    records.sort(key=lambda record: str(record["said_at"]))
    return records, draw(st.integers(0, len(records) - 1))


# an example takes seconds: it is not made smaller
@settings(
    max_examples=12,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(drawn=logs())
def test_any_erased_turn_was_never_said(drawn: tuple[list[Record], int], databases: Databases, tmp_path: Path) -> None:
    records, place = drawn
    turn = records[place]
    with opened(databases) as there:
        take_in(there.store, tmp_path, records)
        remember(there.store)
        erased = there.eraser.erase(turn_target(id_of(turn)))
        assert erased.turns == 1
        after = remember(there.store)
        again = take_in(there.store, tmp_path, records)
        assert (again.imported, again.dead_by_reason) == (0, {"erased": 1})
    with opened(databases) as never:
        others = [record for record in records if record is not turn]
        if others:
            take_in(never.store, tmp_path, others)
        assert differing(after, remember(never.store)) == []


def test_what_a_message_left_of_a_statement_goes_with_it(databases: Databases, tmp_path: Path) -> None:
    """A new supplier ends a part of a sentence; without the message that tells it, all of it stands again."""
    told = said("ana", "ana-0", "t0", compact.START, SHOP)
    changed = said("ana", "ana-1", "t1", compact.START + timedelta(days=30), FLOUR)
    with opened(databases) as there:
        take_in(there.store, tmp_path, [told])
        remember(there.store)
        take_in(there.store, tmp_path, [changed])
        remember(there.store)
        with there.store.transaction(TENANT) as conn:
            rests = conn.execute("select content from memory.memories where origin = 'rest'").fetchall()
        assert [("Borg" in rest, "cakes" in rest) for (rest,) in rests] == [(False, True)]
        there.eraser.erase(turn_target(id_of(changed)))
        after = remember(there.store)
    with opened(databases) as never:
        take_in(never.store, tmp_path, [told])
        assert differing(after, remember(never.store)) == []


def test_what_a_message_without_a_statement_ended_stands_again(databases: Databases, tmp_path: Path) -> None:
    told = said("ana", "ana-0", "t0", UNTIL - timedelta(days=9), SCAN)
    clear = said("ana", "ana-1", "t1", UNTIL - timedelta(days=3), CLEAR)
    other = said("ana", "ana-1", "t2", UNTIL - timedelta(days=2), "My sister lives in Pune.")
    with opened(databases) as there:
        take_in(there.store, tmp_path, [told, clear, other])
        remember(there.store)
        with there.store.transaction(TENANT) as conn:
            ended = conn.execute("select content from memory.memories where ended_by = %s", [id_of(clear)]).fetchall()
        assert any("scan" in content for (content,) in ended)
        there.eraser.erase(turn_target(id_of(clear)))
        after = remember(there.store)
    with opened(databases) as never:
        take_in(never.store, tmp_path, [told, other])
        assert differing(after, remember(never.store)) == []


def differing(one: Digest, other: Digest) -> list[str]:
    """The tables in which two memories differ."""
    return [name for name, table in one.tables.items() if table != other.tables[name]]


@pytest.fixture(scope="module")
def without(databases: Databases, history: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The digest of the compact history without some of its records."""

    def made(left_out: Any) -> Digest:
        with opened(databases) as never:
            records = [record for record in records_of(history) if not left_out(record)]
            take_in(never.store, tmp_path_factory.mktemp("without"), records)
            return remember(never.store)

    return made


@pytest.fixture
def there(worked_in: WorkedIn, database_factory: DatabaseFactory) -> Iterator[Opened]:
    """The compact history without the line that is no record, worked in."""
    with opened(partial(database_factory.copy, worked_in(POLICY, UNTIL))) as found:
        with found.store.transaction(TENANT) as conn:
            conn.execute("delete from ops.dead_letters")
        yield found


def test_an_erased_session_was_never_held(there: Opened, without: Any) -> None:
    there.eraser.erase(session_target("ana", "ana-2"))
    assert differing(remember(there.store), without(lambda record: record["session_id"] == "ana-2")) == []


def test_of_an_erased_subject_nothing_is_left(there: Opened, without: Any) -> None:
    done = there.eraser.erase(subject_target("ana"))
    assert done.left == ()
    assert digest(there.store, TENANT) == without(lambda record: record["subject_id"] == "ana"), "nothing is remade"
    assert everywhere(there.url, "ana") == everywhere(there.url, "Bruno") == {}


def test_a_retention_leaves_what_was_said_since(there: Opened, without: Any) -> None:
    cutoff = compact.START + timedelta(days=20)
    there.eraser.erase(retention_target("ana", cutoff))

    def is_old(record: Record) -> bool:
        return record["subject_id"] == "ana" and (record.get("observed_at") or record["said_at"]) < cutoff.isoformat()

    assert differing(remember(there.store), without(is_old)) == []


def test_the_turns_of_a_memory_go_with_it(there: Opened, without: Any) -> None:
    memory = find(there.store, "Rex")
    erased = there.eraser.erase(memory_target(UUID(str(memory))))
    assert erased.turns == 2, "it was said twice"
    assert differing(remember(there.store), without(lambda record: "Rex" in record.get("text", ""))) == []


def everywhere(url: str, word: str) -> dict[str, int]:
    """The tables that hold a word in any column, as whoever owns the database sees them, and in how many rows."""
    with connect(url) as conn:
        tables = [
            row[0]
            for row in conn.execute(
                "select c.oid::regclass::text from pg_class c join pg_namespace n on n.oid = c.relnamespace "
                "where n.nspname in ('log', 'memory', 'ops', 'marts') and c.relkind = 'r'"
            )
        ]
        found = {}
        for table in tables:
            statement = SQL("select count(*) from {} t where position(%s in t::text) > 0")
            (number,) = conn.execute(statement.format(Identifier(*table.split("."))), [word]).fetchone() or (0,)
            if number:
                found[table] = number
    return found


def correct(store: Store, memory: object, asked: str, content: str | None = None) -> None:
    """Say something of a memory, and work it in."""
    asking = CorrectionAsked(memory_id=memory, asked=asked, content=content, actor="sam")  # type: ignore[arg-type]
    perform(correct_memory(store.session(TENANT), asking, policy=POLICY, as_of=compact.START + timedelta(days=70)))
    remember(store)


def turns_of(store: Store, words: str) -> list[UUID]:
    """The turns in which something is said, in their order."""
    return [row[0] for row in rows(store, "select id from log.turns where text like %s order by said_at", f"%{words}%")]


def test_a_correction_goes_with_what_it_was_about(there: Opened, without: Any) -> None:
    correct(there.store, find(there.store, "Delhi"), "replace", "Has a sister in Quito")
    (said,) = turns_of(there.store, "Delhi")
    there.eraser.erase(turn_target(said))
    assert differing(remember(there.store), without(lambda record: "Delhi" in record.get("text", ""))) == []
    assert everywhere(there.url, "Quito") == {}, "it would not have been corrected"


def test_what_was_wrong_stays_wrong_where_it_was_said_again(there: Opened) -> None:
    """It was said twice and is wrong: without the first time it is not right."""
    correct(there.store, find(there.store, "Rex"), "wrong")
    first, second = turns_of(there.store, "Rex")
    there.eraser.erase(turn_target(first))
    remember(there.store)
    left = "select count(*) from memory.memories where kind = 'fact' and content like %s"
    assert rows(there.store, left, "%Rex%") == [(0,)]
    there.eraser.erase(turn_target(second))
    remember(there.store)
    assert rows(there.store, "select count(*) from log.corrections") == [(0,)]


@pytest.mark.parametrize("stage", ["extract", "embed"])
def test_who_read_before_it_was_erased_writes_nothing_of_it(
    databases: Databases, history: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str, without: Any
) -> None:
    """A stage has read the turns of a subject, and works on them without a connection while it is erased."""
    with opened(databases) as found:
        take_in(found.store, tmp_path, records_of(history))
        module = f"reverie.consolidate.{stage}.stage"
        name = {"extract": "read_messages", "embed": "encode_missing"}[stage]
        work, done = getattr(import_module(module), name), list[Erased]()

        def erase_meanwhile(*given: Any, **named: Any) -> Any:
            result = work(*given, **named)
            if not done:
                done.append(found.eraser.erase(subject_target("ana")))
            return result

        monkeypatch.setattr(f"{module}.{name}", erase_meanwhile)
        after = remember(found.store)
        assert done and everywhere(found.url, "Bruno") == {}
    assert differing(after, without(lambda record: record["subject_id"] == "ana")) == []
