"""A correction that is taken back was never made: at once, after the next run, and in every rebuild (decision 0073)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from reverie.capture.history.importing import import_file
from reverie.capture.live.corrections import Asked, Corrected, retract_correction
from reverie.drive.drain import Drainer
from reverie.errors import InputError, NotFoundError
from reverie.recall.inspect import explain
from reverie.store.database import Store
from reverie.store.digest import Digest, digest
from reverie.store.session import perform
from reverie.testing import DatabaseFactory
from tests.promises import compact
from tests.promises.conftest import WorkedIn
from tests.promises.test_corrected_at_once import (
    RIGHT,
    TARGETS,
    TENANT,
    THEN,
    WRONG,
    ask,
    ask_for,
    everything,
    find,
    policy,
    rows,
    saying,
    wipe,
)
from tests.promises.world import WordEmbedder, consolidate

LATER = THEN + timedelta(hours=7)


@pytest.fixture
def copied(worked_in: WorkedIn, database_factory: DatabaseFactory) -> Iterator[str]:
    """A database with the history, worked in up to THEN."""
    with database_factory.copy(worked_in(policy(), THEN)) as url:
        yield url


@pytest.fixture
def told(copied: str) -> Iterator[Store]:
    """Its store."""
    with Store.open(copied, size=2) as opened:
        yield opened


@pytest.fixture
def never(worked_in: WorkedIn, database_factory: DatabaseFactory) -> Digest:
    """What the history comes to by LATER if nobody corrects anything."""
    with database_factory.copy(worked_in(policy(), LATER)) as url, Store.open(url, size=1) as store:
        return digest(store, TENANT)


def take_back(store: Store, memory: object, hours: float = 6.5) -> Corrected:
    at = THEN + timedelta(hours=hours)
    return perform(
        retract_correction(store.session(TENANT), memory_id=memory, policy=policy(), as_of=at, actor="dana")  # type: ignore[arg-type]
    )


def without_notes(found: Digest) -> dict[str, object]:
    """All tables but the list of what is worked in."""
    return {name: table for name, table in found.tables.items() if name != "corrected"}


@pytest.mark.parametrize("asked", ["wrong", "replace", "forget"])
def test_memory_is_as_if_it_had_never_been_corrected(told: Store, copied: str, never: Digest, asked: Asked) -> None:
    of = policy()
    dog, before = find(told, WRONG), everything(told, of, LATER)
    ask_for(told, asked, dog, of, RIGHT if asked == "replace" else None)
    consolidate(told, TENANT, of, THEN + timedelta(hours=2))
    assert rows(told, "select count(*) from memory.memories where id = %s", dog) == [(0,)]
    take_back(told, dog)
    assert any(WRONG in hit.content for hit in ask(told, of, "What dog is Rex?", LATER).hits), "at once"
    assert RIGHT not in everything(told, of, LATER)
    consolidate(told, TENANT, of, LATER)
    assert without_notes(digest(told, TENANT)) == without_notes(never)
    assert everything(told, of, LATER) == before
    live = digest(told, TENANT)
    consolidate(told, TENANT, of, LATER)
    assert digest(told, TENANT) == live, "a second run changes nothing"
    wipe(copied)
    consolidate(told, TENANT, of, LATER)
    assert digest(told, TENANT) == live, "a rebuild gives the same"
    seen = perform(explain(told.session(TENANT), str(dog))).corrections
    assert [(one.kind, one.retracted, one.worked_in) for one in seen] == [(asked, True, True), ("retract", False, True)]


def test_one_taken_back_before_stays_so(told: Store, copied: str) -> None:
    """The subject's memory is made again for the second one, and the first is not applied to it."""
    of = policy()
    before = everything(told, of, LATER)
    for hours, words in ((1, WRONG), (3, "Pune")):
        memory = find(told, words)
        ask_for(told, "wrong", memory, of, hours=hours)
        consolidate(told, TENANT, of, THEN + timedelta(hours=hours + 0.5))
        take_back(told, memory, hours=hours + 1)
        consolidate(told, TENANT, of, THEN + timedelta(hours=hours + 1.5))
    assert everything(told, of, LATER) == before
    live = digest(told, TENANT)
    wipe(copied)
    consolidate(told, TENANT, of, THEN + timedelta(hours=4.5))
    assert digest(told, TENANT) == live


def test_one_that_waits_is_void_at_once(told: Store, copied: str) -> None:
    of = policy()
    at = THEN + timedelta(hours=1)
    dog, before = find(told, WRONG), everything(told, of, at)
    made = ask_for(told, "replace", dog, of, RIGHT)
    assert everything(told, of, at) != before
    take_back(told, made.replacement_id, hours=0.5)  # by its replacement
    assert everything(told, of, at) == before
    consolidate(told, TENANT, of, at)
    assert everything(told, of, at) == before
    runs = rows(told, "select report -> 'subjects' from ops.runs where stage = 'retract'")
    assert runs == [(0,)], "nothing had to be made again"
    live = digest(told, TENANT)
    wipe(copied)
    consolidate(told, TENANT, of, at)
    assert digest(told, TENANT) == live


def test_as_of_a_time_before_it_was_taken_back_the_correction_holds(told: Store) -> None:
    of = policy()
    dog = find(told, WRONG)
    ask_for(told, "wrong", dog, of)
    take_back(told, dog)
    consolidate(told, TENANT, of, THEN + timedelta(hours=2))
    assert rows(told, "select reason from memory.tombstones where memory_id = %s", dog) == [("wrong",)]
    consolidate(told, TENANT, of, LATER)
    assert rows(told, "select reason from memory.tombstones where memory_id = %s", dog) == []


