"""A correction reaches the model with its answer: what is wrong is nowhere told, live and in a rebuild."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import psycopg
import pytest

from reverie.capture.history.importing import import_file
from reverie.capture.live.corrections import Asked, Corrected, CorrectionAsked, correct_memory
from reverie.drive.cycle import ingest
from reverie.drive.erase.erasing import Eraser
from reverie.drive.erase.targets import turn_target
from reverie.drive.replay import replay
from reverie.errors import InputError
from reverie.model import Scope
from reverie.policy import Policy
from reverie.recall.browse import MemoryFilter, page_memories
from reverie.recall.contexts.context import Context, assemble_context
from reverie.recall.contexts.earlier import WITHDRAWN
from reverie.recall.contexts.request import Given, Message
from reverie.recall.inspect import explain, show_subject
from reverie.recall.query import RecallQuery
from reverie.recall.recall import recall
from reverie.recall.result import RecallResult
from reverie.store.connect import connect
from reverie.store.database import Store
from reverie.store.digest import digest
from reverie.store.session import perform
from reverie.store.work import Work
from reverie.testing import DatabaseFactory
from tests.asking import asking
from tests.promises import compact
from tests.promises.conftest import WorkedIn
from tests.promises.world import WordEmbedder, consolidate, lively

TENANT = compact.TENANT
THEN = compact.START + timedelta(days=35, hours=5)
SAID = "I have a golden retriever named Rex."
WRONG, RIGHT = "Rex", "Has a beagle named Max"
#: By policy: what is said that it remembers, the word by which it is known, what is right.
TARGETS = {
    "reverie": (SAID, WRONG, RIGHT),
    "contact": (SAID, WRONG, RIGHT),
    "logic": (SAID, WRONG, RIGHT),
    "agent": ("I'm working on a zeppelin planner.", "zeppelin", "Works on a submarine planner"),
    "brain": ("I like marzipan.", "marzipan", "Likes nougat"),
    "chat": ("I live in Gothenburg.", "Gothenburg", "Lives in Uppsala"),
}
#: Ways to correct, and the names of the subjects who do.
ASKED: tuple[Asked, ...] = ("wrong", "replace", "forget")


def policy(name: str = "reverie", **numbers: dict[str, Any]) -> Policy:
    """One cycle a day; no session is summarised, so that turns and memories alone are told."""
    return lively(name, cycle={"hours": 24}, **numbers)


class Told(NamedTuple):
    """A database in which the history was worked in by a policy up to THEN."""

    store: Store
    url: str


#: Opens a database of the test's own.
AtThen = Callable[[Policy], Told]


@pytest.fixture
def at_then(worked_in: WorkedIn, database_factory: DatabaseFactory) -> Iterator[AtThen]:
    """Opens a database of this test's own."""
    with ExitStack() as opened:

        def open_copy(of: Policy) -> Told:
            url = opened.enter_context(database_factory.copy(worked_in(of, THEN)))
            return Told(opened.enter_context(Store.open(url, size=2)), url)

        yield open_copy


def saying(folder: Path, texts: list[str], day: float, subject: str = "ana") -> Path:
    """A session of a subject's."""
    path = folder / f"said-{subject}-{day}.jsonl"
    names = {"tenant_id": TENANT, "subject_id": subject, "session_id": f"said-{day}", "role": "user"}
    turns = [
        names | {"source_id": f"{place}", "text": text, "said_at": (at + timedelta(minutes=place)).isoformat()}
        for at in [compact.START + timedelta(days=day)]
        for place, text in enumerate(texts)
    ]
    path.write_text("".join(json.dumps(turn) + "\n" for turn in turns), encoding="utf-8")
    return path


def rows(store: Store, sql: str, *params: Any) -> list[tuple[Any, ...]]:
    with store.transaction(TENANT) as conn:
        return conn.execute(sql, params).fetchall()  # type: ignore[arg-type]


def find(store: Store, words: str, subject: str = "ana") -> UUID:
    sql = (
        "select id from memory.memories where state in ('active', 'compressed') and content ilike %s "
        "and subject_id = %s and kind not in ('summary', 'pattern') order by kind = 'episode', id limit 1"
    )
    ((id_,),) = rows(store, sql, f"%{words}%", subject)
    return id_  # type: ignore[no-any-return]


def ask_for(
    store: Store,
    asked: Asked,
    memory: UUID,
    of: Policy,
    content: str | None = None,
    *,
    hours: float = 0.0,
    actor: str | None = None,
) -> Corrected:
    at = THEN + timedelta(hours=hours)
    correction = CorrectionAsked(memory_id=memory, asked=asked, content=content, actor=actor)
    return perform(correct_memory(store.session(TENANT), correction, policy=of, as_of=at))


