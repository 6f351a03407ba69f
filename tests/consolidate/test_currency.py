"""Currency end to end: a later statement supersedes an earlier one, in every table; undone, explained, listed."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from reverie.capture.history.importing import import_file
from reverie.capture.live.corrections import retract_correction
from reverie.consolidate.facts.stage import facts as run_facts
from reverie.consolidate.merge.undo import undo
from reverie.drive.cycle import catch_up, ingest
from reverie.drive.rebuild import empty_memory
from reverie.model import Scope, stable_id
from reverie.policy import Policy, load_policy
from reverie.recall.conflicts import list_conflicts
from reverie.recall.inspect import explain, show_subject
from reverie.recall.profile import load_profile
from reverie.store.database import Store
from reverie.store.digest import digest
from reverie.store.session import perform
from reverie.store.work import Work
from tests.promises.world import WordEmbedder

START = datetime(2026, 1, 1, 9, tzinfo=UTC)
SCOPE = Scope(tenant_id="t")

_RELATIONS: dict[str, dict[str, Any]] = {
    "lives_in": {"values": "one", "lasts": "durable", "category": "identity", "key": "home"},
    "works_at": {"values": "one", "lasts": "durable", "category": "identity", "key": "workplace"},
    "has_pet": {"category": "identity", "key": "pet:{object}", "lasts": "durable"},
    "likes": {"kind": "preference"},
}
_WORDINGS = {
    "lives_in": "Lives in {object}", "works_at": "Works at {object}", "has_pet": "Has {object}",
    "likes": "Likes {object}",
}  # fmt: skip
_RULES: list[tuple[str, str, str, dict[str, Any]]] = [
    ("lives", "i live in", "lives_in", {}),
    ("moved", "i moved to", "lives_in", {"phase": "begins"}),
    ("lived", "i used to live in", "lives_in", {"phase": "past", "template": "Used to live in {x}"}),
    ("would-live", "i want to live in", "lives_in", {"phase": "planned", "template": "Wants to live in {x}"}),
    ("sister-lives", "my sister lives in", "lives_in", {"who": "sister", "template": "Their sister lives in {x}"}),
    ("works", "i work at", "works_at", {}),
    ("also-works", "i also work at", "works_at", {"phase": "adds", "template": "Also works at {x}"}),
    ("left", "i left", "works_at", {"phase": "ends", "template": "Left {x}"}),
    ("has", "i have", "has_pet", {}),
    ("died", "rest in peace", "has_pet", {"phase": "ends", "template": "Lost {x}"}),
    ("loves", "i love", "likes", {"polarity": 1}),
    ("stopped", "i stopped liking", "likes", {"phase": "ends", "template": "Stopped liking {x}"}),
    ("hates", "i hate", "likes", {"polarity": -1, "template": "Dislikes {x}"}),
]


def policy() -> Policy:
    """A policy with a few relations, and a rule for each way of saying them, by which alone it reads."""
    given = json.loads(load_policy("reverie").model_dump_json())
    given["extract"] |= {
        "reader": {"read": False},
        "relations": {name: {"wording": _WORDINGS[name]} | table for name, table in _RELATIONS.items()},
        "rules": [
            {"name": name, "cues": [cue], "pattern": rf"\b{cue} (?P<x>[^.!?]+)", "relation": relation} | more
            for name, cue, relation, more in _RULES
        ],
    }
    return Policy.model_validate(given)


POLICY = policy()


def day(number: float) -> datetime:
    return START + timedelta(days=number)


def say(store: Store, path: Path, *said: tuple[float, str]) -> None:
    """Load turns of one subject, each in a session of its own."""
    records = [
        {"subject_id": "ann", "session_id": f"s{at}", "source_id": f"t{at}", "role": "user", "text": text}
        | {"said_at": day(at).isoformat(), "tenant_id": "t"}
        for at, text in said
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    assert not import_file(store, path, tenant_id="t", now=day(400)).dead


def consolidate(store: Store, until: float = 30) -> None:
    """Bring memory to a day."""
    common: dict[str, Any] = {"scope": SCOPE, "policy": POLICY, "embedder": WordEmbedder()}
    for _ in ingest(Work(store=store, as_of=day(until), **common)):
        pass
    for _ in catch_up(Work(store=store, as_of=day(until), **common)):
        pass


def tell(store: Store, path: Path, *said: tuple[float, str], until: float = 30) -> None:
    say(store, path, *said)
    consolidate(store, until)


def rows(store: Store, query: str, *values: Any) -> list[tuple[Any, ...]]:
    with store.transaction("t") as conn:
        return conn.execute(query, values).fetchall()  # type: ignore[arg-type]


def states(store: Store) -> list[tuple[str, str]]:
    """Memories with their states, in the order in which they were said."""
    return rows(store, "select content, state from memory.memories where kind <> 'episode' order by happened_at, id")


def memory_id(store: Store, content: str) -> UUID:
    return rows(store, "select id from memory.memories where content = %s", content)[0][0]  # type: ignore[no-any-return]


def fact_rows(store: Store) -> list[tuple[Any, ...]]:
    return rows(store, "select speaker, key, value, valid_to from memory.structured_facts order by valid_from, value")


MOVED = ((1.0, "I live in Oslo."), (5.0, "I moved to Bergen."))


def test_all_tables_agree(store: Store, tmp_path: Path) -> None:
    tell(store, tmp_path / "a.jsonl", *MOVED)
    assert states(store) == [("Lives in Oslo", "superseded"), ("Lives in Bergen", "active")]
    ended = rows(
        store,
        """select m.valid_from, m.valid_to, b.content, m.lasting, m.forget_at, v.live
           from memory.memories m join memory.memories b on b.id = m.superseded_by
           join memory.vectors v on v.item_id = m.id where m.state = 'superseded'""",
    )
    assert [row[:4] + row[5:] for row in ended] == [(day(1), day(5), "Lives in Bergen", True, False)]
    assert ended[0][4] == day(5 + POLICY.prune.history_days), "a home is kept as history"
    assert rows(store, "select valid_to, forget_at from memory.memories where content = 'Lives in Bergen'") == [
        (None, None)
    ]
    assert fact_rows(store) == [("", "home", "Oslo", day(5)), ("", "home", "Bergen", None)]
    profile = perform(load_profile(store.session("t"), subject_id="ann", policy=POLICY, as_of=day(30)))
    assert [fact.value for fact in profile.facts] == ["Bergen"]
    before = perform(load_profile(store.session("t"), subject_id="ann", policy=POLICY, as_of=day(3)))
    assert [fact.value for fact in before.facts] == ["Oslo"]


@pytest.mark.parametrize(
    ("said", "held"),
    [
        ((*MOVED, (9.0, "I used to live in Oslo.")), ["Lives in Bergen", "Used to live in Oslo"]),
        ((MOVED[0], (5.0, "I want to live in Bergen.")), ["Lives in Oslo", "Wants to live in Bergen"]),
        ((MOVED[0], (5.0, "My sister lives in Bergen.")), ["Lives in Oslo", "Their sister lives in Bergen"]),
        (((1.0, "I work at Zoho."), (5.0, "I also work at Acme.")), ["Works at Zoho", "Also works at Acme"]),
        (((1.0, "I work at Zoho."), (5.0, "I left Zoho.")), ["Left Zoho"]),
        (((1.0, "I have a dog, Rex."), (2.0, "I have a cat."), (5.0, "Rest in peace Rex.")), ["Has a cat", "Lost Rex"]),
        (((1.0, "I love coffee."), (5.0, "I hate coffee.")), ["Dislikes coffee"]),
        (((1.0, "I love coffee."), (5.0, "I hate decaf coffee.")), ["Likes coffee", "Dislikes decaf coffee"]),
    ],
)  # fmt: skip
def test_what_closes_and_what_does_not(
    store: Store, tmp_path: Path, said: Sequence[tuple[float, str]], held: list[str]
) -> None:
    tell(store, tmp_path / "a.jsonl", *said)
    assert [content for content, state in states(store) if state == "active"] == held


def test_of_others_is_kept_by_their_name(store: Store, tmp_path: Path) -> None:
    tell(store, tmp_path / "a.jsonl", (1, "I live in Oslo."), (5, "My sister lives in Bergen."))
    assert fact_rows(store) == [("", "home", "Oslo", None), ("sister", "home", "Bergen", None)]


def test_two_jobs_are_two_facts(store: Store, tmp_path: Path) -> None:
    tell(store, tmp_path / "a.jsonl", (1, "I work at Zoho."), (5, "I also work at Acme."), (9, "I left Zoho."))
    assert fact_rows(store) == [("", "workplace", "Zoho", day(9)), ("", "workplace", "Acme", None)]


def test_running_again_changes_nothing(store: Store, tmp_path: Path) -> None:
    tell(store, tmp_path / "a.jsonl", *MOVED, (7, "I work at Zoho."), (8, "I also work at Acme."))
    before = digest(store, "t")
    consolidate(store)
    again = run_facts(Work(store=store, scope=SCOPE, policy=POLICY, as_of=day(30), embedder=WordEmbedder()))
    assert not any(again.counts.values())
    assert digest(store, "t") == before


SAID = (
    (1.0, "I live in Oslo."),
    (1.2, "I work at Zoho."),
    (5.0, "I moved to Bergen."),
    (5.01, "I love coffee."),
    (9.0, "I left Zoho."),
    (9.5, "I hate coffee."),
    (12.0, "I work at Zoho."),
    (14.0, "I have a dog named Rex."),
    (15.0, "I have a cat named Mia."),
    (16.0, "Rest in peace Rex."),
)


def test_live_and_backfill_come_to_the_same(store: Store, tmp_path: Path) -> None:
    say(store, tmp_path / "a.jsonl", *SAID)
    for until in (1.1, 1.3, 5.005, 5.02, 8, 9.1, 9.6, 13, 15.5, 17, 30):
        consolidate(store, until)
    live = digest(store, "t")
    assert states(store)[:2] == [("Lives in Oslo", "superseded"), ("Works at Zoho", "active")]
    empty_memory(Work(store=store, scope=SCOPE, policy=POLICY, as_of=day(30)))
    consolidate(store)
    assert digest(store, "t") == live


def test_an_undone_supersession_stays_undone(store: Store, tmp_path: Path) -> None:
    tell(store, tmp_path / "a.jsonl", *MOVED)
    oslo, bergen = memory_id(store, "Lives in Oslo"), memory_id(store, "Lives in Bergen")
    common: dict[str, Any] = {"tenant_id": "t", "loser_id": oslo, "policy": POLICY}
    assert undo(store, as_of=day(30), **common) == bergen
    assert states(store) == [("Lives in Oslo", "active"), ("Lives in Bergen", "active")]
    assert [row[3] for row in fact_rows(store)] == [None, None]
    assert rows(store, "select forget_at, valid_to, superseded_by from memory.memories where id = %s", oslo) == [
        (None, None, None)
    ]
    assert rows(store, "select distinct live from memory.vectors where item_id = %s", oslo) == [(True,)]
    consolidate(store, 31)
    assert states(store) == [("Lives in Oslo", "active"), ("Lives in Bergen", "active")]
    undone = digest(store, "t")
    assert undo(store, as_of=day(32), **common) == bergen
    empty_memory(Work(store=store, scope=SCOPE, policy=POLICY, as_of=day(30)))
    consolidate(store, 31)
    assert digest(store, "t") == undone


def test_an_undone_supersession_is_taken_back(store: Store, tmp_path: Path) -> None:
    tell(store, tmp_path / "a.jsonl", *MOVED)
    oslo, before = memory_id(store, "Lives in Oslo"), states(store)
    assert dict(before)["Lives in Oslo"] == "superseded"
    undo(store, tenant_id="t", loser_id=oslo, policy=POLICY, as_of=day(30))
    consolidate(store, 31)
    perform(retract_correction(store.session("t"), memory_id=oslo, policy=POLICY, as_of=day(31.5)))
    consolidate(store, 32)
    assert states(store) == before
    live = digest(store, "t")
    empty_memory(Work(store=store, scope=SCOPE, policy=POLICY, as_of=day(32)))
    consolidate(store, 32)
    assert digest(store, "t") == live


def test_it_is_explained_and_shown(store: Store, tmp_path: Path) -> None:
    tell(store, tmp_path / "a.jsonl", *MOVED)
    oslo, bergen = memory_id(store, "Lives in Oslo"), memory_id(store, "Lives in Bergen")
    old, new = (perform(explain(store.session("t"), str(id_))) for id_ in (oslo, bergen))
    assert [(each.id, each.relation, each.as_of) for each in old.children] == [(bergen, "superseded", day(5))]
    assert [(each.id, each.relation) for each in new.parents] == [(oslo, "superseded")]
    assert (old.memory["relation"], old.memory["object"], old.memory["valid_to"]) == ("lives_in", "Oslo", day(5))
    common: dict[str, Any] = {"tenant_id": "t", "subject_id": "ann", "policy": POLICY, "as_of": day(30)}
    assert "Lives in Oslo" not in [each.content for each in show_subject(store, **common).memories]
    (superseded,) = show_subject(store, **common, states=("superseded",)).memories
    assert (superseded.id, superseded.valid_to, superseded.superseded_by) == (oslo, day(5), bergen)


def correct(store: Store, content: str, at: float, right: str | None) -> None:
    with store.transaction("t") as conn:
        conn.execute(
            """insert into log.corrections (tenant_id, id, subject_id, kind, memory_id, content, corrected_at)
               select 't', %s, subject_id, %s, id, %s, %s from memory.memories where content = %s""",
            [stable_id(day(at), "c"), "replace" if right else "wrong", right, day(at), content],
        )


def test_what_a_wrong_memory_superseded_holds_again(store: Store, tmp_path: Path) -> None:
    tell(store, tmp_path / "a.jsonl", *MOVED, until=6)
    correct(store, "Lives in Bergen", 7, None)
    consolidate(store, 8)
    assert states(store) == [("Lives in Oslo", "active")]
    assert fact_rows(store) == [("", "home", "Oslo", None)]
    before = digest(store, "t")
    empty_memory(Work(store=store, scope=SCOPE, policy=POLICY, as_of=day(30)))
    consolidate(store, 8)
    assert digest(store, "t") == before


def test_a_replacement_states_the_same_relation(store: Store, tmp_path: Path) -> None:
    tell(store, tmp_path / "a.jsonl", *MOVED, until=6)
    correct(store, "Lives in Bergen", 7, "Lives in Berlin")
    tell(store, tmp_path / "b.jsonl", (9, "I moved to Paris."), until=10)
    assert states(store) == [
        ("Lives in Oslo", "superseded"),
        ("Lives in Berlin", "superseded"),
        ("Lives in Paris", "active"),
    ]
    assert [row[2:] for row in fact_rows(store)] == [("Oslo", day(7)), ("Berlin", day(9)), ("Paris", None)]


def test_conflicts_are_listed(store: Store, tmp_path: Path) -> None:
    tell(store, tmp_path / "a.jsonl", (1, "I work at Zoho."), (2, "I also work at Acme."), (3, "I left my job."))
    found = perform(list_conflicts(store.session("t"), limit=10))
    assert [(each.content, each.other_content, each.reason) for each in found] == [
        ("Also works at Acme", "Left their job", "ambiguous_end"),
        ("Works at Zoho", "Left their job", "ambiguous_end"),
    ]
    last = found[0]
    after = (last.since, last.memory_id, last.other_id)
    assert perform(list_conflicts(store.session("t"), limit=10, after=after)) == found[1:]
    assert perform(list_conflicts(store.session("t"), subject_id="nobody", limit=10)) == []
    assert len(perform(explain(store.session("t"), str(last.memory_id))).conflicts) == 1
    tell(store, tmp_path / "b.jsonl", (4, "I left Zoho."), (5, "I left Acme."))
    assert perform(list_conflicts(store.session("t"), limit=10)) == []


def test_a_correction_resolves_a_conflict(store: Store, tmp_path: Path) -> None:
    tell(
        store, tmp_path / "a.jsonl", (1, "I work at Zoho."), (2, "I also work at Acme."), (3, "I left my job."), until=4
    )
    correct(store, "Also works at Acme", 5, None)
    consolidate(store, 6)
    assert perform(list_conflicts(store.session("t"), limit=10)) == []


def test_a_fact_outlives_its_memory_and_is_still_superseded(store: Store, tmp_path: Path) -> None:
    """What is forgotten keeps its place in the history: an earlier value does not come back."""
    tell(store, tmp_path / "a.jsonl", *MOVED, until=6)
    with store.transaction("t") as conn:  # as prune does it
        conn.execute("delete from memory.memories where content = 'Lives in Bergen'")
    tell(store, tmp_path / "b.jsonl", (9, "I have a cat."), until=10)
    assert states(store)[0] == ("Lives in Oslo", "superseded")
    assert fact_rows(store)[:2] == [("", "home", "Oslo", day(5)), ("", "home", "Bergen", None)]
    tell(store, tmp_path / "c.jsonl", (11, "I moved to Paris."), until=12)
    assert [row[2:] for row in fact_rows(store) if row[1] == "home"] == [
        ("Oslo", day(5)),
        ("Bergen", day(11)),
        ("Paris", None),
    ]


def test_what_a_forgotten_memory_superseded_stays_so_without_a_key(store: Store, tmp_path: Path) -> None:
    tell(store, tmp_path / "a.jsonl", (1, "I love coffee."), (5, "I hate coffee."), until=6)
    with store.transaction("t") as conn:
        conn.execute("delete from memory.memories where content = 'Dislikes coffee'")
    tell(store, tmp_path / "b.jsonl", (9, "I love tea."), until=10)
    assert states(store) == [("Likes coffee", "superseded"), ("Likes tea", "active")]
