"""A correction holds in a memory that another policy makes, whose memories have other words and ids."""

from __future__ import annotations

from datetime import timedelta
from itertools import permutations
from pathlib import Path
from uuid import UUID

import pytest

from reverie.capture.history.importing import import_file
from reverie.capture.live.corrections import Asked, retract_correction
from reverie.drive.erase.erasing import Eraser
from reverie.drive.erase.targets import turn_target
from reverie.errors import NotFoundError
from reverie.policy import Policy
from reverie.recall.inspect import explain
from reverie.store.database import Store
from reverie.store.digest import digest
from reverie.store.session import perform
from tests.promises import compact
from tests.promises.test_corrected_at_once import TENANT, THEN, ask, ask_for, policy, rows, saying, tell, wipe
from tests.promises.world import consolidate

#: By correction: the sentence whose memories are corrected, and a word of it.
SAID: dict[Asked, tuple[str, str]] = {
    "forget": ("My brother Jan is in prison.", "Jan"),
    "wrong": ("I work at St Luke's.", "Luke"),
    "replace": ("I hate cilantro.", "cilantro"),
}
KEPT, RIGHT = "I have a beagle named Max.", "Loves coriander"
LATER, LAST = THEN + timedelta(hours=2), THEN + timedelta(hours=5)
ORDERS = list(permutations(("reverie", "contact")))


def corrected(store: Store, folder: Path, of: Policy) -> list[UUID]:
    """Say all, and correct every memory of a sentence but the kept one's; return the corrected memories."""
    texts = [KEPT, *(text for text, _ in SAID.values())]
    import_file(store, saying(folder, texts, 30), tenant_id=TENANT, now=compact.UNTIL)
    consolidate(store, TENANT, of, THEN)
    memories = []
    for asked, (text, word) in SAID.items():
        found = memories_about(store, word)
        assert found, text
        for number, (id_, kind) in enumerate(found):
            replaced = asked == "replace" and kind != "episode"
            how: Asked = "wrong" if asked == "replace" and not replaced else asked
            ask_for(store, how, id_, of, RIGHT if replaced else None, hours=0.01 * number)
            memories.append(id_)
    return memories


def memories_about(store: Store, word: str) -> list[tuple[UUID, str]]:
    sql = "select id, kind from memory.memories where kind not in ('summary', 'pattern') and content ~ %s order by id"
    return [(id_, kind) for id_, kind in rows(store, sql, word)]


def what_is_told(store: Store, of: Policy) -> str:
    """The contexts and recalls of each sentence, and the context without a question."""
    questions = [KEPT, *(text for text, _ in SAID.values())]
    told = [hit.content for one in questions for hit in ask(store, of, one, LATER).hits]
    return "\n".join([*told, *(tell(store, of, one, LATER).text for one in [*questions, None])])


def make_anew(store: Store, url: str, of: Policy) -> None:
    wipe(url)
    consolidate(store, TENANT, of, LATER)


@pytest.mark.parametrize(("first", "second"), ORDERS)
def test_a_correction_holds_under_another_policy(
    store: Store, database_url: str, tmp_path: Path, first: str, second: str
) -> None:
    memories = corrected(store, tmp_path, policy(first))
    consolidate(store, TENANT, policy(first), LATER)
    replacement = rows(store, "select id, kind from memory.memories where content = %s", RIGHT)
    of = policy(second)
    make_anew(store, database_url, of)
    known = {id_ for (id_,) in rows(store, "select memory_id from memory.tombstones")}
    assert set(memories) - known, "it makes a memory with another id"
    told = what_is_told(store, of)
    for _, word in SAID.values():
        assert word not in told
        assert memories_about(store, word) == []
    assert "beagle" in told
    assert RIGHT in told
    assert rows(store, "select id, kind from memory.memories where content = %s", RIGHT) == replacement
    for id_ in memories:
        assert perform(explain(store.session(TENANT), str(id_))).forgotten
    made = digest(store, TENANT)
    make_anew(store, database_url, of)
    assert digest(store, TENANT) == made
    wipe(database_url)
    consolidate(store, TENANT, policy(first), LATER)
    assert {id_ for (id_,) in rows(store, "select memory_id from memory.tombstones where reason <> 'faded'")} >= set(
        memories
    )


@pytest.mark.parametrize(("first", "second"), ORDERS)
def test_it_is_taken_back_under_another_policy(
    store: Store, database_url: str, tmp_path: Path, first: str, second: str
) -> None:
    memories, of = corrected(store, tmp_path, policy(first)), policy(second)
    make_anew(store, database_url, of)
    for id_ in memories:
        perform(retract_correction(store.session(TENANT), memory_id=id_, policy=of, as_of=LATER))
    consolidate(store, TENANT, of, LAST)
    assert rows(store, "select from memory.marks") == []
    assert memories_about(store, "cilantro") and memories_about(store, "Luke") and memories_about(store, "Jan")
    assert memories_about(store, RIGHT) == []
    ours = {id_ for (id_,) in rows(store, "select id from memory.memories")}
    for id_ in set(memories) - ours:
        with pytest.raises(NotFoundError):
            perform(explain(store.session(TENANT), str(id_)))


@pytest.mark.parametrize(("first", "second"), ORDERS)
def test_a_corrected_replacement_stays_corrected(
    store: Store, database_url: str, tmp_path: Path, first: str, second: str
) -> None:
    corrected(store, tmp_path, policy(first))
    consolidate(store, TENANT, policy(first), THEN + timedelta(hours=1))
    ((id_, _),) = memories_about(store, RIGHT)
    ask_for(store, "wrong", id_, policy(first), hours=1.5)
    make_anew(store, database_url, policy(second))
    assert RIGHT not in what_is_told(store, policy(second))
    assert memories_about(store, RIGHT) == memories_about(store, "cilantro") == []


def test_it_is_erased_with_what_it_rested_on(store: Store, database_url: str, tmp_path: Path) -> None:
    memories, of = corrected(store, tmp_path, policy("contact")), policy()
    sources = "select from log.corrections where source_ids && %s::uuid[]"
    for is_made_anew in (False, True):
        if is_made_anew:
            make_anew(store, database_url, of)
        text = SAID["wrong" if is_made_anew else "forget"][0]
        ((turn,),) = rows(store, "select id from log.turns where text = %s", text)
        assert rows(store, sources, [turn])
        Eraser(store=store, tenant_id=TENANT, policy=of, count_tokens=len, at=LATER).erase(turn_target(turn))
        assert rows(store, sources, [turn]) == []
    assert memories
    ((left,),) = rows(store, "select id from log.turns where text = %s", SAID["replace"][0])
    assert rows(store, "select distinct source_ids from log.corrections") == [([left],)]
