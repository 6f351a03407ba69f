"""A record that a stage cannot digest buries itself: the other items, subjects and tenants come out whole.

In each stage one turn, event, memory or subject of tenant acme brings an unexpected error to light, by a defect in a
pure function or by a constraint of the database. Redriven after the mend, memory is what it would have been.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest

from reverie.capture.history.importing import import_file
from reverie.capture.history.redrive import redrive_dead_letters
from reverie.consolidate.embed import decide as embed_decide
from reverie.consolidate.extract import decide, events
from reverie.consolidate.facts import read as facts_read
from reverie.consolidate.merge import decide as merge_decide
from reverie.drive.cycle import ingest
from reverie.drive.rebuild import empty_memory
from reverie.errors import StageError
from reverie.inference.reader import AskedMessage, ReadMessage
from reverie.inference.reader.reader import TrainedReader
from reverie.model import Scope, stable_id
from reverie.policy import load_policy
from reverie.store.connect import connect
from reverie.store.database import Store
from reverie.store.digest import TableDigest, digest_of
from reverie.store.work import Work
from reverie.testing import DatabaseFactory, database_name
from tests.conftest import Databases
from tests.promises import compact
from tests.promises.world import WordEmbedder, consolidate

pytestmark = pytest.mark.timeout(120)

TENANTS = (compact.TENANT, "beta")
#: Stages that fail on single items in one run, and the subjects of those: all else goes on. Ana is not in the first.
ITEMS = (
    {"extract": {"ben"}, "embed": {"ben"}, "facts": {"ben"}},
    {"events": {"ana", "ben"}, "merge": {"ana"}},
)
#: Stage and the write that fails for a subject as a whole, as (table, event, condition). The subject has its name.
SUBJECTS = {
    "link": ("entities", "insert", "true"),
    "synthesize": ("scaffold", "insert", "true"),
    "correct": ("tombstones", "insert", "new.reason = 'wrong'"),
    "compress": ("memories", "insert", "new.kind in ('pattern', 'summary')"),
    "score": ("memories", "update", "new.scored and not old.scored"),
    "prune": ("tombstones", "insert", "new.reason in ('faded', 'expired')"),
    "decay": ("memories", "update", "new.importance < old.importance and new.peak = old.peak and old.scored"),
}  # fmt: skip

Conn = psycopg.Connection[Any]


class Defect(RuntimeError):
    """Quotes what was said, as foreign errors do."""


@dataclass(frozen=True)
class Clean:
    """What undisturbed runs over two tenants come to in whom ana and, a stage each, ben's doubles said the same."""

    history: Path
    #: What `correct` calls wrong later, by tenant.
    wrong: dict[str, UUID]
    digests: dict[str, dict[str, TableDigest]]
    of_ana: list[tuple[Any, ...]]


def doubled(history: Path, to: Path) -> Path:
    """The history with a double of ben for each stage that fails on a subject."""
    lines = history.read_text(encoding="utf-8").splitlines(keepends=True)
    doubles = [[line.replace('"ben', f'"{name}') for name in SUBJECTS] if '"ben"' in line else [line] for line in lines]
    told = "".join(line for each in doubles for line in each)
    # something that ends by its own time, for prune
    to.write_text(told.replace('"lol"', '"I am staying with my mom in Chennai until 20 January."'), encoding="utf-8")
    return to


def prepare(store: Store, conn: Conn, history: Path, tenants: Sequence[str] = TENANTS) -> None:
    """The log of tenants who say the same, and two observations of each subject."""
    for tenant in tenants:
        import_file(store, history, tenant_id=tenant, now=compact.UNTIL)
        for (subject,) in conn.execute("select distinct subject_id from log.turns order by 1").fetchall():
            for number, (kind, key, text) in enumerate(
                [("fact", None, "Has a locker of number 12 at the station."), ("scaffold_update", "Role", "Engineer")]
            ):
                at = compact.START + timedelta(days=20, hours=number)
                conn.execute(
                    """insert into log.events (tenant_id, id, subject_id, source_id, type, channel, key, content,
                                               observed_at, content_hash)
                       values (%s, %s, %s, %s, %s, 'interactive', %s, %s, %s, '\\x00')""",
                    [tenant, stable_id(at, tenant, subject), subject, f"e{number}", kind, key, text, at],
                )