def ask(
    store: Store, of: Policy, question: str, at: datetime, *, embed: bool = True, subject: str = "ana"
) -> RecallResult:
    embedder = WordEmbedder() if embed else None
    query, others = asking(question, subject_id=subject, as_of=at, top_k=50, token_budget=5000)
    return perform(recall(store.session(TENANT), query, policy=of, embedder=embedder, **others))


def tell(
    store: Store, of: Policy, question: str | None, at: datetime, *, subject: str = "ana", **given: Any
) -> Context:
    assembled = assemble_context(
        store.session(TENANT),
        RecallQuery(text=question or "", subject_id=subject, as_of=at),
        policy=of,
        embedder=WordEmbedder(),
        given=Given(**given),
    )
    return perform(assembled)


def everything(store: Store, of: Policy, at: datetime, subject: str = "ana") -> str:
    """All that anybody is told about a subject: recalls by each arm, contexts with and without a question, lists."""
    said, word, _ = TARGETS[of.name]
    questions = ("What dog do I have?", "Tell me about Rex", said, f"What about {word}?")
    recalls = [ask(store, of, one, at, embed=embed, subject=subject) for one in questions for embed in (True, False)]
    told = [hit.content for one in recalls for hit in one.hits]
    history = [Message(role="user", content=said), Message(role="assistant", content="Noted.")]
    contexts = [tell(store, of, one, at, subject=subject, history=history) for one in (*questions, None)]
    told += [one.text for one in contexts]
    kinds = ("fact", "preference", "instruction", "episode", "summary", "pattern")
    wanted = MemoryFilter(kinds=kinds)
    session = store.session(TENANT)
    listed = perform(page_memories(session, subject, policy=of, wanted=wanted, as_of=at, before=None, limit=500))
    told += [one.content for one in listed]
    shown = show_subject(store, tenant_id=TENANT, subject_id=subject, policy=of, as_of=at)
    told += [one.content for one in shown.memories]
    return "\n".join(told)


def wipe(url: str) -> None:
    with connect(url) as conn:
        for (table,) in conn.execute(
            "select c.oid::regclass::text from pg_class c where relnamespace = 'memory'::regnamespace and relkind = 'r'"
        ).fetchall():
            conn.execute(psycopg.sql.SQL("delete from {}").format(psycopg.sql.Identifier(*table.split("."))))


@pytest.fixture
def who_corrects(store: Store, history: Path, tmp_path: Path) -> Callable[[Policy], Store]:
    """Works in what the subjects `wrong`, `replace` and `forget` said, up to THEN: all that ana did and a sentence."""

    def work_in(of: Policy) -> Store:
        said, *_ = TARGETS[of.name]
        lines = [line for line in history.read_text(encoding="utf-8").splitlines(keepends=True) if '"ana"' in line]
        for subject in ASKED:
            own = tmp_path / f"{subject}.jsonl"
            own.write_text("".join(line.replace('"ana"', f'"{subject}"') for line in lines), encoding="utf-8")
            for file in (own, saying(tmp_path, [said] if said != SAID else ["Hello."], 10, subject)):
                import_file(store, file, tenant_id=TENANT, now=compact.UNTIL)
        consolidate(store, TENANT, of, THEN)
        return store

    return work_in


@pytest.mark.parametrize("name", TARGETS)
def test_what_is_wrong_is_nowhere_told(who_corrects: Callable[[Policy], Store], database_url: str, name: str) -> None:
    """Each way to correct on a subject of its own, who all said the same."""
    of, (said, word, right) = policy(name), TARGETS[name]
    store, at, later = who_corrects(of), THEN + timedelta(minutes=1), THEN + timedelta(hours=2)
    for asked in ASKED:
        assert any(word in hit.content for hit in ask(store, of, said, at, subject=asked).hits)
        ask_for(store, asked, find(store, word, asked), of, right if asked == "replace" else None)
    stages = [{asked: everything(store, of, at, asked) for asked in ASKED}]
    for until in (later, compact.UNTIL):
        consolidate(store, TENANT, of, until)
        stages.append({asked: everything(store, of, until, asked) for asked in ASKED})
    live = digest(store, TENANT)
    wipe(database_url)
    consolidate(store, TENANT, of, compact.UNTIL)
    assert digest(store, TENANT).tables == live.tables, "what is told of the same memory is the same"
    for number, told in enumerate(stages):
        for asked, text in told.items():
            assert word not in text, f"{asked} {number}: {[line for line in text.splitlines() if word in line]}"
        if number < 2:
            assert right in told["replace"], number
    sayings = rows(store, "select subject_id from log.turns where text = %s", said)
    assert {subject for (subject,) in sayings} == set(ASKED), "the log keeps what was said"


