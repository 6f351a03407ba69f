"""Which statements are in force: pure, in both directions, whatever order they come in."""

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reverie.consolidate.facts.decide import decide
from reverie.consolidate.facts.statements import Decision, StatedValue
from reverie.consolidate.facts.ties import with_tied
from reverie.policy import load_policy

START = datetime(2026, 1, 1, 9, tzinfo=UTC)
_NUMBERS = count(1)


def said(day: float, what: str, phase: str = "holds", relation: str = "lives_in", **given_: Any) -> StatedValue:
    """A statement on a day, in a session and turn of its own."""
    number = next(_NUMBERS)
    id_ = UUID(int=number)
    columns: dict[str, Any] = {
        "id": id_, "subject_id": "ann", "speaker": "", "relation": relation, "object": what, "phase": phase,
        "is_single": relation not in ("likes", "has_pet", "owns"), "category": "identity", "key": relation,
        "value": what, "confidence": 0.9, "sure": 0.9, "importance": 0.7, "valid_from": START + timedelta(days=day),
        "memory_id": id_, "bearer_id": id_, "turn_id": UUID(int=10_000 + number), "session_id": f"s{day}",
        "turn_index": number, "origin": "rule",
    }  # fmt: skip
    return StatedValue(**columns | given_)


def in_force(decision: Decision, *values: StatedValue) -> list[str]:
    return [value.object for value in values if decision.validity[value.bearer_id].valid_to is None]


def reasons(decision: Decision) -> list[str]:
    return sorted(conflict.reason for conflict in decision.conflicts)


def outcome(*values: StatedValue) -> tuple[list[str], list[str]]:
    """The objects in force and the reasons of conflicts."""
    decision = decide(values)
    return in_force(decision, *values), reasons(decision)


def job(day: float, what: str, phase: str = "holds", **given_: Any) -> StatedValue:
    return said(day, what, phase, "works_at", **given_)


def pet(day: float, what: str, phase: str = "holds", **given_: Any) -> StatedValue:
    return said(day, what, phase, "has_pet", **given_)


def taste(day: float, what: str, polarity: int, **given_: Any) -> StatedValue:
    return said(day, what, "holds", "likes", polarity=polarity, **given_)


def test_a_later_value_supersedes_the_earlier_one() -> None:
    oslo, bergen = said(1, "Oslo"), said(5, "Bergen", "begins")
    decision = decide([oslo, bergen])
    ended = decision.validity[oslo.bearer_id]
    assert (ended.valid_from, ended.valid_to, ended.superseded_by) == (
        oslo.valid_from,
        bergen.valid_from,
        bergen.memory_id,
    )
    assert decision.validity[bergen.bearer_id].valid_to is None
    assert [(value.fact.object, value.replaced_by) for value in decision.values] == [
        ("Oslo", bergen.id),
        ("Bergen", None),
    ]


def test_an_earlier_figure_that_was_merged_in_holds_nothing() -> None:
    weight: dict[str, Any] = {"phase": "begins", "relation": "measure"}
    later, last = said(8, "77.2 kg", topic="weight", **weight), said(15, "76.3 kg", topic="weight", **weight)
    for figure, since in (("81.4 kg", later.valid_from), ("my 77.2 kg", START)):
        merged = said(0, figure, bearer_id=later.bearer_id, **weight)
        assert decide([merged, later]).validity[later.bearer_id].valid_from == since
    merged = said(0, "81.4 kg", bearer_id=later.bearer_id, **weight)
    assert decide([merged, later, last]).validity[later.bearer_id].superseded_by == last.memory_id