@pytest.mark.parametrize("is_worked_in", [True, False])
def test_at_a_stopped_clock_it_is_made_again(told: Store, copied: str, is_worked_in: bool) -> None:
    """Wrong, taken back and wrong again, all at one time: the last one holds."""
    of = policy()
    dog = find(told, WRONG)
    for _ in range(2):
        ask_for(told, "wrong", dog, of)
        if is_worked_in:
            consolidate(told, TENANT, of, THEN)
        take_back(told, dog, hours=0)
        if is_worked_in:
            consolidate(told, TENANT, of, THEN)
            assert WRONG in everything(told, of, THEN)
    last = ask_for(told, "wrong", dog, of)
    assert ask_for(told, "wrong", dog, of).id == last.id, "said twice is said once"
    assert WRONG not in everything(told, of, THEN), "at once"
    consolidate(told, TENANT, of, THEN)
    assert rows(told, "select reason from memory.tombstones where memory_id = %s", dog) == [("wrong",)]
    live = digest(told, TENANT)
    wipe(copied)
    consolidate(told, TENANT, of, THEN)
    assert digest(told, TENANT) == live


def test_at_a_stopped_clock_corrections_hold_in_their_order(told: Store, copied: str) -> None:
    """Of pins and unpins the last one holds, and a replacement that was replaced in turn is nowhere told."""
    of = policy()
    kept, dog = find(told, "coffee"), find(told, WRONG)
    for asked in ("pin", "unpin", "pin", "unpin", "pin"):
        ask_for(told, asked, kept, of)  # type: ignore[arg-type]
    replaced = dog
    for content in ("Has a poodle named Tom", "Has a spaniel named Kim", RIGHT):
        made = ask_for(told, "replace", replaced, of, content).replacement_id
        assert made is not None
        replaced = made
    consolidate(told, TENANT, of, THEN)
    pinned = rows(told, "select mark from memory.marks where item_id = %s", kept)
    assert pinned == [("pinned",)]
    text = everything(told, of, THEN)
    assert RIGHT in text and not any(word in text for word in (WRONG, "poodle", "spaniel"))
    live = digest(told, TENANT)
    wipe(copied)
    consolidate(told, TENANT, of, THEN)
    assert digest(told, TENANT) == live
    ask_for(told, "unpin", kept, of)
    consolidate(told, TENANT, of, THEN)
    assert rows(told, "select mark from memory.marks where item_id = %s", kept) == []


def test_the_worker_makes_the_subject_again(told: Store, copied: str) -> None:
    of = policy()
    dog = find(told, WRONG)
    ask_for(told, "wrong", dog, of)
    consolidate(told, TENANT, of, THEN + timedelta(hours=2))
    take_back(told, dog)
    with told.transaction(TENANT) as conn:
        conn.execute("update ops.tenants set policy = 'reverie'")
    others = rows(told, "select count(*), min(run_id::text) from memory.memories where subject_id <> 'ana'")
    drained = Drainer(store=told, embedder=WordEmbedder(), clock=lambda: LATER).drain(as_of=LATER)
    assert drained.counts()["failed"] == 0 and drained.counts()["subjects"] == 1
    assert rows(told, "select count(*) from memory.memories where id = %s", dog) == [(1,)]
    assert rows(told, "select count(*), min(run_id::text) from memory.memories where subject_id <> 'ana'") == others


def test_what_cannot_be_taken_back_is_said(told: Store) -> None:
    of = policy()
    dog = find(told, WRONG)
    with pytest.raises(NotFoundError, match="No correction"):
        take_back(told, dog)
    first = ask_for(told, "replace", dog, of, "Has a poodle named Tom")
    consolidate(told, TENANT, of, THEN + timedelta(hours=2))
    second = ask_for(told, "replace", first.replacement_id, of, RIGHT, hours=3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="take that back first"):
        take_back(told, dog)
    take_back(told, second.replacement_id, hours=3.5)
    take_back(told, dog, hours=3.6)
    with pytest.raises(NotFoundError, match="No correction"):
        take_back(told, dog, hours=3.7)
    consolidate(told, TENANT, of, LATER)
    text = everything(told, of, LATER)
    assert "poodle" not in text and RIGHT not in text and WRONG in text


def test_said_again_in_between_becomes_the_same_memory(told: Store, tmp_path: Path, copied: str) -> None:
    of, (said, _, _) = policy(), TARGETS["reverie"]
    dog = find(told, WRONG)
    ask_for(told, "wrong", dog, of)
    consolidate(told, TENANT, of, THEN + timedelta(hours=2))
    import_file(told, saying(tmp_path, [said], 36), tenant_id=TENANT, now=compact.UNTIL)
    until = compact.START + timedelta(days=36, hours=1)
    consolidate(told, TENANT, of, until)
    assert rows(told, "select count(*) from memory.memories where id = %s", dog) == [(0,)]
    take_back(told, dog, hours=25)
    consolidate(told, TENANT, of, until + timedelta(hours=8))
    assert rows(told, "select state from memory.memories where id = %s", dog) == [("active",)]
    live = digest(told, TENANT)
    wipe(copied)
    consolidate(told, TENANT, of, until + timedelta(hours=8))
    assert digest(told, TENANT) == live