def call_wrong(conn: Conn, wrong: dict[str, UUID]) -> None:
    """Each tenant's correction of one memory."""
    at = compact.START + timedelta(days=50)
    for tenant, memory in wrong.items():
        conn.execute(
            """insert into log.corrections (tenant_id, id, subject_id, kind, memory_id, corrected_at)
               values (%s, %s, 'correct', 'wrong', %s, %s)""",
            [tenant, stable_id(at, tenant), memory, at],
        )


def remember(store: Store, embedder: WordEmbedder | None = None, tenants: Sequence[str] = TENANTS) -> None:
    for tenant in tenants:
        consolidate(store, tenant, compact.policy(), compact.UNTIL, embedder)


def digests(conn: Conn) -> dict[str, dict[str, TableDigest]]:
    return {tenant: digest_of(conn, tenant).tables for tenant in TENANTS}


def of_ana(conn: Conn) -> list[tuple[Any, ...]]:
    return conn.execute(
        """select id, kind, state, content, importance, peak, accessed_at, forget_at, into_id from memory.memories
           where tenant_id = 'acme' and subject_id = 'ana' order by id"""
    ).fetchall()


def letters(conn: Conn) -> list[tuple[Any, ...]]:
    return conn.execute(
        """select tenant_id, source, reason, subject_id, item, detail, attempts from ops.dead_letters
           where line is null order by tenant_id, source, subject_id, item"""
    ).fetchall()


@pytest.fixture(scope="module")
def clean(databases: Databases, history: Path, tmp_path_factory: pytest.TempPathFactory) -> Clean:
    file = doubled(history, tmp_path_factory.mktemp("doubled") / "history.jsonl")
    with databases() as url, Store.open(url, size=1) as store, connect(url) as conn:
        prepare(store, conn, file)
        for tenant in TENANTS:
            deque(ingest(work_of(store, tenant)), 0)
        wrong = dict(
            conn.execute(
                """select tenant_id, id from memory.memories
                   where subject_id = 'correct' and kind = 'fact' and content ~ 'Mumbai'"""
            ).fetchall()
        )
        assert set(wrong) == set(TENANTS)
        call_wrong(conn, wrong)
        remember(store)
        return Clean(file, wrong, digests(conn), of_ana(conn))


@dataclass(frozen=True)
class Failed:
    """A database in which each stage failed on one subject of tenant acme, and is whole again; to copy."""

    name: str
    buried: list[tuple[Any, ...]]
    digests: dict[str, dict[str, TableDigest]]
    of_ana: list[tuple[Any, ...]]


@pytest.fixture(scope="module")
def failed(clean: Clean, databases: Databases) -> Iterator[Failed]:
    with databases() as url:
        with Store.open(url, size=1) as store, connect(url) as conn:
            prepare(store, conn, clean.history)
            call_wrong(conn, clean.wrong)
            with refusals(conn):
                remember(store)
                buried, state = letters(conn), digests(conn)
                remember(store)
                assert (letters(conn), digests(conn)) == (buried, state), "it is not tried again for ever"
            found = Failed(database_name(url), buried, state, of_ana(conn))
        yield found


def work_of(store: Store, tenant: str) -> Work:
    return Work(
        store=store, scope=Scope(tenant_id=tenant), policy=compact.policy(), as_of=compact.UNTIL,
        embedder=WordEmbedder(),
    )  # fmt: skip


def failing(original: Callable[..., Any], text: Callable[..., str], marked: str) -> Callable[..., Any]:
    """The function with a defect that one text brings to light."""

    def defective(*arguments: Any, **named: Any) -> Any:
        if re.search(marked, text(*arguments)):
            raise Defect(text(*arguments))
        return original(*arguments, **named)

    return defective