CASES = [
    # a value after another
    ([said(1, "Oslo"), said(5, "Bergen")], ["Bergen"], []),
    ([said(1, "Oslo"), said(5, "Oslo")], ["Oslo", "Oslo"], []),
    ([said(1, "Oslo"), said(5, "Bergen"), said(9, "Oslo")], ["Oslo"], []),
    ([said(1, "Oslo"), said(5, "Oslo, Norway")], ["Oslo, Norway"], []),
    ([said(1, "Oslo, Norway"), said(5, "Norway")], ["Oslo, Norway", "Norway"], []),
    ([said(1, "Oslo, Norway"), said(5, "Norway"), said(9, "Bergen")], ["Bergen"], []),
    ([said(1, "Anna Berg", relation="name"), said(5, "Anna Dahl", "begins", "name")], ["Anna Dahl"], []),
    # plans, what was, what another does
    ([said(1, "Oslo"), said(5, "Bergen", "planned")], ["Oslo", "Bergen"], []),
    ([said(1, "Oslo"), said(5, "Bergen", "past")], ["Oslo", "Bergen"], []),
    ([said(1, "Oslo"), said(5, "Oslo", "past")], ["Oslo"], []),
    ([said(1, "Oslo"), said(5, "Bergen", speaker="sister")], ["Oslo", "Bergen"], []),
    ([said(1, "green", relation="favorite", topic="color"), said(5, "pizza", relation="favorite", topic="food")],
     ["green", "pizza"], []),
    # two at once
    ([job(1, "Zoho"), job(5, "Acme", "adds")], ["Zoho", "Acme"], []),
    ([job(1, "Zoho"), job(5, "Acme", "adds"), job(9, "Acme", "ends")], ["Zoho", "Acme"], []),
    ([job(1, "Zoho"), job(5, "Acme", "adds"), job(9, "Zoho")], ["Zoho", "Acme", "Zoho"], []),
    ([job(1, "Zoho"), job(5, "Acme", "adds"), job(9, "Initech")], ["Zoho", "Acme", "Initech"], ["several", "several"]),
    ([job(1, "Zoho"), job(5, "Acme", "adds"), job(9, "Initech", "begins")], ["Initech"], []),
    ([job(1, "Zoho", turn_id=UUID(int=7)), job(1, "Acme", turn_id=UUID(int=7))], ["Zoho", "Acme"], []),
    ([job(1, "Zoho", "begins", turn_id=UUID(int=7)), job(1, "the mail team", "begins", turn_id=UUID(int=7))],
     ["Zoho", "the mail team"], []),
    ([job(1, "Zoho", turn_id=UUID(int=7)), job(1, "Acme", "begins", turn_id=UUID(int=7))], ["Acme"], []),
    ([job(1, "Zoho", session_id="s"), job(1.01, "Acme", session_id="s")], ["Zoho", "Acme"], ["same_session"]),
    ([job(1, "Zoho", session_id="s"), job(1.01, "Acme", "begins", session_id="s")], ["Acme"], []),
    ([job(1, "Zoho", session_id="s"), job(2, "Acme", session_id="s")], ["Acme"], []),
    ([job(1, "Zoho", session_id="s"), job(1.01, "Acme", session_id="s"), job(5, "Acme")], ["Acme", "Acme"], []),
    ([job(1, "Zoho", session_id="a"), job(1, "Acme", session_id="b")], ["Zoho", "Acme"], ["same_time"]),
    ([job(1, "A"), job(2, "B"), job(3, "A"), job(4, "B")], ["A", "B"], ["alternating"]),
    ([job(1, "A"), job(2, "B"), job(3, "A"), job(4, "B"), job(5, "A")], ["A", "B", "A"], ["alternating"]),
    ([job(1, "A"), job(2, "B"), job(3, "A"), job(4, "B"), job(5, "C", "begins")], ["C"], []),
    # ends
    ([job(1, "Zoho"), job(5, "Zoho", "ends")], ["Zoho"], []),
    ([job(1, "Zoho"), job(5, "Acme", "ends")], ["Zoho", "Acme"], []),
    ([job(1, "Zoho"), job(5, "my job", "ends")], ["my job"], []),
    ([job(1, "Zoho"), job(5, "my job", "ends"), job(9, "Zoho")], ["Zoho"], []),
    ([job(1, "Zoho"), job(2, "Acme", "adds"), job(5, "my job", "ends")], ["Zoho", "Acme", "my job"],
     ["ambiguous_end", "ambiguous_end"]),
    ([job(1, "Zoho"), job(5, "Zoho", "ends"), job(6, "Acme", "begins")], ["Zoho", "Acme"], []),
    ([pet(1, "a dog named Rex"), pet(2, "a cat named Mia"), pet(5, "Rex", "ends")], ["a cat named Mia", "Rex"], []),
    ([pet(1, "a dog named Rex"), pet(2, "a cat named Mia"), pet(5, "my dog", "ends")],
     ["a cat named Mia", "my dog"], []),
    ([pet(1, "a cat named Mia"), pet(5, "the dog", "ends")], ["a cat named Mia", "the dog"], []),
    ([pet(1, "Rex"), pet(5, "their old", "ends")], ["Rex", "their old"], []),
    ([pet(1, "Rex"), pet(5, "my dog", "ends")], ["my dog"], []),
    ([pet(1, "a dog named Rex"), pet(2, "a dog named Bo"), pet(5, "my dog", "ends")],
     ["a dog named Rex", "a dog named Bo", "my dog"], ["ambiguous_end", "ambiguous_end"]),
    ([pet(1, "a dog named Rex"), pet(2, "a dog named Bo"), pet(5, "Bella", "ends")],
     ["a dog named Rex", "a dog named Bo", "Bella"], []),
    ([said(1, "a red Honda", "holds", "owns"), said(5, "the Honda", "ends", "owns")], ["the Honda"], []),
    ([said(1, "about ten cigarettes a day", relation="smokes"), said(5, "three weeks", "ends", "smokes")],
     ["three weeks"], []),
    ([said(1, "Paul", relation="partner"), said(5, "no longer with their partner", "ends", "partner")],
     ["no longer with their partner"], []),
    ([said(1, "Paul", relation="partner"), said(5, "Tom", "ends", "partner")], ["Paul", "Tom"], []),
    ([said(1, "best friend Lena", relation="owns", topic="lena"), said(5, "Lena", "ends", "owns")], ["Lena"], []),
    # plans
    ([said(1, "run a marathon in October", "planned", "owns"), said(5, "run the marathon after all", "ends", "owns")],
     ["run the marathon after all"], []),
    ([said(1, "run a marathon", "planned", "owns"), said(5, "learn Dutch", "ends", "owns")],
     ["run a marathon", "learn Dutch"], []),
    # many at a time
    ([pet(1, "a dog"), pet(5, "a cat")], ["a dog", "a cat"], []),
    ([pet(1, "two dogs"), pet(5, "three dogs")], ["three dogs"], []),
    ([taste(1, "coffee", 1), taste(5, "coffee", -1)], ["coffee"], []),
    ([taste(1, "coffee", 1), taste(5, "decaf coffee", -1)], ["coffee", "decaf coffee"], []),
    ([taste(1, "decaf coffee", 1), taste(5, "coffee", -1)], ["decaf coffee", "coffee"], []),
    ([taste(1, "decaf coffee", 1), replace(taste(5, "coffee", -1), phase="begins")], ["coffee"], []),
    ([taste(1, "decaf coffee", 1), replace(taste(5, "coffee", 1), phase="begins")], ["decaf coffee", "coffee"], []),
    ([taste(1, "coffee", 1), taste(5, "coffee in the evening", -1)], ["coffee", "coffee in the evening"], []),
    ([taste(1, "coffee", -1), taste(3, "coffee", 1), taste(5, "coffee", -1)], ["coffee"], []),
    ([taste(1, "coffee", 1), taste(5, "tea", -1)], ["coffee", "tea"], []),
    # less sure
    ([said(1, "Alex", relation="name"), said(5, "Al", relation="name", sure=0.5)], ["Alex", "Al"], ["less_sure"]),
    ([said(1, "Al", relation="name", sure=0.5), said(5, "Alex", relation="name")], ["Alex"], []),
    ([said(1, "Alex", relation="name"), said(5, "Al", relation="name", sure=0.5), said(9, "Bo", relation="name")],
     ["Bo"], []),
    ([job(1, "Zoho"), job(5, "Zoho", "ends", sure=0.5)], ["Zoho", "Zoho"], ["less_sure"]),
    # relations that end each other
    ([said(1, "Tom", relation="partner"), said(1, "married", relation="marital_status"),
      said(5, "Tom", "ends", "partner")], ["Tom"], []),
    ([said(1, "Tom", relation="partner"), said(5, "divorced", "begins", "marital_status")], ["divorced"], []),
    ([said(1, "Tom", relation="partner"), said(5, "married", "begins", "marital_status")], ["Tom", "married"], []),
    ([said(1, "divorced", relation="marital_status"), said(5, "Tom", "ends", "partner")], ["divorced", "Tom"], []),
]  # fmt: skip


