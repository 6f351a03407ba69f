"""Structured facts: one value in force a key, by the rules that name one; every replaced value stays as history."""

import json
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.capture.history.importing import import_file
from reverie.consolidate.facts.decide import decide
from reverie.consolidate.facts.stage import facts as make_facts
from reverie.consolidate.facts.statements import StatedValue, ValueInForce
from reverie.consolidate.score.stage import score
from reverie.drive.cycle import catch_up, ingest
from reverie.language.fact_keys import fact_rules
from reverie.model import Scope, stable_id
from reverie.policy import Policy, load_policy, shipped_policies
from reverie.store.database import Store
from reverie.store.digest import digest
from reverie.store.work import Work
from tests.promises.world import WordEmbedder, lively

ORIGIN = datetime(2026, 1, 1, 9, tzinfo=UTC)
CHAT = load_policy("chat")
SCOPE = Scope(tenant_id="t")


def day(number: float) -> datetime:
    return ORIGIN + timedelta(days=number)


def tell(
    store: Store, path: Path, *said: tuple[float, str], policy: Policy, speaker: str = "Ann", until: float = 400
) -> None:
    """Turns of one subject, each said on a day, made into memory cycle by cycle."""
    records = [
        {"subject_id": "ann", "session_id": f"s{at}", "source_id": f"t{number}", "role": "user", "speaker": speaker}
        | {"said_at": day(at).isoformat(), "text": text, "tenant_id": "t"}
        for number, (at, text) in enumerate(said)
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    assert not import_file(store, path, tenant_id="t", now=day(400)).dead
    common: dict[str, Any] = {"scope": SCOPE, "policy": policy, "embedder": WordEmbedder()}
    for _ in ingest(Work(store=store, as_of=day(until), **common)):
        pass
    for _ in catch_up(Work(store=store, as_of=day(until), **common)):
        pass


def facts(store: Store, *, of: str = "name") -> list[dict[str, Any]]:
    """The values of a key in the order in which they held."""
    with store.transaction("t") as conn:
        return [
            row[0]
            for row in conn.execute(
                "select to_jsonb(f) from memory.structured_facts f where key = %s or %s = '' order by valid_from",
                [of, of],
            )
        ]


def test_the_seeds_example(store: Store, tmp_path: Path) -> None:
    """Chat flow 2: stored; ignored, being less sure; updated."""
    tell(
        store,
        tmp_path / "a.jsonl",
        (1, "My name is Alex and I prefer Python"),
        (2, "Call me Al"),
        (3, "My full name is Alexander"),
        policy=CHAT,
    )
    alex, alexander = facts(store)
    assert (alex["value"], alex["category"], alex["confidence"], alex["importance"]) == ("Alex", "identity", 1.0, 0.8)
    assert datetime.fromisoformat(alex["valid_to"]) == datetime.fromisoformat(alexander["valid_from"]) == day(3)
    assert alex["replaced_by"] == alexander["id"]
    assert (alexander["value"], alexander["valid_to"], alexander["replaced_by"]) == ("Alexander", None, None)
    (language,) = facts(store, of="language")
    assert (language["category"], language["value"]) == ("preference", "Python")
    with store.transaction("t") as conn:
        named = conn.execute(
            """select m.content, t.text, r.stage, f.policy_hash from memory.structured_facts f
               join memory.memories m on m.id = f.memory_id join log.turns t on t.id = f.turn_id
               join ops.runs r on r.run_id = f.run_id where f.id = %s""",
            [UUID(alexander["id"])],
        ).fetchall()
        assert named == [("Name is Alexander", "My full name is Alexander", "facts", CHAT.hash)]
        weaker = conn.execute("select sum((report ->> 'discarded_weaker')::int) from ops.runs").fetchone()
    assert weaker == (1,)


def test_the_same_again_changes_nothing_and_more_sure_is_a_row_of_its_own(store: Store, tmp_path: Path) -> None:
    said = ((1, "Call me Al"), (2, "call me Al"), (3, "My name is Al"), (4, "My name is Al"), (5, "Call me Bo"))
    tell(store, tmp_path / "a.jsonl", *said, policy=CHAT)
    assert [(one["value"], one["confidence"]) for one in facts(store)] == [("Al", 0.6), ("Al", 1.0)]


def test_standing_rules_stand_beside_each_other(store: Store, tmp_path: Path) -> None:
    said = ((1, "Always cite your sources."), (2, "Never use emojis."), (3, "Always cite your sources!"))
    tell(store, tmp_path / "a.jsonl", *said, policy=load_policy("reverie"))
    assert [(one["category"], one["key"], one["value"]) for one in facts(store, of="")] == [
        ("instruction", "standing_rule:always-cite-source", "Always cite your sources"),
        ("instruction", "standing_rule:never-use-emojis", "Never use emojis"),
    ]


def test_what_another_says_of_themselves_is_not_the_subjects(store: Store, tmp_path: Path) -> None:
    tell(store, tmp_path / "a.jsonl", (1, "My name is Priya."), policy=CHAT, speaker="Priya")
    assert [(one["speaker"], one["value"]) for one in facts(store)] == [("Priya", "Priya")]


def test_what_is_too_unsure_or_unimportant_is_counted(store: Store, tmp_path: Path) -> None:
    given_ = json.loads(CHAT.model_dump_json())
    given_["structured_facts"] |= {"min_confidence": 0.7, "min_importance": 0.85}
    tell(store, tmp_path / "a.jsonl", (1, "Call me Al"), (2, "My name is Al"), policy=Policy.model_validate(given_))
    assert facts(store) == []
    with store.transaction("t") as conn:
        (counts,) = conn.execute(
            """select array[sum((report ->> 'discarded_unsure')::int), sum((report ->> 'discarded_unimportant')::int)]
               from ops.runs where stage = 'facts'"""
        ).fetchone() or ([],)
    assert counts == [1, 1]


def correct(store: Store, wrong: str, at: float, content: str | None = None) -> None:
    """Say of a memory that it is wrong."""
    with store.transaction("t") as conn:
        conn.execute(
            """insert into log.corrections (tenant_id, id, subject_id, kind, memory_id, content, corrected_at)
               select 't', %s, subject_id, %s, id, %s, %s from memory.memories where content = %s""",
            [stable_id(day(at), "c"), "replace" if content else "wrong", content, day(at), wrong],
        )


@pytest.mark.parametrize("speaker", ["Ann", "Priya"])
def test_a_person_is_right(store: Store, tmp_path: Path, speaker: str) -> None:
    """E4: what they wrote has the key of what was wrong and is as sure as can be; what was wrong is gone."""
    tell(store, tmp_path / "a.jsonl", (1, "Call me Alex"), policy=CHAT, speaker=speaker, until=3)
    correct(store, "Name is Alex" if speaker == "Ann" else "Priya: Name is Alex", 4, "Name is Alexa")
    said = ((4.5, "Call me Al"),)
    tell(store, tmp_path / "b.jsonl", *said, policy=CHAT, speaker=speaker, until=5)
    (alexa,) = facts(store)
    assert (alexa["value"], alexa["confidence"], alexa["origin"]) == ("Alexa", 1.0, "correction/call-me")
    assert alexa["speaker"] == ("" if speaker == "Ann" else speaker)
    assert datetime.fromisoformat(alexa["valid_from"]) == day(4)
    before = digest(store, "t")
    tell(store, tmp_path / "b.jsonl", *said, policy=CHAT, speaker=speaker, until=5)
    assert digest(store, "t") == before


def test_what_is_only_wrong_gives_way_to_what_was_before(store: Store, tmp_path: Path) -> None:
    tell(store, tmp_path / "a.jsonl", (1, "I live in Lisbon"), (3, "I live in Porto"), policy=CHAT, until=4)
    assert [one["value"] for one in facts(store, of="location")] == ["Lisbon", "Porto"]
    correct(store, "Lives in Porto", 5)
    tell(store, tmp_path / "c.jsonl", (6, "Hello"), policy=CHAT, until=7)
    (lisbon,) = facts(store, of="location")
    assert (lisbon["value"], lisbon["valid_to"], lisbon["replaced_by"]) == ("Lisbon", None, None)


def test_it_outlives_the_memory_that_states_it(store: Store, tmp_path: Path) -> None:
    fading = lively(
        "chat", decay={"rates": dict.fromkeys(CHAT.decay.rates, 0.5)}, prune={"below": 0.5, "unaccessed_days": 1}
    )
    tell(store, tmp_path / "a.jsonl", (1, "My name is Alex"), policy=fading)
    (fact,) = facts(store)
    with store.transaction("t") as conn:
        assert conn.execute(
            "select count(*) from memory.tombstones where memory_id = %s", [fact["memory_id"]]
        ).fetchone() == (1,)
    before = digest(store, "t")
    again = make_facts(Work(store=store, scope=SCOPE, policy=fading, as_of=day(400)))
    assert not any(again.counts.values())
    assert digest(store, "t") == before


def test_living_through_it_and_replaying_it_come_to_the_same(store: Store, tmp_path: Path) -> None:
    said = [
        (1.0, "My name is Alex"),
        (1.1, "Call me Al"),
        (3.0, "I live in Lisbon"),
        (3.2, "My full name is Alexander"),
    ]
    said += [(9.0, "I live in Porto"), (9.01, "I live in Lisbon")]
    tell(store, tmp_path / "all.jsonl", *said, policy=CHAT)
    at_once = digest(store, "t").tables["structured_facts"]
    with store.transaction("t") as conn:
        assert [one["value"] for one in facts(store, of="location")] == ["Lisbon", "Porto", "Lisbon"]
        for schema in ("memory", "log"):
            names = conn.execute("select tablename::text from pg_tables where schemaname = %s", [schema]).fetchall()
            if schema == "memory":
                for (name,) in names:
                    conn.execute(f"delete from memory.{name}")  # type: ignore[arg-type]  # noqa: S608
    for until in (1.05, 1.5, 2.9, 3.1, 3.3, 9.005, 400):
        common: dict[str, Any] = {"scope": SCOPE, "policy": CHAT, "embedder": WordEmbedder()}
        for _ in ingest(Work(store=store, as_of=day(until), **common)):
            pass
        for _ in catch_up(Work(store=store, as_of=day(until), **common)):
            pass
    assert digest(store, "t").tables["structured_facts"] == at_once


VALUES = st.builds(
    lambda number, at, key, value, confidence: StatedValue(
        id=stable_id(day(at), str(number)), subject_id="ann", speaker="", relation=f"identity/{key}", is_keyed=True,
        category="identity", key=key, object=value, value=value, confidence=confidence, sure=confidence, importance=0.8,
        valid_from=day(at), memory_id=UUID(int=number), bearer_id=UUID(int=number), turn_id=None, origin="r",
    ),
    st.integers(0, 10_000), st.integers(0, 8), st.sampled_from("ab"), st.sampled_from(["x", "X", "y", "z"]),
    st.sampled_from([0.4, 0.6, 1.0]),
)  # fmt: skip


def in_force(stated: list[StatedValue]) -> list[ValueInForce]:
    return decide(stated).values


@given(st.lists(VALUES, max_size=12, unique_by=lambda one: one.id), st.randoms())
def test_one_value_in_force_a_key_whatever_comes_first(stated: list[StatedValue], dice: random.Random) -> None:
    decision = decide(stated)
    held = decision.values
    assert decide(dice.sample(stated, len(stated))) == decision
    # what was folded once may be folded again, alone or with all it came from
    assert in_force([one.fact for one in held]) == held
    for key in {one.key for one in stated}:
        of_key = [one for one in held if one.fact.key == key]
        assert [one.replaced_by for one in of_key] == [*(one.fact.id for one in of_key[1:]), None]
        sureness = [one.fact.confidence for one in of_key]
        assert sureness == sorted(sureness)
        assert sureness[-1] == max(one.confidence for one in stated if one.key == key)
    assert decision.weaker.isdisjoint(one.fact.id for one in held)


@given(st.lists(VALUES, max_size=12, unique_by=lambda one: one.id), st.integers(0, 8))
def test_cutting_the_work_changes_nothing(stated: list[StatedValue], cut: int) -> None:
    earlier = [one for one in stated if one.valid_from <= day(cut)]
    later = [one for one in stated if one.valid_from > day(cut)]
    assert in_force([*(one.fact for one in in_force(earlier)), *later]) == in_force(stated)


@pytest.mark.parametrize(
    ("policy", "origin", "content", "key", "value"),
    [
        ("agent", "default-is", "Default project is PROJ", "default_project", "PROJ"),
        ("contact", "have-pet-named", "Has a dog named Bruno", "has:bruno", "a dog named Bruno"),
    ],
)  # fmt: skip
def test_a_template_read_backwards(policy: str, origin: str, content: str, key: str, value: str) -> None:
    assert fact_rules(load_policy(policy))[origin].read(content) == (key, value)


@pytest.mark.parametrize("name", shipped_policies())
@given(x=st.text("ab .:é'", min_size=1).filter(str.strip), y=st.text("cd -", min_size=1).filter(str.strip))
def test_every_rule_with_a_key_reads_what_it_makes(name: str, x: str, y: str) -> None:
    policy = load_policy(name)
    for rule in policy.extract.rules:
        if rule.key is not None:
            key, value = fact_rules(policy)[rule.name].read(rule.template.format(x=x, y=y).replace("(s)", "s"))
            assert key and value


def test_score_waits_for_a_memory_that_another_tier_has_linked_and_not_structured(store: Store, tmp_path: Path) -> None:
    tell(store, tmp_path / "log.jsonl", (0, "My name is Alex."), policy=CHAT, until=0.1)
    common: dict[str, Any] = {"scope": SCOPE, "policy": CHAT, "as_of": day(1)}
    with store.transaction("t") as conn:  # as the deferred tier has it between link and structure
        conn.execute("delete from memory.structured_facts")
        conn.execute("update memory.memories set scored = false, structured = false where origin = any(%s)",
                     [list(fact_rules(CHAT))])  # fmt: skip
    assert score(Work(store=store, embedder=WordEmbedder(), **common))["scored"] == 0
    assert make_facts(Work(store=store, **common))["structured"] == 1
    assert score(Work(store=store, embedder=WordEmbedder(), **common))["scored"] == 1