def test_the_replacement_is_the_best_hit_at_once(at_then: AtThen) -> None:
    of = policy()
    told, _ = at_then(of)
    at = THEN + timedelta(minutes=1)
    dog = find(told, WRONG)
    made = ask_for(told, "replace", dog, of, RIGHT)
    for question in ("What dog is Max?", "Do I have a beagle?", "golden retriever named Rex"):
        for embed in (True, False):
            found = ask(told, of, question, at, embed=embed)
            assert made.replacement_id in [hit.id for hit in found.hits], (question, embed)
            assert [hit.content for hit in found.hits].count(RIGHT) == 1
    found = ask(told, of, "What dog is Rex?", at)
    reasons = {drop.id: drop.reason for drop in found.dropped}
    assert reasons[dog] == "corrected"
    turns = [id_ for (id_,) in rows(told, "select id from log.turns where text ilike '%%golden retriever%%'")]
    assert {reasons.get(id_, "corrected") for id_ in turns} == {"corrected"}
    assert not set(turns) & {hit.id for hit in found.hits}
    assert perform(explain(told.session(TENANT), str(made.replacement_id))).memory["content"] == RIGHT


def test_what_else_a_corrected_turn_said_stays(at_then: AtThen) -> None:
    of = policy()
    told, _ = at_then(of)
    ask_for(told, "wrong", find(told, WRONG), of)
    found = ask(told, of, "Does Bruno love the park, and where does my sister live?", THEN + timedelta(minutes=1))
    assert any("Pune" in hit.content for hit in found.hits)
    assert any("loves the park" in hit.content for hit in found.hits)


def test_a_conversation_holds_a_mark_for_what_was_corrected(at_then: AtThen) -> None:
    of = policy()
    told, _ = at_then(of)
    said = [Message(role="user", content=SAID), Message(role="user", content="What shall I cook?")]
    ask_for(told, "wrong", find(told, WRONG), of)
    text = tell(told, of, "What shall I cook?", THEN, history=said).text
    assert WITHDRAWN in text
    assert "What shall I cook?" in text


def test_said_again_is_new(at_then: AtThen, tmp_path: Path) -> None:
    of = policy()
    told, _ = at_then(of)
    ask_for(told, "wrong", find(told, WRONG), of)
    consolidate(told, TENANT, of, THEN + timedelta(hours=2))
    import_file(told, saying(tmp_path, [SAID], 36), tenant_id=TENANT, now=compact.UNTIL)
    until = compact.START + timedelta(days=36, hours=1)
    consolidate(told, TENANT, of, until)
    found = ask(told, of, "What dog do I have?", until)
    assert sum(WRONG in hit.content for hit in found.hits) == 1, (
        "the new turn or its memory; the old turns are withheld"
    )


def test_a_replacement_is_corrected_before_it_is_worked_in(at_then: AtThen) -> None:
    of = policy()
    told, _ = at_then(of)
    first = ask_for(told, "replace", find(told, WRONG), of, "Has a poodle named Tom")
    assert first.replacement_id is not None
    ask_for(told, "replace", first.replacement_id, of, RIGHT, hours=0.01)
    for at in (THEN + timedelta(hours=0.1), THEN + timedelta(hours=2)):
        text = everything(told, of, at)
        assert WRONG not in text
        assert "poodle" not in text
        assert RIGHT in text
        consolidate(told, TENANT, of, at)


def test_who_corrected_is_told(at_then: AtThen) -> None:
    of = policy()
    told, _ = at_then(of)
    dog = find(told, WRONG)
    made = ask_for(told, "forget", dog, of, actor="support: Dana")
    (waiting,) = perform(explain(told.session(TENANT), str(dog))).corrections
    assert (waiting.id, waiting.kind, waiting.actor, waiting.worked_in) == (made.id, "forget", "support: Dana", False)
    consolidate(told, TENANT, of, THEN + timedelta(hours=2))
    found = perform(explain(told.session(TENANT), str(dog)))
    assert found.memory["reason"] == "forgotten_on_request"
    assert [(one.actor, one.worked_in) for one in found.corrections] == [("support: Dana", True)]
    assert {turn.mark for turn in found.turns} == {"forgotten"}