def spoil(patch: pytest.MonkeyPatch, stage: str) -> None:
    """Something is wrong with a stage, which one text brings to light."""
    if stage == "extract":
        spoken = lambda read, *_: " ".join(read["text"])  # noqa: E731
        patch.setattr(decide, "_verbatim", failing(decide._verbatim, spoken, "Infosys gave us an award"))
    elif stage == "events":
        patch.setattr(events, "_pieces", failing(events._pieces, lambda event, *_: event.content, "locker"))
    elif stage == "embed":
        cut = failing(embed_decide.text_parts, lambda text, *_: text, "commute to Infosys")
        patch.setattr(embed_decide, "text_parts", cut)
    elif stage == "merge":
        near = failing(merge_decide.why_not_same, lambda one, other, *_: one.content + other.content, "Rex")
        patch.setattr(merge_decide, "why_not_same", near)
    else:
        assert stage == "facts"
        keyed = failing(facts_read.relation_key, lambda _, stated: stated.object, "Mumbai")
        patch.setattr(facts_read, "relation_key", keyed)


@contextmanager
def refusals(conn: Conn) -> Iterator[None]:
    """The database refuses what each stage writes of the subject of its name, of tenant acme alone."""
    conn.execute(
        """create function public.fail() returns trigger language plpgsql as
           $$ begin raise exception using errcode = 'data_exception', message = 'I live in Mumbai.'; end $$"""
    )
    for stage, (table, event, condition) in SUBJECTS.items():
        conn.execute(
            f"""create trigger fail_{stage} before {event} on memory.{table} for each row
                when (new.tenant_id = 'acme' and new.subject_id = '{stage}' and {condition})
                execute function public.fail()"""  # type: ignore[arg-type]
        )
    yield
    conn.execute("drop function public.fail cascade")


def nothing_is_told(buried: list[tuple[Any, ...]]) -> None:
    """The letters name the defect and quote nobody."""
    assert not [row for row in buried if re.search("Infosys|Mumbai|locker", row[5])]
    assert all(re.search("Defect|DataException", row[5]) for row in buried)


def nothing_waits(conn: Conn) -> None:
    """All was read, embedded and worked in."""
    assert letters(conn) == []
    unread = conn.execute(
        """select (select count(*) from memory.extractions where reason = 'stage_failed'),
                  (select count(*) from memory.memories m where state in ('active', 'candidate') and not exists (
                       select from memory.vectors v where v.tenant_id = m.tenant_id and v.item_id = m.id)),
                  (select count(*) from memory.memories where state = 'candidate'),
                  (select count(*) from memory.extractions e join log.turns t on t.id = e.turn_id
                   where t.text ~ 'award' and e.candidates = 0),
                  (select count(*) from memory.observations where candidates = 0)"""
    ).fetchone()
    assert unread == (0, 0, 0, 0, 0)


@pytest.mark.parametrize("stages", ITEMS, ids=" ".join)
def test_one_item_that_a_stage_fails_on_buries_itself(
    stages: dict[str, set[str]], clean: Clean, store: Store, conn: Conn, history: Path
) -> None:
    prepare(store, conn, history, ["acme"])
    with pytest.MonkeyPatch.context() as patch:
        for stage in stages:
            spoil(patch, stage)
        remember(store, tenants=["acme"])
        buried, state = letters(conn), digest_of(conn, "acme").tables
        remember(store, tenants=["acme"])
        assert (letters(conn), digest_of(conn, "acme").tables) == (buried, state), "it is not tried again for ever"
    names = {f"stage:{'extract' if stage == 'events' else stage}": of for stage, of in stages.items()}
    found = {source: {row[3] for row in buried if row[1] == source} for source in {row[1] for row in buried}}
    assert found == names
    assert {row[2] for row in buried} == {"stage_failed"} and all(row[4] for row in buried)
    nothing_is_told(buried)
    if "extract" in stages:
        assert of_ana(conn) == clean.of_ana
    counted = dict(
        conn.execute(
            """select 'stage:' || stage, sum((report ->> 'discarded_stage_failed')::int) from ops.runs
               where report ? 'discarded_stage_failed' and (report ->> 'discarded_stage_failed')::int > 0 group by 1"""
        ).fetchall()
    )
    assert counted == {source: len([row for row in buried if row[1] == source]) for source in names}
    left_out = "award" if "extract" in stages else "locker"
    assert not conn.execute(
        # a summary quotes the log, which has the turn
        "select tenant_id, kind, content from memory.memories where content ~ %s and kind <> 'summary'", [left_out]
    ).fetchall()  # fmt: skip

    # mended, and redriven
    assert redrive_dead_letters(store, tenant_id="acme", now=compact.UNTIL).released == len(buried)
    remember(store, tenants=["acme"])
    nothing_waits(conn)