@pytest.mark.parametrize(("values", "held", "undecided"), CASES)
def test_what_holds(values: list[StatedValue], held: list[str], undecided: list[str]) -> None:
    assert outcome(*values) == (held, undecided)


@pytest.mark.parametrize(("values", "held", "undecided"), CASES)
def test_no_order_matters(values: list[StatedValue], held: list[str], undecided: list[str]) -> None:
    assert decide(list(reversed(values))) == decide(values)


def test_a_merged_statement_counts_at_its_own_time() -> None:
    """Oslo, Bergen, and Oslo again, merged into the first: the first is in force again."""
    oslo, bergen = said(1, "Oslo"), said(5, "Bergen")
    again = said(9, "Oslo", bearer_id=oslo.bearer_id)
    decision = decide([oslo, bergen, again])
    assert decision.validity[oslo.bearer_id].valid_to is None
    assert decision.validity[oslo.bearer_id].valid_from == again.valid_from
    assert decision.validity[bergen.bearer_id].superseded_by == oslo.bearer_id
    assert [value.ended_at for value in decision.values] == [bergen.valid_from, again.valid_from, None]


def test_what_a_person_keeps_apart_holds_beside() -> None:
    oslo, bergen = said(1, "Oslo"), said(5, "Bergen", "begins")
    decision = decide([oslo, bergen], {frozenset((oslo.bearer_id, bergen.bearer_id))})
    assert in_force(decision, oslo, bergen) == ["Oslo", "Bergen"]
    assert decision.conflicts == set()