def test_a_pinned_memory_stays_and_is_always_considered(at_then: AtThen) -> None:
    of = policy(prune={"below": 0.9, "unaccessed_days": 60})
    told, url = at_then(of)
    kept = find(told, "coffee")
    (peak,) = rows(told, "select peak from memory.memories where id = %s", kept)[0]
    ask_for(told, "pin", kept, of)
    found = ask(told, of, "zebra", THEN + timedelta(minutes=1), embed=False)
    assert kept in [hit.id for hit in found.hits]
    consolidate(told, TENANT, of, compact.UNTIL)
    assert rows(told, "select state, importance from memory.memories where id = %s", kept) == [("active", peak)]
    listed = show_subject(told, tenant_id=TENANT, subject_id="ana", policy=of, as_of=compact.UNTIL).memories
    assert [one.importance for one in listed if one.id == kept] == [peak]
    live = digest(told, TENANT)
    wipe(url)
    consolidate(told, TENANT, of, compact.UNTIL)
    assert digest(told, TENANT).tables == live.tables
    unpin = correct_memory(
        told.session(TENANT), CorrectionAsked(memory_id=kept, asked="unpin"), policy=of, as_of=compact.UNTIL
    )
    perform(unpin)
    consolidate(told, TENANT, of, compact.UNTIL + timedelta(days=40))
    assert rows(told, "select reason from memory.tombstones where memory_id = %s", kept) == [("faded",)]
    with pytest.raises(InputError, match="forgotten"):
        ask_for(told, "pin", kept, of, hours=9999)


def test_reading_a_session_again_does_not_bring_it_back(at_then: AtThen) -> None:
    of, later = policy("contact"), THEN + timedelta(hours=2)
    told, _ = at_then(of)
    ask_for(told, "wrong", find(told, WRONG), of)
    consolidate(told, TENANT, of, later)
    before = digest(told, TENANT)
    for (session,) in rows(told, "select distinct session_id from log.turns where subject_id = 'ana'"):
        work = Work(store=told, scope=Scope(tenant_id=TENANT), policy=of, as_of=later, embedder=WordEmbedder())
        list(replay(work, subject_id="ana", session_id=session))
    assert WRONG not in everything(told, of, later)
    assert digest(told, TENANT).tables["memories"] == before.tables["memories"]


@pytest.mark.parametrize("is_applied", [False, True])
def test_an_erasure_of_something_else_brings_nothing_back(at_then: AtThen, *, is_applied: bool) -> None:
    """Until the subject's memory is made again, and while it is: a memory returns before its correction does."""
    of, later = policy(), THEN + timedelta(hours=2)
    told, url = at_then(of)
    ask_for(told, "replace", find(told, WRONG), of, RIGHT)
    if is_applied:
        consolidate(told, TENANT, of, later)
    ((other,),) = rows(told, "select id from log.turns where subject_id = 'ana' and text like '%%Delhi%%'")
    eraser = Eraser(store=told, tenant_id=TENANT, policy=of, count_tokens=len, at=later)
    assert eraser.erase(turn_target(other)).turns == 1
    history = [Message(role="user", content=SAID)]
    work = Work(store=told, scope=Scope(tenant_id=TENANT), policy=of, as_of=later, embedder=WordEmbedder())
    for _ in range(2):
        assert WITHDRAWN in tell(told, of, "What shall I cook?", later, history=history).text
        text = everything(told, of, later)
        assert WRONG not in text
        assert is_applied or RIGHT in text
        list(ingest(work))
    assert rows(told, "select count(*) > 0 from memory.memories where content ilike '%%Rex%%'") == [(True,)]
    consolidate(told, TENANT, of, compact.UNTIL)
    live = digest(told, TENANT)
    wipe(url)
    consolidate(told, TENANT, of, compact.UNTIL)
    assert digest(told, TENANT).tables == live.tables


def test_a_memory_that_was_due_is_pinned_in_time(at_then: AtThen) -> None:
    of = policy(prune={"below": 0.9, "unaccessed_days": 60})
    told, url = at_then(of)
    kept = find(told, "coffee")
    pin = correct_memory(
        told.session(TENANT), CorrectionAsked(memory_id=kept, asked="pin"), policy=of, as_of=compact.UNTIL
    )
    perform(pin)  # no cycle ran since it was due
    until = compact.UNTIL + timedelta(hours=1)
    for _ in range(2):
        consolidate(told, TENANT, of, until)
        assert rows(told, "select state from memory.memories where id = %s", kept) == [("active",)]
        found = digest(told, TENANT)
        wipe(url)
    consolidate(told, TENANT, of, until)
    assert digest(told, TENANT).tables == found.tables


def test_nothing_is_withheld_from_others(at_then: AtThen) -> None:
    of = policy()
    told, _ = at_then(of)
    ask_for(told, "wrong", find(told, WRONG), of)
    with told.transaction("other") as conn:
        assert conn.execute("select from memory.marks").fetchall() == []
    assert {row[0] for row in rows(told, "select distinct subject_id from memory.marks")} == {"ana"}
