"""The scores of `bench/memory.py` count what they say they count, and its sets are well formed."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import pytest

from bench.memory_facts import read_verdicts, verdict_shares
from bench.memory_histories import turns_of
from bench.memory_scoring import (
    Found,
    Row,
    any_of,
    drawn,
    folds_apart,
    has_words,
    holds_object,
    judge_change,
    judge_decoy,
    measure,
    read_against,
    says,
    share_of_words,
)
from bench.memory_texts import SETS, entries, statements
from reverie.model import PHASES, Candidate, Proposition

NAMES = """
    name nickname pronouns age birthday lives_in comes_from grew_up_in nationality time_zone speaks religion works_at
    works_as manager runs_business studies attends graduated_from retired partner marital_status has_child has_parent
    has_sibling has_relative has_friend has_pet allergic_to diet has_condition takes_medication smokes drinks_alcohol
    phone email address owns likes prefers favorite fears does plays habit skilled_at avoids_topic availability budget
    opening_hours plans wants standing_rule answer_in trait appearance
"""
RELATIONS = frozenset(NAMES.split())
AT = datetime(2024, 5, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("found", "expected", "right"),
    [
        ("a golden retriever named Bruno", "golden retriever Bruno", True),
        ("Bergen", "Bergen", True),
        ("bergen, near the old harbour", "Bergen", True),
        ("Bergen with two cats, a dog, one parrot and a snake", "Bergen", False),
        ("Oslo", "Bergen", False),
        (None, "Bergen", False),
        ("knits", ["knitting", "crochet"], True),
        ("2,000 euros", "2000 euros", True),
        ("they/them", "they them", True),
        ("she/her", "they them", False),
        (None, "", True),
    ],
)
def test_an_object_has_the_expected_words_and_few_others(
    found: str | None, expected: str | list[str], right: bool
) -> None:
    assert holds_object(found, expected) is right


def test_words_count_in_any_form() -> None:
    assert has_words("Quit smoking cigarettes", ["smokes", "pipe"])
    assert not has_words("Quit smoking", "pipe smoking")


@pytest.mark.parametrize(
    ("found", "wrong"),
    [
        (Found("lives_in", "Lyon", who="their sister"), set()),
        (Found("lives_in", "Lyon", phase="begins", who="sister"), set()),
        (Found("lives_in", "Lyon", phase="past", who="sister"), {"phase"}),
        (Found("lives_in", "Lyon"), {"who"}),
        (Found("comes_from", "Lyon", who="sister"), {"relation"}),
        (Found("lives_in", "Nice", -1, who="sister"), {"object", "polarity"}),
    ],
)
def test_a_reading_is_compared_field_by_field(found: Found, wrong: set[str]) -> None:
    expect = {"relation": "lives_in", "object": "Lyon", "polarity": 0, "phase": ["holds", "begins"], "who": "sister"}
    read = read_against(expect, [found])
    assert {name for name, right in read._asdict().items() if not right} == wrong
    assert read.right is not (wrong & {"relation", "object"} != set())


def test_the_statement_that_is_right_counts_among_several() -> None:
    expect = {"relation": "likes", "object": "tea", "polarity": 1}
    near = Found("prefers", "tea", 1)
    assert read_against(expect, [near, Found("likes", "tea", -1)]).right
    assert not read_against(expect, [near]).right
    assert read_against(expect | {"relation": ["likes", "prefers"]}, [near]).right
    assert not read_against(expect, []).right
    assert not read_against(expect, [Found("likes", "tea", who="mother")]).who


def test_episodes_state_nothing() -> None:
    fact = Candidate(
        id=UUID(int=1), subject_id="s", kind="fact", content="Lives in Bergen", importance=0.5, happened_at=AT,
        origin="lives_in", statement=Proposition(relation="lives_in", object="Bergen"),
    )  # fmt: skip
    bare = replace(fact, statement=None)
    assert statements([fact, bare, replace(fact, kind="episode")]) == [
        Found("lives_in", "Bergen"),
        Found(None, None, 0),
    ]


def row(
    content: str, state: str = "active", *, polarity: int = 0, phase: str | None = "holds", ended: bool = False
) -> Row:
    """A fact at the end of a history."""
    return Row("fact", content, state, polarity, phase, datetime(2025, 1, 1, tzinfo=UTC) if ended else None)


OSLO, BERGEN = "Lives in Oslo", "Lives in Bergen"


@pytest.mark.parametrize(
    ("rows", "judged"),
    [
        ([row(OSLO, "superseded", ended=True), row(BERGEN)], (True, True, True)),
        ([row(OSLO, ended=True), row(BERGEN)], (True, True, True)),
        ([row(OSLO), row(BERGEN)], (True, True, False)),
        ([row(OSLO, "superseded"), row("Oslo is where they live"), row(BERGEN)], (True, True, False)),
        ([row(OSLO, "superseded"), row("Lived in Oslo", phase="past"), row(BERGEN)], (True, True, True)),
        ([row(OSLO, "superseded"), row("Alex: I no longer live in Oslo", phase=None), row(BERGEN)], (True, True, True)),
        ([row(OSLO, "merged"), row(BERGEN)], (True, True, False)),
        ([row(OSLO, "superseded"), row("Moved from Oslo to Bergen", phase="begins")], (True, True, True)),
        ([row(OSLO, "superseded"), row(BERGEN, phase="planned")], (True, False, True)),
        ([row(OSLO, "superseded"), row(BERGEN, "superseded")], (True, False, True)),
        ([row(BERGEN)], (False, True, False)),
        ([Row("episode", BERGEN, "active"), row(OSLO, "superseded")], (True, False, True)),
        ([], (False, False, False)),
    ],
)
def test_a_change_is_judged_by_what_is_in_force(rows: list[Row], judged: tuple[bool, bool, bool]) -> None:
    assert judge_change({"old": ["Oslo"], "current": ["Bergen"]}, rows) == judged


def test_what_only_ended_must_be_marked() -> None:
    ended = {"old": ["Rex"], "current": None}
    assert judge_change(ended, [row("Has a dog named Rex", "superseded"), row("Rex died", phase="ends")])[1:] == (
        True,
        True,
    )
    assert judge_change(ended, [row("Has a dog named Rex"), row("Rex died", phase="ends")])[1:] == (False, False)
    assert judge_change(ended, [row("Rex died", phase="ends")]) == (False, False, False)


def test_a_plan_is_dropped() -> None:
    dropped = {"old": ["Tokyo"], "current": None, "plan": True}
    plan = row("Plans to move to Tokyo", phase="planned")
    assert judge_change(dropped, [plan]) == (True, False, False)
    assert judge_change(dropped, [plan._replace(state="superseded")]) == (True, True, True)
    assert judge_change(dropped | {"plan": False}, [plan]).kept is False


def test_a_taste_is_told_by_its_polarity() -> None:
    taste = {"old": ["cats"], "current": ["cats"], "old_polarity": -1, "current_polarity": 1}
    disliked, loved = row("Doesn't like cats", polarity=-1, phase=None), row("Loves cats", polarity=1)
    assert judge_change(taste, [disliked, loved]) == (True, True, False)
    assert judge_change(taste, [disliked._replace(state="superseded"), loved]) == (True, True, True)
    assert says(disliked, ["cat"], -1) and not says(disliked, ["cat"], 1)


def test_a_decoy_keeps_all_of_its_values() -> None:
    jobs = {"current": [["Maersk"], ["bar"]]}
    day, night = row("Works at Maersk"), row("Works at a bar", phase="adds")
    assert judge_decoy(jobs, [day, night]) == (True, True)
    assert judge_decoy(jobs, [day._replace(state="superseded"), night]) == (True, False)
    assert judge_decoy(jobs, [night]) == (False, False)
    assert judge_decoy({"current": ["Maersk"]}, [day]) == (True, True)


def test_precision_recall_and_f1() -> None:
    assert measure([True, True, False, False], [True, False, True, True]) == (0.5, 1 / 3, 0.4)
    assert measure([], []) == (0, 0, 0)


def test_folds_share_nothing() -> None:
    shared = [["a", "b"], ["c"], ["b", "d"], ["e"], ["f", "c"], ["g"]]
    folds = folds_apart(shared, 3)
    assert folds[0] == folds[2] and folds[1] == folds[4]
    assert sorted(map(folds.count, range(3))) == [2, 2, 2]


def test_words_of_a_fact_are_looked_for_without_its_speaker() -> None:
    assert share_of_words("Caroline has two cats", "Caroline: my cats are two", "Caroline") == 1
    assert share_of_words("Caroline has two cats", "Caroline sings", "Caroline") == 0


def test_a_sample_has_every_kind_by_its_share_and_stays_when_more_is_known() -> None:
    kinds = {f"f{n}": "fact" for n in range(60)} | {f"e{n}": "episode" for n in range(30)}
    chosen = drawn(kinds, 10, "seed")
    assert (len(chosen), sum(kinds[one] == "fact" for one in chosen)) == (10, 7)
    assert chosen == drawn(dict(reversed(kinds.items())), 10, "seed") != drawn(kinds, 10, "another")
    assert set(chosen) & set(drawn(kinds | {"f60": "fact"}, 10, "seed")) >= set(chosen[:9])
    assert len(drawn(kinds, 500, "seed")) == 90


def test_verdicts_are_counted_by_kind(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.jsonl"
    assert read_verdicts(path) == {}
    path.write_text('{"id": "1", "verdict": "sensible"}\n{"id": "2", "verdict": "wrong"}\n', encoding="utf-8")
    verdicts = read_verdicts(path)
    shares = verdict_shares([("fact", verdicts["1"]), ("episode", verdicts["2"]), ("fact", None)])
    assert shares["all"] == {"read": 2, "sensible": 0.5, "wrong": 0.5, "trivial": 0}
    assert shares["fact"] == {"read": 1, "sensible": 1, "wrong": 0, "trivial": 0}
    path.write_text('{"id": "1", "verdict": "fine"}\n', encoding="utf-8")
    with pytest.raises(ValueError, match="unknown verdicts fine"):
        read_verdicts(path)


def parts(name: str) -> list[str]:
    """The parts of a set that are there."""
    return [path.name.split(".")[1] for path in sorted(SETS.glob(f"{name}.*.jsonl"))]


@pytest.mark.parametrize("part", parts("sentences"))
def test_sentences_are_well_formed(part: str) -> None:
    told = entries("sentences", part)
    assert len({one["id"] for one in told}) == len({one["text"] for one in told}) == len(told)
    for one in told:
        if (expect := one["expect"]) is not None:
            assert set(any_of(expect["relation"])) <= RELATIONS, one["id"]
            assert expect.get("polarity") in (-1, 0, 1, None), one["id"]
            assert set(any_of(expect.get("phase", "holds"))) <= set(PHASES), one["id"]
            assert has_words(one["text"], expect["object"]), one["id"]


@pytest.mark.parametrize("part", parts("histories"))
def test_histories_are_well_formed(part: str) -> None:
    told = entries("histories", part)
    assert len({one["id"] for one in told}) == len(told)
    for one in told:
        times = [turn["said_at"] for turn in turns_of(one)]
        assert one["kind"] in ("change", "decoy") and 2 <= len(one["turns"]) <= 6, one["id"]
        assert one["current"] if one["kind"] == "decoy" else one["old"], one["id"]
        assert times == sorted(set(times)), one["id"]
        said = Row("fact", " ".join(turn["text"] for turn in one["turns"]), "active")
        assert says(said, one["old"]) or not one["old"], one["id"]


def test_a_set_is_json_lines() -> None:
    for path in SETS.glob("*.jsonl"):
        assert all(json.loads(line)["id"] for line in path.read_text(encoding="utf-8").splitlines()), path.name