def test_an_end_that_is_undone_ends_nothing() -> None:
    zoho, left = job(1, "Zoho"), job(5, "my job", "ends")
    decision = decide([zoho, left], {frozenset((zoho.bearer_id, left.bearer_id))})
    assert in_force(decision, zoho, left) == ["Zoho", "my job"]


def test_more_sure_is_a_value_of_its_own_and_the_memory_stays() -> None:
    unsure, sure = said(1, "Al", relation="name", sure=0.5), said(5, "Al", relation="name")
    decision = decide([unsure, sure])
    assert in_force(decision, unsure, sure) == ["Al", "Al"]
    assert [value.replaced_by for value in decision.values] == [sure.id, None]


def test_a_conflict_names_the_earlier_first() -> None:
    zoho, acme = job(1, "Zoho", session_id="s"), job(1.01, "Acme", session_id="s")
    (conflict,) = decide([acme, zoho]).conflicts
    assert (conflict.memory_id, conflict.other_id) == (zoho.bearer_id, acme.bearer_id)
    assert (conflict.relation, conflict.since) == ("works_at", acme.valid_from)


def test_what_is_forgotten_is_in_no_conflict() -> None:
    zoho, acme = job(1, "Zoho", session_id="s", is_kept=False), job(1.01, "Acme", session_id="s")
    assert decide([zoho, acme]).conflicts == set()


def test_a_decision_names_the_turn_that_ended_it() -> None:
    zoho, left = job(1, "Zoho"), job(5, "Zoho", "ends")
    validity = decide([zoho, left]).validity
    assert validity[zoho.bearer_id].ended_by == left.turn_id
    assert validity[left.bearer_id].ended_by is None


