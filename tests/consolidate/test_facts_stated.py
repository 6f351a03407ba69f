"""What is in force of the statements of a reader: topics, roles, details, plans that fall through; pure."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any
from uuid import UUID

import pytest

from reverie.consolidate.extract.stated import candidates_of
from reverie.consolidate.facts.decide import decide
from reverie.consolidate.facts.read import KnownFact, StatingMemory, outlived_values, stated_values
from reverie.consolidate.facts.ties import with_dropping
from reverie.language.statements.stated import MessageStatement
from reverie.policy import load_policy
from reverie.testing import conversation

POLICY = load_policy("reverie")
START = datetime(2026, 1, 1, 9, tzinfo=UTC)
_NUMBERS = count(1)

Told = tuple[float, str, str, dict[str, Any]]


def told(day: float, relation: str, object_: str, **parts: Any) -> Told:
    return day, relation, object_, parts


def memories_of(stories: list[Told]) -> list[StatingMemory]:
    found = []
    for day, relation, object_, parts in stories:
        session = parts.get("session", f"s{day}")
        statement = {name: value for name, value in parts.items() if name != "session"}
        (turn,) = conversation("said", session_id=f"{session}-{next(_NUMBERS)}", start=START + timedelta(days=day))
        for each in candidates_of([MessageStatement(relation=relation, object=object_, **statement)], turn, POLICY):
            assert each.statement is not None
            found.append(
                StatingMemory(
                    id=each.id, subject_id=each.subject_id, into_id=None, kind=each.kind, state="active",
                    content=each.content, polarity=each.polarity, happened_at=each.happened_at,
                    accessed_at=each.happened_at, peak=0.7, forget_at=None, lasting=each.lasting,
                    expires_at=each.expires_at, turn_id=each.turn_id, origin=each.origin, model=None,
                    confidence=each.confidence, agreed=None, stated=None,
                    relation=each.statement.relation, who=each.statement.who, topic=each.statement.topic,
                    object=each.statement.object, phase=each.statement.phase, valid_from=each.happened_at,
                    valid_to=None, superseded_by=None, ended_by=None, end_session_id=None, end_turn_index=None,
                    is_end_forgotten=False, said_by=None, session_id=str(session), turn_index=0,
                )
            )  # fmt: skip
    return found


def in_force(*stories: Told) -> list[str]:
    """The memories in force that say what holds or is planned; the same in whatever order they are read."""
    memories = memories_of(list(stories))
    results = []
    for seed in range(3):
        values = list(stated_values(memories, POLICY, "test"))
        random.Random(seed).shuffle(values)
        validity = decide(values).validity
        results.append([m.content for m in memories if validity[m.id].valid_to is None and m.phase != "ends"])
    assert results[0] == results[1] == results[2]
    return results[0]


def measure(day: float, object_: str, topic: str | None = None, **parts: Any) -> Told:
    return told(day, "measure", object_, topic=topic, **parts)


def test_of_diets_only_those_of_one_scale_replace_each_other() -> None:
    kosher, vegan = told(1, "diet", "kosher"), told(2, "diet", "vegan")
    assert in_force(kosher, vegan, told(9, "diet", "low-salt")) == ["Diet: kosher", "Diet: vegan", "Diet: low-salt"]
    assert in_force(kosher, vegan, told(9, "diet", "eats fish", phase="begins")) == ["Diet: kosher", "Diet: eats fish"]
    assert in_force(kosher, vegan, told(9, "diet", "kosher", phase="ends")) == ["Diet: vegan"]


def test_a_number_is_of_one_thing_however_that_is_worded() -> None:
    assert in_force(measure(1, "65", "workshop rate"), measure(9, "72", "the rate for workshops")) == [
        "Rate for workshops: 72"
    ]
    assert in_force(measure(1, "65", "day rate"), measure(9, "72", "daily fee", phase="begins")) != []
    assert len(in_force(measure(1, "300", "budget"), measure(2, "9,000", "wedding budget"))) == 2


def test_a_number_of_nothing_ends_only_what_has_its_unit() -> None:
    assert len(in_force(measure(1, "700 euros a month"), measure(2, "35"), measure(3, "40"))) == 3
    three, four = measure(1, "three mechanics"), measure(9, "four mechanics", phase="begins")
    assert in_force(measure(0, "58", "hour"), three, four) == ["Hour: 58", "Four mechanics"]


def test_what_is_passing_ends_nothing_that_lasts() -> None:
    lasting, passing = told(1, "diet", "vegan"), told(5, "diet", "no sugar", duration="until", until="20 January")
    assert len(in_force(lasting, passing)) == 2
    fish = told(9, "diet", "fish", phase="begins")
    assert in_force(lasting, passing, fish) == ["Diet: no sugar", "Diet: fish"], "no sugar is of no scale with fish"


def test_a_change_may_name_its_thing_in_short_where_there_is_one() -> None:
    assert in_force(measure(1, "65", "workshop rate"), measure(9, "72", "rate", phase="begins")) == ["Rate: 72"]
    assert in_force(measure(1, "80", "minimum charge"), measure(9, "90", "minimum", phase="begins")) == ["Minimum: 90"]
    two = measure(1, "65", "workshop rate"), measure(2, "480", "day rate")
    assert len(in_force(*two, measure(9, "72", "rate", phase="begins"))) == 3


def test_a_change_in_short_names_the_head_of_its_topic() -> None:
    houses = told(1, "schedule", "Thursdays", topic="open houses")
    assert len(in_force(houses, told(9, "schedule", "Saturdays only", topic="opens", phase="begins"))) == 2
    office = told(1, "address", "room 2.31", topic="office")
    assert len(in_force(office, told(9, "address", "17 Mill Lane", phase="begins"))) == 2


def test_a_value_that_is_replaced_by_name_ends_whatever_its_topic() -> None:
    changed = measure(9, "52", "hourly", replaced="48", phase="begins")
    assert in_force(measure(1, "48 an hour", "charge"), measure(2, "300", "rent"), changed) == [
        "Rent: 300",
        "Hourly: 52",
    ]


def test_an_illness_is_over_whether_written_as_a_name() -> None:
    ill = told(1, "has_condition", "Gestational diabetes"), told(2, "has_condition", "pregnant")
    assert in_force(*ill, told(9, "has_condition", "Diabetes", phase="ends")) == ["Health: pregnant"]
    silence = told(1, "avoids_topic", "pregnant"), told(2, "avoids_topic", "politics")
    spoken = told(9, "avoids_topic", "the pregnancy", phase="ends")
    assert in_force(*silence, spoken) == ["Doesn't want to talk about politics"]


def test_it_is_the_latest_of_its_session_alone_where_nothing_was_planned() -> None:
    rules = told(1, "standing_rule", "no emojis", session="a"), told(2, "standing_rule", "no jokes", session="b")
    assert len(in_force(*rules, told(9, "standing_rule", "that", phase="ends", session="c"))) == 2
    assert in_force(*rules, told(2.1, "standing_rule", "that", phase="ends", session="b")) == ["Rule: no emojis"]


def test_a_deadline_is_pushed_where_there_is_one() -> None:
    book = told(1, "deadline", "15 May", topic="the book")
    pushed = told(9, "deadline", "the end of June", topic="the deadline", phase="begins")
    assert in_force(book, pushed) == ["Deadline: due the end of June"]
    taxes = told(2, "deadline", "31 July", topic="taxes")
    assert len(in_force(book, taxes, pushed)) == 3


def contact(day: float, object_: str, topic: str | None = None, **parts: Any) -> Told:
    return told(day, "has_contact", object_, topic=topic, **parts)


def test_one_accountant_at_a_time_and_many_clients() -> None:
    assert in_force(contact(1, "Mr Behrens", "accountant"), contact(9, "Frau Lindqvist", "accountants")) == [
        "Accountants: Frau Lindqvist"
    ]
    clients = contact(1, "Halden", "client"), contact(2, "Okafor", "client", phase="begins")
    assert len(in_force(*clients)) == 2
    assert in_force(*clients, contact(9, "Halden", phase="ends")) == ["Client: Okafor"]
    assert in_force(contact(1, "Mr Behrens", "accountant"), contact(9, "Mr Behrens", phase="ends")) == []


def test_what_serves_a_topic_is_replaced_by_a_change_alone() -> None:
    wix = told(1, "uses", "Wix", topic="shop")
    assert in_force(wix, told(9, "uses", "Shopify", topic="the shop", phase="begins")) == ["Uses Shopify (shop)"]
    assert len(in_force(wix, told(9, "uses", "Stripe", topic="shop"))) == 2
    assert len(in_force(wix, told(9, "uses", "Helix", topic="code", phase="begins"))) == 2


def test_closed_days_stand_beside_opening_hours() -> None:
    hours = told(1, "schedule", "7 to 18", topic="open")
    closed = told(1.1, "schedule", "Sundays and Mondays", topic="shop", polarity=-1)
    assert len(in_force(hours, closed)) == 2
    opened = told(9, "schedule", "on Mondays", polarity=1, phase="begins")
    assert in_force(hours, closed, opened) == ["Open: 7 to 18", "Hours: on Mondays"]
    later = told(9, "schedule", "6 to 14", topic="open", phase="begins")
    assert in_force(hours, closed, later) == ["Shop: closed Sundays and Mondays", "Open: 6 to 14"]


def test_what_was_denied_is_there_after_all() -> None:
    denied = told(1, "sells", "tents", polarity=-1), told(2, "sells", "boots")
    assert in_force(*denied, told(9, "sells", "tents", phase="begins")) == ["Offers boots", "Offers tents"]
    assert len(in_force(told(1, "likes", "tea", polarity=-1), told(9, "likes", "tea", polarity=0))) == 2


def test_a_blocked_day_is_freed() -> None:
    blocked = told(1, "availability", "wednesdays", polarity=-1), told(1.1, "availability", "fridays", polarity=-1)
    freed = told(9, "availability", "wednesdays", polarity=1, phase="begins")
    assert in_force(*blocked, freed) == ["Isn't available: fridays", "Is available: wednesdays"]


def plan(day: float, object_: str, **parts: Any) -> Told:
    return told(day, "plans", object_, **parts)


@pytest.mark.parametrize("end", ["Altona thing", "the talk", "that library talk", "the talk at the library in Altona"])
def test_a_plan_is_dropped_by_one_of_its_words(end: str) -> None:
    plans = plan(1, "talk at the library in Altona"), plan(2, "moving to Lyon", topic="in June")
    assert in_force(*plans, plan(9, end, phase="ends")) == ["Plan: moving to Lyon (in June)"]


def test_a_word_of_two_plans_drops_neither() -> None:
    plans = plan(1, "dinner with Oskar"), plan(2, "concert with Oskar")
    assert len(in_force(*plans, plan(9, "Oskar", phase="ends"))) == 2


@pytest.mark.parametrize("end", ["that", "it", "everything", "the whole thing"])
def test_an_end_that_names_nothing_means_the_latest_of_its_session(end: str) -> None:
    dinner = plan(1, "dinner with Oskar", session="a")
    dentist = plan(2, "dentist", session="b")
    assert in_force(dinner, dentist, plan(2.1, end, phase="ends", session="b")) == ["Plan: dinner with Oskar"]
    assert in_force(dinner, dentist, plan(2.1, end, phase="ends", session="a")) == ["Plan: dentist"]
    assert in_force(dinner, dentist, plan(5, end, phase="ends", session="c")) == ["Plan: dinner with Oskar"]


def test_a_plan_of_another_relation_falls_through() -> None:
    zoho = told(1, "works_at", "Zoho", phase="planned")
    acme = told(1.1, "works_at", "Acme")
    assert in_force(zoho, acme, plan(9, "Zoho", phase="ends")) == ["Works at Acme"]
    assert len(in_force(zoho, acme, plan(9, "the zoo", phase="ends"))) == 2
    assert in_force(told(1, "works_at", "Zoho"), plan(9, "Zoho", phase="ends")) == ["Works at Zoho"]


def test_a_plan_is_moved_to_another_date() -> None:
    first = plan(1, "surgery on the knee", topic="20 March")
    assert in_force(first, plan(9, "knee surgery", topic="2 June", phase="begins")) == ["Plan: knee surgery (2 June)"]
    assert in_force(first, plan(9, "knee surgery", topic="2 June")) == ["Plan: knee surgery (2 June)"]
    assert len(in_force(first, plan(9, "knee surgery"))) == 2


def test_a_plan_that_came_true_is_none_any_more() -> None:
    zoho = told(1, "works_at", "Zoho", phase="planned")
    assert in_force(zoho, told(9, "works_at", "Zoho", phase="begins")) == ["Works at Zoho"]
    assert in_force(zoho, told(9, "works_at", "Acme", phase="begins")) == ["Will work at Zoho", "Works at Acme"]
    rent = measure(1, "320", "rent", phase="planned"), measure(9, "340", "rent", phase="planned")
    assert in_force(*rent) == ["Rent will be 340"]


def boss(day: float, object_: str, topic: str | None = None, **parts: Any) -> Told:
    return told(day, "reports_to", object_, topic=topic, **parts)


def test_another_supervisor_takes_the_place_of_the_only_one() -> None:
    okafor = boss(1, "Dr Okafor", "supervisor")
    assert in_force(okafor, boss(9, "Prof Adler", phase="begins")) == ["Reports to Prof Adler"]
    assert len(in_force(okafor, boss(2, "Ms Duarte", "manager"))) == 2
    assert in_force(boss(1, "Petra"), boss(9, "Stan")) == ["Reports to Stan"]
    both = okafor, boss(2, "Ms Duarte", "manager")
    adler = boss(9, "Prof Adler", phase="begins", replaced="Okafor")
    assert in_force(*both, adler) == ["Manager: Ms Duarte", "Reports to Prof Adler"]


def test_a_contact_without_a_role_leaves_with_one() -> None:
    halloran = contact(1, "Mr. Halloran")
    assert in_force(halloran, contact(9, "Halloran", "account manager", phase="ends")) == []


def test_a_rule_may_be_withdrawn_as_a_topic() -> None:
    rule = told(1, "avoids_topic", "the pregnancy")
    assert in_force(rule, told(9, "standing_rule", "the pregnancy", phase="ends")) == []


def test_a_rule_is_withdrawn_by_its_thing() -> None:
    rules = (
        told(1, "standing_rule", "Don't use emojis in the newsletter"),
        told(2, "standing_rule", "always quote prices with VAT"),
    )
    end = told(9, "standing_rule", "the emoji rule", phase="ends")
    assert in_force(*rules, end) == ["Rule: always quote prices with VAT"]


def test_somebody_is_one_person_by_name() -> None:
    leeds = told(1, "lives_in", "Leeds", holder="my sister Ann")
    assert in_force(told(0, "lives_in", "Oslo"), leeds, told(9, "lives_in", "York", holder="Ann")) == [
        "Lives in Oslo", "Ann lives in York",
    ]  # fmt: skip


def test_plans_are_decided_with_what_they_may_drop() -> None:
    assert {"plans", "wants", "works_on", "deadline"} <= with_dropping(POLICY.extract.relations)


def test_what_is_remembered_as_it_was_said_counts_however_unsure_and_is_no_structured_fact() -> None:
    loved = told(1, "likes", "coffee", own_words="I love coffee, filter coffee", confidence=0.26, polarity=1)
    disliked = told(9, "likes", "coffee", polarity=-1, phase="begins")
    assert in_force(loved, disliked) == ["Doesn't like coffee"]
    said, read = stated_values(
        memories_of(
            [told(1, "name", "Ana", own_words="it's Ana, hi", confidence=0.26), told(2, "name", "Ana", confidence=0.6)]
        ),
        POLICY,
        "test",
    )
    assert (said.key, said.confidence) == (None, POLICY.structured_facts.rule_confidence)
    assert (read.key, read.confidence) == ("name", 0.6)


def test_what_the_reader_is_unsure_of_ends_nothing_that_it_is_sure_of() -> None:
    job = told(1, "works_at", "Brightwater Dental", confidence=0.83)
    table = told(9, "works_at", "the hardware shop", own_words="Booked a table at the hardware shop", confidence=0.26)
    assert in_force(job, table) == ["Works at Brightwater Dental", "Booked a table at the hardware shop"]
    later = told(12, "works_at", "Brightwater Dental", confidence=0.83)
    assert in_force(table, later) == ["Works at Brightwater Dental"]
    left = told(9, "works_at", "Brightwater Dental", phase="ends", own_words="the canteen smells", confidence=0.26)
    past = told(9, "works_at", "Brightwater Dental", phase="past", own_words="the canteen smelled", confidence=0.26)
    assert "Works at Brightwater Dental" in in_force(job, left)
    assert "Works at Brightwater Dental" in in_force(job, past)
    assert in_force(table, told(20, "works_at", "a bakery", own_words="at a bakery now, yes", confidence=0.3)) == [
        "At a bakery now, yes"
    ]


def test_what_a_forgotten_memory_with_a_key_ended_elsewhere_stays_so() -> None:
    """The structured fact of a new employer is known; that of itself ends no "nurse at Addenbrooke's"."""
    nurse, employer = memories_of(
        [told(1, "works_as", "a nurse at Addenbrooke's"), told(9, "works_at", "Solvik Energy", phase="begins")]
    )
    assert in_force(told(1, "works_as", "a nurse at Addenbrooke's"), told(9, "works_at", "Solvik", phase="begins")) == [
        "Works at Solvik"
    ]
    fact = fact_of(employer)
    ended = nurse._replace(
        state="superseded", valid_to=employer.happened_at, superseded_by=employer.id, ended_by=employer.turn_id,
        end_session_id=employer.session_id, end_turn_index=0, is_end_forgotten=True,
    )  # fmt: skip
    values = [*stated_values([ended], POLICY, "test"), *outlived_values([fact], [ended], POLICY, "test")]
    valid = decide(values).validity[nurse.id]
    assert (valid.valid_to, valid.superseded_by) == (employer.happened_at, employer.id)
    assert valid.ended_by == employer.turn_id


def fact_of(memory: StatingMemory, **given: Any) -> KnownFact:
    """The structured fact of a memory that is forgotten."""
    (value,) = stated_values([memory], POLICY, "test")
    fact = KnownFact(
        id=value.id, subject_id=memory.subject_id, speaker="", category=value.category or "", key=value.key or "",
        value=value.value, confidence=0.9, importance=0.7, valid_from=memory.happened_at, valid_to=None,
        replaced_by=None, memory_id=memory.id, turn_id=memory.turn_id, origin=memory.origin, model=None,
        relation=value.relation, topic=value.topic, object=value.object, polarity=value.polarity, expires_at=None,
        session_id=memory.session_id, turn_index=0, is_stated=False,
    )  # fmt: skip
    return replace(fact, **given)


@pytest.mark.parametrize(
    ("stated", "ended"),
    [
        (told(1, "has_sibling", "brother Karan"), told(9, "has_sibling", "Karan", phase="ends")),
        (told(1, "has_friend", "Anna"), told(9, "has_friend", "Anna", phase="ends")),
        (told(1, "allergic_to", "peanuts", polarity=-1), told(9, "allergic_to", "peanuts")),
    ],
)
def test_a_fact_whose_memory_is_forgotten_ends_as_it_would_have(stated: Any, ended: Any) -> None:
    """Several relations share the key of a person, and no key says that a statement is a denial."""
    first, last = memories_of([stated, ended])

    def in_force_of(fact: KnownFact) -> list[UUID]:
        values = [*stated_values([last], POLICY, "test"), *outlived_values([fact], [last], POLICY, "test")]
        return [each.fact.memory_id for each in decide(values).values if each.ended_at is None]

    assert first.id not in in_force_of(fact_of(first))
    of_before = dict.fromkeys(("relation", "topic", "object", "polarity"))
    assert first.id in in_force_of(fact_of(first, **of_before)), (
        "written by an earlier version: its key does not say it"
    )


def test_a_value_ends_by_itself_unless_it_is_told_again_without_an_end() -> None:
    first, again = memories_of([told(1, "lives_in", "Oslo"), told(9, "lives_in", "Oslo")])
    ends = START + timedelta(days=30)
    for told_again, expected in (((), ends), ((again,), None), ((again._replace(expires_at=ends),), ends)):
        memories = [first._replace(expires_at=ends), *told_again]
        (value,) = decide(stated_values(memories, POLICY, "test")).values
        assert value.expires_at == expected
