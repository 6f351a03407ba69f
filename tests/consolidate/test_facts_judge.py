"""What the judge of Reverie's own finds ended: which pairs it is given, in one go and in parts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg.sql import SQL, Identifier

from reverie.consolidate.facts import judge as module
from reverie.consolidate.facts.decide import decide
from reverie.consolidate.facts.judge import NearPair, SaidStatement, end_of, pairs_to_judge, parts_of
from reverie.consolidate.facts.kept import ShownMessage
from reverie.consolidate.facts.rests import AloneReading
from reverie.consolidate.facts.stage import facts
from reverie.consolidate.facts.statements import StatedValue
from reverie.consolidate.merge.undo import undo
from reverie.consolidate.stages import STAGES
from reverie.inference import load_embedder, to_half_wire
from reverie.inference.judge.nearness import NearnessByCosine
from reverie.model import Scope
from reverie.policy import Policy, load_policy
from reverie.policy.recall import StructuredFactsPolicy
from reverie.store.database import Store
from reverie.store.runs import Report
from reverie.store.work import Work
from tests.consolidate.test_compress import TENANT, say

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
CHECKED = ("extract", "embed", "merge", "link")
NUMBERS = StructuredFactsPolicy(near=3, judge_chance=0.5)
LEFT = "The loft in Porthleven is sold, we bought a barge."


def said(number: int, *, turn: int, at: list[float], **more: Any) -> SaidStatement:
    given: dict[str, Any] = {
        "id": UUID(int=number), "subject_id": "ann", "turn_id": UUID(int=100 + turn),
        "happened_at": START + timedelta(hours=turn), "content": f"statement {number}", "origin": "reader",
        "may_end": True, "is_new": True, "is_unjudged": True, "into_id": None,
    }  # fmt: skip
    own = vector(at)
    return SaidStatement(**given | {"vector": own, "message_vector": own} | more)


#: In two dimensions; a chance of one half at a cosine of .6.
FLAT = NearnessByCosine()


def paired(statements: list[SaidStatement], numbers: StructuredFactsPolicy = NUMBERS) -> set[tuple[int, int]]:
    return {(pair.old.id.int, pair.by.turn_id.int - 100) for pair in pairs_to_judge(statements, numbers, FLAT)}


def test_a_message_meets_statements_from_before_that_it_may_end() -> None:
    near, far = [1.0, 0.2], [-0.2, 1.0]
    statements = [
        said(1, turn=1, at=near),
        said(2, turn=1, at=far),
        said(3, turn=2, at=near, may_end=False),
        said(4, turn=3, at=far),
        said(5, turn=3, at=near),
    ]
    assert paired(statements) == {(1, 2), (2, 3)}
    # the vector of the message counts, which its statements share
    both = [
        each._replace(message_vector=vector([0.8, 1.0])) if each.turn_id.int == 103 else each for each in statements
    ]
    assert paired(both) == {(1, 2), (1, 3), (2, 3)}
    # of its statements the one that is most like the old one tells of the end
    by = {pair.old.id.int: pair.by.id.int for pair in pairs_to_judge(both, NUMBERS, FLAT) if pair.by.turn_id.int == 103}
    assert by == {1: 5, 2: 4}


def test_a_way_to_reach_somebody_ends_no_standing_rule() -> None:
    rule = said(1, turn=1, at=[1, 0.2], is_rule=True)
    email, other = said(2, turn=2, at=[1, 0.2], is_contact=True), said(3, turn=2, at=[1, 0.2])
    assert paired([rule, email]) == set()
    assert paired([rule, email, other]) == {(1, 2)}
    assert paired([rule._replace(is_rule=False), email]) == {(1, 2)}


def vector(values: list[float]) -> bytes:
    unit = np.array([values], np.float32) / np.linalg.norm(values)
    return bytes(to_half_wire(unit)[0].tobytes())


def test_own_words_end_part_by_part() -> None:
    rota = "Danny does the Mondays, Zoe does all the rest"
    pair = NearPair(said(1, turn=1, at=[1, 0], content=rota, origin="said"), said(2, turn=2, at=[1, 0]))
    assert parts_of(pair.old) == ["Danny does the Mondays, ", "Zoe does all the rest"]
    assert parts_of(pair.old._replace(origin="reader")) == []

    def left(whole: float, *of_parts: float) -> str | None:
        end = end_of(pair, whole, of_parts, 0.9)
        return end.rest if end else "all of it"

    assert left(0.2, 0.1, 0.1) == "all of it"
    assert left(0.2, 0.95, 0.1) == left(0.95, 0.95, 0.1) == "Zoe does all the rest"
    assert left(0.95, 0.1, 0.1) is left(0.2, 0.95, 0.6) is left(0.95) is None
    assert left(0.2, 0.6, 0.6) == "all of it"


class KnownChances:
    """A judge that is given what it answers, by statement; all else goes on."""

    def __init__(self, chances: dict[str, float]) -> None:
        self._chances = chances

    def chances(self, pairs: list[tuple[str, ShownMessage]]) -> list[float]:
        """The chance of each pair."""
        return [self._chances.get(statement, 0.1) for statement, _ in pairs]

    def alone(self, rests: list[tuple[str, ShownMessage]]) -> list[list[AloneReading]]:
        """What each rest states: nothing if it has few words."""
        return [[AloneReading(0.9, 0.9)] if len(rest.split()) > 3 else [] for rest, _ in rests]


READER = load_policy("reverie").extract.reader


@pytest.mark.parametrize(("alone", "left"), [(0.4, "Zoe does all the rest, both at eight"), (0.6, None)])
def test_what_the_parts_leave_is_held_against_the_same_message(alone: float, left: str | None) -> None:
    rota = "Danny does the Mondays, Zoe does all the rest, both at eight"
    told = said(1, turn=1, at=[1, 0], content=rota, origin="said")
    pair = NearPair(told, said(2, turn=2, at=[1, 0]))
    judge: Any = KnownChances({"Danny does the Mondays, ": 0.9, "Zoe does all the rest, both at eight": alone})
    numbers = NUMBERS.model_copy(update={"ends_chance": 0.85, "parts_chance": 0.05})
    shown = ShownMessage(pair.by.turn_id, "They both quit", "")
    ends, _ = module._judged(judge, [pair], {shown.turn_id: shown}, numbers)
    (end,) = module._with_rests(judge, ends, {shown.turn_id: shown}, READER)
    assert end.rest == left


def test_what_tells_nothing_by_itself_ends_with_its_sentence() -> None:
    pair = NearPair(
        said(1, turn=1, at=[1, 0], content="Mateo flies in, the 2nd!", origin="said"), said(2, turn=2, at=[1, 0])
    )
    judge: Any = KnownChances({"Mateo flies in, ": 0.9, "The 2nd!": 0.1})
    numbers = NUMBERS.model_copy(update={"ends_chance": 0.85, "parts_chance": 0.05})
    shown = ShownMessage(pair.by.turn_id, "Mateo is here", "")
    ends, _ = module._judged(judge, [pair], {shown.turn_id: shown}, numbers)
    (end,) = module._with_rests(judge, ends, {shown.turn_id: shown}, READER)
    assert end.rest is None


@pytest.mark.parametrize(
    ("content", "left"),
    [
        ("Shut on Mondays now. Tues to Sat it is 9 to 5", ["Tues to Sat it is 9 to 5"]),
        ("Shut on Mondays now, Tues to Sat it is 9 to 5", []),
    ],
    ids=["two_sentences", "one_sentence"],
)
def test_sentences_are_judged_one_by_one_whatever_the_whole(content: str, left: list[str]) -> None:
    pair = NearPair(said(1, turn=1, at=[1, 0], content=content, origin="said"), said(2, turn=2, at=[1, 0]))
    judge: Any = KnownChances(dict.fromkeys(("Shut on Mondays now. ", "Shut on Mondays now, "), 0.9))
    numbers = NUMBERS.model_copy(update={"ends_chance": 0.85, "parts_chance": 0.3})
    shown = ShownMessage(pair.by.turn_id, "We open on Mondays again", "")
    ends, _ = module._judged(judge, [pair], {shown.turn_id: shown}, numbers)
    assert [end.rest for end in ends] == left


def test_of_many_near_statements_the_nearest_are_judged() -> None:
    statements = [said(number, turn=number, at=[1.0, number / 10]) for number in range(1, 7)]
    assert {old for old, by in paired(statements) if by == 6} == {3, 4, 5}


def test_a_message_that_states_nothing_is_held_against_fewer() -> None:
    statements = [said(number, turn=number, at=[1.0, number / 10]) for number in range(1, 6)]
    silent = said(106, turn=6, at=[1.0, 0.6], may_end=False)
    assert silent.is_silent and not any(each.is_silent for each in statements)
    numbers = NUMBERS.model_copy(update={"silent_near": 2})
    assert {old for old, by in paired([*statements, silent], numbers) if by == 6} == {4, 5}


def test_a_message_ends_what_its_speaker_said() -> None:
    statements = [
        said(1, turn=1, at=[1.0, 0.1], speaker="Ann"),
        said(2, turn=2, at=[1.0, 0.1], speaker="Bo"),
        said(3, turn=3, at=[1.0, 0.1], speaker="Ann", may_end=False),
    ]
    assert paired(statements) == {(1, 3)}
    # the subject is the speaker of a turn without a name
    nameless = said(4, turn=4, at=[1.0, 0.1], may_end=False)
    assert paired([*statements, nameless]) == {(1, 3), (1, 4)}


def test_a_message_does_not_end_what_it_says_again() -> None:
    statements = [
        said(1, turn=1, at=[1.0, 0.0]),
        said(2, turn=2, at=[1.0, 0.0], may_end=False, into_id=UUID(int=1)),
        said(3, turn=2, at=[1.0, 0.1]),
        said(4, turn=3, at=[1.0, 0.1]),
    ]
    assert paired(statements) == {(1, 3), (3, 3)}


@given(st.permutations(range(6)), st.integers(0, 6))
def test_parts_judge_what_the_whole_judges(order: list[int], cut: int) -> None:
    """Whatever comes first: a pair is judged once both are there, if few enough are near to the message."""
    vectors = [[1.0, number / 9] for number in range(6)]
    numbers = NUMBERS.model_copy(update={"near": 6})

    def judged(here: set[int], new: set[int]) -> set[tuple[int, int]]:
        statements = [
            said(number, turn=number, at=vectors[number], is_new=number in new, is_unjudged=number in new)
            for number in sorted(here)
        ]
        return {(pair.old.id.int, pair.by.id.int) for pair in pairs_to_judge(statements, numbers, FLAT)}

    first, everything = set(order[:cut]), set(order)
    assert judged(first, first) | judged(everything, everything - first) == judged(everything, everything)


def test_what_the_message_states_again_goes_on() -> None:
    """ "Back in Berlin" takes the place of "I live in Berlin", so that somebody lives there still."""
    common: dict[str, Any] = {
        "subject_id": "ann", "speaker": "", "relation": "lives_in", "object": "Berlin", "confidence": 0.9, "sure": 0.9,
        "importance": 0.5, "origin": "reader",
    }  # fmt: skip

    def value(number: int, turn: int, **more: Any) -> StatedValue:
        ids = {"id": UUID(int=number), "memory_id": UUID(int=turn), "bearer_id": UUID(int=turn)}
        at = {"turn_id": UUID(int=turn), "valid_from": START + timedelta(days=turn)}
        return StatedValue(**common | ids | at | more)

    def ended(*more: StatedValue) -> dict[int, tuple[datetime | None, UUID | None]]:
        end = value(9, 2, phase="ends", ends_memory=UUID(int=1), is_kept=False)
        validity = decide([value(1, 1), *more, end]).validity
        return {id_.int: (valid.valid_to, valid.superseded_by) for id_, valid in validity.items()}

    then = START + timedelta(days=2)
    replaced, stands = (then, UUID(int=2)), (None, None)
    assert ended() == {1: replaced}
    assert ended(value(2, 2, phase="begins")) == {1: replaced, 2: stands}
    # one that is surer takes its place, too, and what repeats it later is as new
    assert ended(value(2, 2, sure=0.95)) == {1: replaced, 2: stands}
    assert ended(value(2, 2), value(3, 3)) == {1: replaced, 2: stands, 3: stands}
    # a message whose statement was merged into the old one says it again: nothing ends
    assert ended(value(2, 2, bearer_id=UUID(int=1))) == {1: stands}


@pytest.fixture
def policy() -> Policy:
    return load_policy("reverie")


def run_facts(store: Store, policy: Policy, days: float, **more: bool) -> Report:
    work = Work(
        store=store, scope=Scope(tenant_id=TENANT), policy=policy, embedder=load_embedder("minilm"),
        as_of=START + timedelta(days=days),
    )  # fmt: skip
    by_name = {stage.name: stage for stage in STAGES}
    for name in CHECKED:
        by_name[name](work)
    return facts(work, **more)


def run_anew(store: Store, conn: Any, policy: Policy, days: float) -> None:
    """Forget all, and run in one go."""
    for table in ("judged_ends", "memories", "extractions"):
        conn.execute(SQL("delete from memory.{}").format(Identifier(table)))
    run_facts(store, policy, days)


def tell(conn: Any) -> None:
    say(conn, "Our listing is the Net Loft in Porthleven.", START, session="a")
    say(conn, "I've got choir on Mondays at 8.", START + timedelta(minutes=1), session="a")
    say(conn, LEFT, START + timedelta(days=3), session="b")


def standing(conn: Any) -> dict[str, bool]:
    rows = conn.execute("select content, valid_to is null from memory.memories where relation is not null")
    return {content: bool(holds) for content, holds in rows}


def test_it_ends_what_no_rule_sees_in_one_go_and_day_by_day(store: Store, conn: Any, policy: Policy) -> None:
    tell(conn)
    first = run_facts(store, policy, 1)
    assert (first["judged"], first["judged_ends"]) == (2, 0) and all(standing(conn).values())
    report = run_facts(store, policy, 4)
    assert report["judged"] == 1 and report["judged_ends"] >= 1
    live = standing(conn)
    assert {holds for content, holds in live.items() if "Net Loft" in content} == {False}
    assert {holds for content, holds in live.items() if "Mondays" in content} == {True}
    by = conn.execute(
        "select distinct j.model, t.text from memory.judged_ends j join log.turns t on t.id = j.turn_id"
    ).fetchall()
    assert [text for _, text in by] == [LEFT] and by[0][0].startswith("judge-")
    again = run_facts(store, policy, 5)
    assert again["judged_ends"] == 0
    run_anew(store, conn, policy, 5)
    assert standing(conn) == live


def test_it_decides_on_the_undecided_alone_where_it_is_asked_to(store: Store, conn: Any, policy: Policy) -> None:
    tell(conn)
    assert run_facts(store, policy, 1, undecided=True)["judged"] == 2
    conn.execute("update memory.extractions set ends_model = null")
    assert run_facts(store, policy, 1, undecided=True)["judged"] == 0
    assert run_facts(store, policy, 1)["judged"] == 2


def test_the_policies_of_the_seeds_do_not_judge(store: Store, conn: Any) -> None:
    tell(conn)
    assert "judged" not in run_facts(store, load_policy("contact"), 5).counts
    assert {name: load_policy(name).structured_facts.ends_chance > 0 for name in ("chat", "agent", "reverie")} == {
        "chat": False, "agent": False, "reverie": True,
    }  # fmt: skip


def test_a_message_that_is_gone_meanwhile_ends_nothing(
    store: Store, conn: Any, policy: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell(conn)
    monkeypatch.setattr(module, "_shown", lambda *_: {})
    report = run_facts(store, policy, 4)
    assert report["judged_ends"] == 0 and all(standing(conn).values())


GONE = "The scan was clear, I cried in the car."


def ended_by(conn: Any) -> dict[str, tuple[Any, Any]]:
    rows = conn.execute(
        "select m.content, m.superseded_by, t.text from memory.memories m left join log.turns t on t.id = m.ended_by"
        " where m.relation is not null"
    )
    return {content: (by, text) for content, by, text in rows}


def silent(policy: Policy, chance: float) -> Policy:
    """The policy with another chance from which a message that states nothing ends something."""
    numbers = policy.structured_facts.model_copy(update={"silent_chance": chance})
    return policy.model_copy(update={"structured_facts": numbers})


def tell_of_a_scan(conn: Any) -> None:
    say(conn, "They said the results of my scan come on Friday.", START, session="a")
    say(conn, "I've got choir on Mondays at 8.", START + timedelta(minutes=1), session="a")
    say(conn, GONE, START + timedelta(days=2), session="b")


def test_a_message_that_states_nothing_may_end_something(store: Store, conn: Any, policy: Policy) -> None:
    tell_of_a_scan(conn)
    policy = silent(policy, 0.5)
    run_facts(store, policy, 1)
    assert {by for by, _ in ended_by(conn).values()} == {None}
    report = run_facts(store, policy, 4)
    assert report["judged"] == 1 and report["judged_ends"] >= 1
    live = ended_by(conn)
    (turn_id,) = conn.execute("select id from log.turns where text = %s", [GONE]).fetchone()
    assert {by for content, by in live.items() if "scan" in content} == {(turn_id, GONE)}
    assert {by for content, by in live.items() if "Mondays" in content} == {(None, None)}
    assert run_facts(store, policy, 5)["judged"] == 0
    run_anew(store, conn, policy, 5)
    assert ended_by(conn) == live


def test_what_a_message_without_a_statement_ended_is_put_back(store: Store, conn: Any, policy: Policy) -> None:
    tell_of_a_scan(conn)
    policy = silent(policy, 0.5)
    run_facts(store, policy, 4)
    ended = conn.execute("select id from memory.memories where superseded_by is not null").fetchall()
    for (id_,) in ended:
        undo(store, tenant_id=TENANT, loser_id=id_, policy=policy, as_of=START + timedelta(days=5))
    run_facts(store, policy, 6)
    assert ended and {by for by, _ in ended_by(conn).values()} == {None}


def test_a_policy_may_leave_out_messages_without_a_statement(store: Store, conn: Any, policy: Policy) -> None:
    tell_of_a_scan(conn)
    run_facts(store, silent(policy, 0.0), 4)
    assert {by for by, _ in ended_by(conn).values()} == {None}


def test_a_question_ends_nothing(store: Store, conn: Any, policy: Policy) -> None:
    say(conn, "They said the results of my scan come on Friday.", START, session="a")
    say(conn, "Are the results of the scan in?", START + timedelta(days=2), session="b")
    report = run_facts(store, silent(policy, 0.01), 4)
    reasons = conn.execute("select reason from memory.extractions where reason is not null").fetchall()
    assert reasons == [("question",)]
    assert report["judged"] == 1 and {by for by, _ in ended_by(conn).values()} == {None}