def test_the_end_of_one_memory_may_be_of_an_end() -> None:
    left = job(1, "Zoho", "ends")
    over = job(5, "Zoho", "ends", ends_memory=left.bearer_id, is_kept=False)
    valid = decide([left, over]).validity[left.bearer_id]
    assert (valid.valid_to, valid.superseded_by, valid.ended_by) == (over.valid_from, over.bearer_id, over.turn_id)


VALUES = st.builds(
    lambda day, what, phase, relation, polarity, session: said(
        day, what, phase, relation, polarity=polarity, session_id=f"s{session}"
    ),
    st.sampled_from([0, 0.01, 1, 2, 3, 5, 8]),
    st.sampled_from(["Oslo", "Bergen", "Oslo, Norway", "my job", "two dogs", "three dogs"]),
    st.sampled_from(["holds", "holds", "begins", "adds", "ends", "past", "planned"]),
    st.sampled_from(["lives_in", "has_pet"]),
    st.sampled_from([-1, 0, 1]),
    st.integers(0, 3),
)


@settings(deadline=None)
@given(st.lists(VALUES, max_size=10), st.randoms())
def test_the_same_statements_give_the_same(values: list[StatedValue], dice: random.Random) -> None:
    decision = decide(values)
    assert decide(dice.sample(values, len(values))) == decision
    kept = {value.bearer_id for value in values}
    assert decision.validity.keys() == kept
    for bearer, valid in decision.validity.items():
        assert valid.valid_to is None or valid.valid_from <= valid.valid_to
        assert (valid.valid_to is None) == (valid.superseded_by is None)
        assert valid.superseded_by != bearer
    for conflict in decision.conflicts:
        assert decision.validity[conflict.memory_id].valid_to is None
        assert decision.validity[conflict.other_id].valid_to is None


@pytest.mark.parametrize(
    ("known", "over", "ends"),
    [
        ("a trip to Japan", "Japan", True),
        ("a treehouse", "the treehouse", True),
        ("a second-hand piano", "the piano", True),
        ("a trip to Japan", "Peru", False),
        ("a red bike", "the blue bike", False),
    ],
)
def test_what_is_over_ends_what_it_names_in_other_relations(known: str, over: str, ends: bool) -> None:
    many: dict[str, Any] = {"is_single": False, "category": None, "key": None}
    wish, other = (said(1, what, relation="wants", **many) for what in (known, "a degree"))
    gone = said(5, over, "ends", "plans", ends=("wants", "works_on"), **many)
    assert in_force(decide([wish, other, gone]), wish, other) == [*([] if ends else [known]), other.object]


def test_who_has_left_is_no_contact_either_whatever_the_role_was_called() -> None:
    table = load_policy("reverie").extract.relations
    many: dict[str, Any] = {"is_single": False, "category": None, "key": None}
    vet, florist = (
        said(1, who, relation="has_contact", topic=role, is_role=True, **many)
        for who, role in (("Doc Haugen", "vet"), ("Ida Moe", "florist"))
    )
    gone = said(5, "Haugen", "ends", "has_colleague", ends=table["has_colleague"].ends, **many)
    assert in_force(decide([vet, florist, gone]), vet, florist) == ["Ida Moe"]
    friend = said(1, "Doc Haugen", relation="has_friend", **many)
    assert in_force(decide([friend, gone]), friend) == ["Doc Haugen"], "a friend stays one"


def test_what_is_over_is_decided_with_all_that_it_may_end() -> None:
    table = load_policy("reverie").extract.relations
    assert with_tied(["speaks"], table) == {"speaks"}
    assert with_tied(["wants"], table) == {"wants", "plans"}
    assert with_tied(["plans"], table) == {"plans", *table["plans"].ends}
    assert with_tied(["avoids_topic"], table) == {"avoids_topic", "standing_rule"}
    assert with_tied(["works_at"], table) == {"works_at", "works_as"}