def test_a_subject_that_a_stage_fails_on_is_set_aside(
    clean: Clean, failed: Failed, database_factory: DatabaseFactory
) -> None:
    """Each stage on another: one run, and the other subjects and tenants come out whole."""
    assert sorted(row[:5] for row in failed.buried) == sorted(
        ("acme", f"stage:{stage}", "stage_failed", stage, None) for stage in SUBJECTS
    )
    nothing_is_told(failed.buried)
    assert failed.of_ana == clean.of_ana
    assert failed.digests["beta"] == clean.digests["beta"]
    assert failed.digests["acme"] != clean.digests["acme"]
    with database_factory.copy(failed.name) as url, Store.open(url, size=1) as store, connect(url) as conn:
        assert redrive_dead_letters(store, tenant_id="beta", now=compact.UNTIL).released == 0
        assert redrive_dead_letters(store, tenant_id="acme", now=compact.UNTIL).released == len(failed.buried)
        remember(store)
        nothing_waits(conn)
        assert digests(conn) == clean.digests


def test_a_defect_that_everything_shows_buries_nothing(store: Store, conn: Conn, history: Path) -> None:
    import_file(store, history, tenant_id="acme", now=compact.UNTIL)

    def fail(*_: object) -> None:
        raise Defect("I live in Mumbai.")

    with pytest.MonkeyPatch.context() as patch, pytest.raises(StageError, match="on every"):
        patch.setattr(decide, "_verbatim", fail)
        consolidate(store, "acme", compact.policy(), compact.UNTIL)
    assert letters(conn) == []
    assert conn.execute("select count(*) from memory.extractions").fetchone() == (0,)


def test_a_message_on_which_the_reader_fails_buries_itself_alone(store: Store, conn: Conn, tmp_path: Path) -> None:
    texts = ("I'm allergic to peanuts", "this one has an award", "my sister Ann lives in Leeds")
    at = compact.START.isoformat()
    lines = [{"subject_id": "ana", "session_id": "a", "role": "user", "said_at": at, "text": text} for text in texts]
    file = tmp_path / "turns.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    import_file(store, file, tenant_id="acme", now=compact.UNTIL)
    read = TrainedReader.read

    def fail(self: TrainedReader, messages: Sequence[AskedMessage]) -> list[ReadMessage]:
        if any("award" in message.text for message in messages):
            raise Defect("the reader")
        return read(self, messages)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TrainedReader, "read", fail)
        consolidate(store, "acme", load_policy("reverie"), compact.UNTIL)
    assert len(letters(conn)) == 1
    read_turns = conn.execute(
        """select t.text from memory.extractions e join log.turns t on t.id = e.turn_id
           where e.candidates > 0 order by t.text"""
    )
    assert read_turns.fetchall() == [(texts[0],), (texts[2],)]


def test_text_without_a_visible_character_stops_nobody(store: Store, conn: Conn) -> None:
    conn.execute("insert into ops.tenants (tenant_id) values ('acme')")
    for number, text in enumerate(["\u200b", "\ufeff\n\nI live in Pune.", "\u200b\n\n" + "We walk. " * 400]):
        conn.execute(
            """insert into log.events (tenant_id, id, subject_id, source_id, type, channel, content, observed_at,
                                       content_hash)
               values ('acme', %s, 'ana', %s, 'attachment', 'attachment', %s, %s, '\\x00')""",
            [stable_id(compact.START, str(number)), str(number), text, compact.START],
        )
    embedder = WordEmbedder()
    embedder.count_tokens = lambda text: len(text.replace("\u200b", " ").replace("\ufeff", " ").split())  # type: ignore[method-assign]
    consolidate(store, "acme", load_policy("reverie"), compact.UNTIL, embedder)
    assert letters(conn) == []
    assert conn.execute("select count(*) from memory.observations").fetchone() == (3,)


def test_a_rebuild_tries_a_subject_again_that_was_set_aside(
    clean: Clean, failed: Failed, database_factory: DatabaseFactory
) -> None:
    with database_factory.copy(failed.name) as url, Store.open(url, size=1) as store, connect(url) as conn:
        empty_memory(work_of(store, "acme"))
        remember(store)
        assert letters(conn) == []
        assert digests(conn) == clean.digests
