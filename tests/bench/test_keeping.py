"""How `bench.keeping` judges, and that its set is written as the guide says."""

import tomllib
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

from bench.keeping import PARTS, Kept, has_words, histories, judge, said_in, says
from reverie.policy import load_policy

ROOT = Path(__file__).resolve().parents[2]
TABLE = load_policy("reverie").extract.relations
OSLO = Kept(
    id=UUID(int=1), kind="fact", content="Lives in Oslo", state="active", relation="lives_in", polarity=0,
    phase="holds", valid_to=None, into_id=None,
)  # fmt: skip
BERGEN = OSLO._replace(id=UUID(int=2), content="Lives in Bergen")


def test_all_relations_of_the_reader_are_in_the_table() -> None:
    labelled = tomllib.loads((ROOT / "training" / "reader" / "relations.toml").read_text(encoding="utf-8"))
    assert labelled.keys() <= TABLE.keys()


def test_the_set_has_three_parts_of_known_relations() -> None:
    told = histories()
    assert [len(histories(part)) for part in PARTS] == [15, 15, 8]
    stated = [
        one for history in told for session in said_in(history, "t") for said in session for one in said.statements
    ]
    assert {one.relation for one in stated} <= TABLE.keys()
    expected = [value for history in told for name in ("current", "old", "decoys") for value in history[name]]
    assert {value[0] for value in expected} <= {one.relation for one in stated}


def test_words_are_whole_unless_they_are_long() -> None:
    assert has_words("Ramipril: 2.5 mg", "2.5 mg")
    assert not has_words("Ramipril: 2.5 mg", "5 mg")
    assert has_words("Shop phone: 030 5550777", "0777")
    assert not has_words("Runs before breakfast", "run")


def test_polarity_counts_where_it_is_expected() -> None:
    denied = OSLO._replace(relation="sells", content="Doesn't offer tents", polarity=-1)
    assert says(denied, ["sells", "tents"])
    assert not says(denied, ["sells", "tents", 0])


def test_what_is_judged() -> None:
    ended = OSLO._replace(state="superseded", valid_to=datetime(2026, 1, 1, tzinfo=UTC))
    history = {
        "current": [["lives_in", "bergen"]], "old": [["lives_in", "oslo"]], "same": [], "decoys": [],
        "apart": [[["lives_in", "oslo"], ["lives_in", "bergen"]]],
    }  # fmt: skip
    right = judge(history, {one.id: one for one in (ended, BERGEN)})
    assert (right.wrong, right.right["current"], right.right["old"]) == ([], [True], [True])
    wrong = judge(history, {one.id: one for one in (OSLO, BERGEN)})
    assert [line.partition(":")[0] for line in wrong.wrong] == ["current", "old"]
    merged = BERGEN._replace(state="merged", into_id=ended.id)
    assert judge(history, {one.id: one for one in (ended, merged)}).right["merges"] == [False]


def test_a_repeat_must_be_one_memory() -> None:
    history = {"current": [], "old": [], "same": [["lives_in", "oslo"]], "apart": [], "decoys": []}
    again = replace_id(OSLO, 3)
    assert judge(history, {one.id: one for one in (OSLO, again)}).right["merges"] == [False]
    joined = again._replace(state="merged", into_id=OSLO.id)
    assert judge(history, {one.id: one for one in (OSLO, joined)}).right["merges"] == [True]


def replace_id(memory: Kept, number: int) -> Kept:
    return memory._replace(id=UUID(int=number))