@pytest.mark.parametrize(
    ("role", "place", "phase", "holds"),
    [
        ("a nurse at Addenbrooke's", "the Royal Free", "begins", False),
        ("a nurse at Addenbrooke's", "Addenbrooke's", "begins", True),
        ("a nurse at Addenbrooke's", "Addenbrooke's", "ends", False),
        ("a nurse", "the Royal Free", "begins", True),
    ],
)
def test_a_new_employer_ends_a_role_elsewhere(role: str, place: str, phase: str, holds: bool) -> None:
    nurse, employer = said(1, role, relation="works_as"), job(5, place, phase)
    assert (role in in_force(decide([nurse, employer]), nurse)) is holds


def test_freelancers_have_no_employer_and_who_has_a_partner_is_not_single() -> None:
    agency, free = job(1, "an agency"), said(5, "freelance", "begins", "works_as")
    assert in_force(decide([agency, free]), agency, free) == ["freelance"]
    single, orla = said(1, "single", relation="marital_status"), said(5, "Orla", "begins", "partner")
    assert in_force(decide([single, orla]), single, orla) == ["Orla"]


def test_in_one_message_a_change_holds() -> None:
    """ "Still three?" "He turned 4": the answer is read with the question."""
    turn = {"turn_id": UUID(int=77), "turn_index": 1, "session_id": "s"}
    for order in (1, -1):
        old, new = [
            said(1, what, phase, "age", **turn) for what, phase in [("three", "holds"), ("4", "begins")][::order]
        ][::order]
        assert outcome(old, new) == (["4"], [])


def judged(day: float, value: StatedValue, **given_: Any) -> StatedValue:
    """The end of what one memory states, as a language model judged it."""
    return said(day, value.object, "ends", value.relation, ends_memory=value.bearer_id, **given_)


def test_a_judged_end_ends_one_memory_and_no_other() -> None:
    mira, danny = pet(0, "Mira"), pet(0, "Danny")
    decision = decide([mira, danny, end := judged(5, danny)])
    assert in_force(decision, mira, danny) == ["Mira"]
    assert decision.validity[danny.bearer_id].superseded_by == end.bearer_id
    again = pet(9, "Danny")
    decision = decide([mira, danny, judged(5, danny), again])
    assert in_force(decision, mira, danny, again) == ["Mira", "Danny"], "what is said again later holds again"


def test_a_judged_end_ends_a_plan_and_not_the_value_that_replaced_it() -> None:
    plan, home = said(0, "Lyon", "planned"), said(6, "Lyon", "begins")
    decision = decide([plan, end := judged(3, plan)])
    assert decision.validity[plan.bearer_id].superseded_by == end.bearer_id
    assert in_force(decide([plan, judged(3, plan), home]), home) == ["Lyon"]
    old, new = said(0, "65 an hour", relation="measure"), said(5, "72 an hour", relation="measure")
    assert in_force(decide([old, new, judged(5, old)]), old, new) == ["72 an hour"]


def test_a_judged_end_is_where_the_value_is_that_it_ends() -> None:
    rate = said(0, "65 an hour", relation="measure", topic="workshop rate")
    other = said(1, "65 an hour", relation="measure", topic="shop rent")
    now = said(2, "65 an hour and a tip", "begins", relation="measure", topic="workshop rate")
    assert in_force(decide([rate, other, now, judged(5, rate)]), rate, other, now) == [
        "65 an hour",
        "65 an hour and a tip",
    ]
    assert in_force(decide([rate, other, judged(5, other)]), rate, other) == ["65 an hour"]


def test_what_is_left_of_a_statement_is_ended_by_no_rule() -> None:
    whole = said(0, "Oslo, times in Berlin")
    left = said(0, "times in Berlin", is_single=False, slot="rest:1")
    back = said(5, "Hamburg", "begins")
    decision = decide([whole, left, back, judged(5, whole)])
    assert in_force(decision, whole, left, back) == ["times in Berlin", "Hamburg"]
    assert in_force(decide([whole, left, back, judged(9, left)]), left) == []


def test_a_judged_end_of_what_a_person_keeps_apart_ends_nothing() -> None:
    danny = pet(0, "Danny")
    end = judged(5, danny)
    assert in_force(decide([danny, end], {frozenset((danny.bearer_id, end.bearer_id))}), danny) == ["Danny"]
