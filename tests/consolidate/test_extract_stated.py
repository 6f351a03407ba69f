"""Statements of a reader as candidates."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from reverie.consolidate.extract.stated import candidates_of
from reverie.language.statements.stated import MessageStatement
from reverie.model import Candidate, Proposition
from reverie.policy import load_policy
from reverie.testing import conversation

POLICY = load_policy("reverie")
TURN = conversation("whatever was said", start=datetime(2026, 3, 2, 9, tzinfo=UTC))[0]


def only(relation: str, object_: str, **parts: Any) -> Candidate:
    (candidate,) = candidates_of([MessageStatement(relation=relation, object=object_, **parts)], TURN, POLICY)
    return candidate


def test_a_candidate_states_its_relation() -> None:
    candidate = only("lives_in", "Leeds", holder="my sister Ann", phase="begins")
    assert candidate.statement == Proposition(relation="lives_in", object="Leeds", who="ann", phase="begins")
    assert (candidate.kind, candidate.content, candidate.origin) == ("fact", "Sister Ann lives in Leeds", "reader")
    assert candidate.lasting
    assert candidate.expires_at is None
    assert candidate.turn_id == TURN.id


def test_the_sort_of_a_pet_is_what_stands_before_its_name() -> None:
    turn = conversation("I have a golden retriever called Rex.", start=datetime(2026, 3, 2, 9, tzinfo=UTC))[0]
    for topic in (None, "retriever"):
        statement = MessageStatement(relation="has_pet", object="Rex", topic=topic)
        assert [each.content for each in candidates_of([statement], turn, POLICY)] == [
            "Has a golden retriever named Rex"
        ]


def test_the_sort_of_a_pet_is_not_that_of_another() -> None:
    turn = conversation("I have a cat named Maximus. Max is my dog.", start=datetime(2026, 3, 2, 9, tzinfo=UTC))[0]
    (found,) = candidates_of([MessageStatement(relation="has_pet", object="Max", topic="dog")], turn, POLICY)
    assert found.content == "Has a dog named Max"


@pytest.mark.parametrize("text", ["my dog is called Basil", "My dog's called Basil", "The dog was named Basil"])
def test_the_sort_of_a_pet_has_no_verb(text: str) -> None:
    turn = conversation(text, start=datetime(2026, 3, 2, 9, tzinfo=UTC))[0]
    (found,) = candidates_of([MessageStatement(relation="has_pet", object="Basil")], turn, POLICY)
    assert found.content == "Has a dog named Basil"
    assert found.statement is not None and found.statement.topic == "dog"


@pytest.mark.parametrize(
    ("text", "relation", "object_", "content"),
    [
        ("My father-in-law Otto is ill", "has_parent", "Otto", "Has a relative, Otto"),
        ("my brother in law, Karel, moved to Brno", "has_sibling", "Karel", "Has a relative, Karel"),
        ("My sister in law is called Dana", "has_sibling", "Dana", "Has a relative, Dana"),
        ("My father Otto is ill", "has_parent", "Otto", "Parent: Otto"),
        ("My father-in-law is ill", "has_parent", "father-in-law", None),
        ("My father-in-law Peter and my son Pete", "has_child", "Pete", "Has a child, Pete"),
        ("My in-laws Otto and Hilde are here", "has_parent", "Otto", "Has a relative, Otto"),
        ("my in laws are Otto and Hilde", "has_parent", "Otto", "Has a relative, Otto"),
        ("My brother has a degree in law, Otto", "has_sibling", "Otto", "Has a sibling, Otto"),
        ("my brother-in-law's phone is 07700 900123", "phone", "07700 900123", "Phone number is 07700 900123"),
        ("My birth number is 855612/4471", "phone", "855612/4471", "Birth number: 855612/4471"),
        ("my NHS number is 943 476 5919", "phone", "943 476 5919", "NHS number: 943 476 5919"),
        ("My BSN: 123456782", "phone", "123456782", "BSN: 123456782"),
        ("In that case no, 0770 900123", "phone", "0770 900123", "Phone number is 0770 900123"),
        ("In that case no 0770 900123", "phone", "0770 900123", "Phone number is 0770 900123"),
        ("my case no 0770 900123", "phone", "0770 900123", "Case no: 0770 900123"),
        ("My card: you get me at 07700 900123", "phone", "07700 900123", "Phone number is 07700 900123"),
    ],
)
def test_the_words_before_an_object_tell_what_it_is(
    text: str, relation: str, object_: str, content: str | None
) -> None:
    turn = conversation(text, start=datetime(2026, 3, 2, 9, tzinfo=UTC))[0]
    statement = MessageStatement(relation=relation, object=object_)
    assert [each.content for each in candidates_of([statement], turn, POLICY)] == ([content] if content else [])


def test_what_has_own_words_is_remembered_in_them() -> None:
    said = "beatriz sells the flat so from april it is Gaia"
    candidate = only("has_contact", "Gaia", phase="begins", own_words=said, clause="it is Gaia")
    assert (candidate.content, candidate.origin) == (said.capitalize().replace("gaia", "Gaia"), "said")
    assert candidate.statement == Proposition(relation="has_contact", object="Gaia", phase="begins")


def test_the_end_of_what_it_replaces_is_worded() -> None:
    statement = MessageStatement(
        relation="uses", object="Shopify", replaced="Wix", phase="begins", own_words="Moved from Wix to Shopify"
    )
    contents = [candidate.content for candidate in candidates_of([statement], TURN, POLICY)]
    assert contents == ["Moved from Wix to Shopify", "No longer uses Wix"]


def test_kind_and_importance_are_those_of_the_relation() -> None:
    assert only("standing_rule", "no emojis").kind == "instruction"
    assert (only("allergic_to", "nuts").kind, only("allergic_to", "nuts").importance) == ("preference", 0.9)


def test_an_event_is_an_episode_about_things() -> None:
    candidate = only("event", "Our recipe post got 340 views", topic="340 views")
    assert (candidate.kind, candidate.statement, candidate.lasting) == ("episode", None, False)
    assert {"thing:post", "thing:view"} <= set(candidate.mentions)


def test_whoever_is_named_is_an_entity() -> None:
    assert "pet:pip" in only("has_pet", "pip", topic="dog").mentions
    assert "person:ann" in only("has_sibling", "sister Ann").mentions
    assert not only("has_pet", "two cats").mentions


def test_a_plan_ends_by_its_date_and_one_without_after_some_days() -> None:
    assert only("plans", "surgery", topic="10 March").expires_at == datetime(2026, 3, 11, tzinfo=UTC)
    assert only("plans", "surgery").expires_at == TURN.said_at + timedelta(days=POLICY.extract.plan_days)


def test_tomorrow_is_no_birthday() -> None:
    tomorrow = MessageStatement(relation="birthday", object="tomorrow at 3", holder="Emil")
    assert candidates_of([tomorrow], TURN, POLICY) == ()
    assert only("birthday", "6 March").lasting


def test_what_somebody_no_longer_has_is_over() -> None:
    nuts = MessageStatement(relation="allergic_to", object="peanuts", phase="begins")

    def phase(text: str, statement: MessageStatement = nuts) -> str | None:
        (candidate,) = candidates_of([statement], replace(TURN, text=text), POLICY)
        assert candidate.statement is not None
        return candidate.statement.phase

    assert phase("not allergic to peanuts anymore, did the therapy") == "ends"
    assert phase("I'm no longer allergic to peanuts") == "ends"
    asthma = MessageStatement(relation="has_condition", object="asthma")
    assert phase("I don't run much with my asthma anymore", asthma) == "holds"
    assert phase("I can no longer run because I have asthma", asthma) == "holds"
    assert phase("I don't have asthma any more", asthma) == "ends"
    assert phase("It's not the cats. I'm allergic to peanuts, can't eat them any more") == "begins"
    assert (
        phase("I don't smoke any more", MessageStatement(relation="smokes", object="smoke", phase="begins")) == "begins"
    )


def test_nobody_is_called_like_somebody_whom_they_meet() -> None:
    anna = MessageStatement(relation="name", object="anna")
    for text in ("made up with anna", "I talked to anna", "met anna"):
        assert candidates_of([anna], replace(TURN, text=text), POLICY) == ()
    for text in ("I'm anna", "sign it with anna", "anna here"):
        assert [one.content for one in candidates_of([anna], replace(TURN, text=text), POLICY)] == ["Name is anna"]


def test_what_comes_each_month_has_no_end() -> None:
    candidate = only("deadline", "the 10th of each month", topic="taxes")
    assert (candidate.expires_at, candidate.lasting) == (None, True)


def test_what_is_passing_ends_soon_and_until_at_its_time() -> None:
    passing = only("has_condition", "a broken wrist", duration="passing")
    assert (passing.lasting, passing.expires_at) == (False, TURN.said_at + timedelta(days=POLICY.extract.passing_days))
    until = only("availability", "evenings", polarity=1, duration="until", until="Easter or until 20 March")
    assert until.expires_at == datetime(2026, 3, 21, tzinfo=UTC)
    assert only("habit", "a nap", duration="lasting").lasting


def test_a_replaced_value_ends_where_the_new_one_does_not_end_it() -> None:
    statement = MessageStatement(relation="uses", object="Shopify", topic="the shop", replaced="Wix", phase="begins")
    new, end = candidates_of([statement], TURN, POLICY)
    assert new.content == "Uses Shopify (shop)"
    assert end.content == "No longer uses Wix"
    assert end.statement == Proposition(relation="uses", object="Wix", topic="the shop", phase="ends")
    assert new.id != end.id
    assert only("lives_in", "Bergen", replaced="Oslo", phase="begins").content == "Lives in Bergen"
    assert only("prefers", "tea", replaced="coffee").content == "Prefers tea to coffee"


def test_a_wish_changes_nothing_yet() -> None:
    candidate = only("has_pet", "a dog", phase="wished")
    assert candidate.statement is not None
    assert (candidate.statement.phase, candidate.lasting) == ("planned", False)


def test_a_pronoun_stands_for_who_was_named_before() -> None:
    sister = MessageStatement(relation="has_sibling", object="Ann")
    her = MessageStatement(relation="lives_in", object="Leeds", holder="she")
    assert [each.content for each in candidates_of([sister, her], TURN, POLICY)][1] == "Ann lives in Leeds"
    assert [each.content for each in candidates_of([her], TURN, POLICY, before=[sister])] == ["Ann lives in Leeds"]
    assert candidates_of([her], TURN, POLICY) == ()
    wife = MessageStatement(relation="allergic_to", object="chrysanthemums", holder="his wife")
    osei = MessageStatement(relation="has_contact", object="Mr Osei")
    assert candidates_of([osei, wife], TURN, POLICY)[1].content == "Mr Osei's wife is allergic to chrysanthemums"
    assert candidates_of([wife], TURN, POLICY) == ()


def test_nobody_is_somebody_without_a_name() -> None:
    him = MessageStatement(relation="has_colleague", object="him")
    age = MessageStatement(relation="age", object="nineteen", holder="He")
    assert candidates_of([him, age], TURN, POLICY) == ()
    assert candidates_of([age], TURN, POLICY, before=[him]) == ()


def test_who_speaks_is_no_friend_or_holder_of_his_own() -> None:
    turn = replace(TURN, speaker="Arjun")
    said = [
        MessageStatement(relation="partner", object="Arjun"),
        MessageStatement(relation="reports_to", object="Arjun"),
        MessageStatement(relation="has_colleague", object="Arjun"),
        MessageStatement(relation="works_as", object="engineer", holder="Arjun"),
        MessageStatement(relation="partner", object="Arjun", holder="my sister"),
        MessageStatement(relation="works_as", object="nurse", holder="my sister Arjun"),
        MessageStatement(relation="has_pet", object="Arjun"),
    ]
    found = [(one.statement.relation, one.statement.who) for one in candidates_of(said, turn, POLICY) if one.statement]
    assert found == [("works_as", None), ("partner", "sister"), ("works_as", "arjun"), ("has_pet", None)]


def test_a_time_zone_is_no_distance() -> None:
    away = MessageStatement(relation="time_zone", object="20 minutes away", holder="mom")
    assert candidates_of([away], TURN, POLICY) == ()
    for zone in ("Europe/Berlin", "IST", "One hour behind Berlin", "Pacific time", "UTC+5:30"):
        assert only("time_zone", zone).content == f"Time zone is {zone}"


def test_a_favourite_dish_lives_nowhere() -> None:
    food = MessageStatement(relation="favorite", object="Biryani")
    biryani = MessageStatement(relation="lives_in", object="Hyderabad", holder="Biryani", phase="planned")
    karan = replace(biryani, holder="Karan")
    assert [each.content for each in candidates_of([food, biryani, karan], TURN, POLICY)] == [
        "Favorite: Biryani", "Karan will live in Hyderabad"
    ]  # fmt: skip


def test_a_colleague_is_no_place_of_work() -> None:
    gone = only("has_colleague", "Joost", phase="ends")
    assert (gone.content, gone.mentions) == ("No longer works with Joost", ("person:joost",))


def test_what_is_planned_of_a_job_has_no_end_of_its_own() -> None:
    assert only("works_at", "Zoho", phase="planned", clause="starting at Zoho on 10 March").expires_at is None
    rate = only("measure", "520", topic="callout", phase="planned", duration="until", until="1 April")
    assert rate.expires_at is None, "from that day on it holds"


def test_what_is_unsure_or_of_no_known_relation_gives_nothing() -> None:
    sure = POLICY.structured_facts.min_confidence
    assert (
        candidates_of([MessageStatement(relation="lives_in", object="Oslo", confidence=sure - 0.01)], TURN, POLICY)
        == ()
    )
    assert candidates_of([MessageStatement(relation="nothing", object="Oslo")], TURN, POLICY) == ()
    assert candidates_of([MessageStatement(relation="lives_in", object=" ")], TURN, POLICY) == ()
    assert only("measure", " 72 ", topic=" ", holder=" ").content == "72"


def test_the_same_statements_give_the_same_candidates() -> None:
    statements = [
        MessageStatement(relation="lives_in", object="Oslo"),
        MessageStatement(relation="works_as", object="a nurse"),
    ]
    assert candidates_of(statements, TURN, POLICY) == candidates_of(statements, TURN, POLICY)
    assert len({each.id for each in candidates_of(statements, TURN, POLICY)}) == 2


def test_a_speaker_beside_the_subject_is_named() -> None:
    turn = TURN.__class__(**{name: getattr(TURN, name) for name in TURN.__slots__ if name != "speaker"}, speaker="Bo")
    (candidate,) = candidates_of([MessageStatement(relation="lives_in", object="Oslo")], turn, POLICY)
    assert candidate.content == "Bo lives in Oslo"
