"""Statements in the words in which they were said, each text once."""

from datetime import UTC, datetime

import polars as pl

from reverie.consolidate.extract.own_words import each_told_once, without_episodes_told
from reverie.consolidate.extract.stated import candidates_of
from reverie.language.statements.stated import MessageStatement
from reverie.policy import load_policy
from reverie.testing import conversation

SAID = "the Ford, 2021, 61000 km, white, 17500"


def said(object_: str, words: str | None, confidence: float = 0.5) -> MessageStatement:
    return MessageStatement(relation="measure", object=object_, own_words=words, confidence=confidence)


def told_once(*statements: MessageStatement) -> list[MessageStatement]:
    return list(each_told_once(dict(enumerate(statements))).values())


def test_of_one_text_the_surest_statement_stays() -> None:
    one, other = said("61000 km", SAID, 0.4), said("17500", SAID, 0.6)
    assert told_once(one, other) == [other]


def test_of_texts_in_one_another_the_longer_one_stays() -> None:
    (kept,) = told_once(said("17500", "white, 17500", 0.6), said("61000 km", SAID, 0.4))
    assert (kept.object, kept.own_words) == ("17500", SAID)


def test_what_a_sure_statement_names_is_not_told_again() -> None:
    sure = MessageStatement(relation="measure", object="0.5 mg per kg", topic="Meloxicam")
    again = said("Meloxicam", "Meloxicam 0.5 mg per kg, cow of 640")
    other = said("640", "cow of 640")
    assert told_once(again, sure, other) == [sure, other]


def test_statements_without_own_words_stay_as_they_are() -> None:
    both = [said("one", None), said("one", None)]
    assert told_once(*both) == both


def test_what_gives_no_memory_takes_no_words_away() -> None:
    turn = conversation(SAID, start=datetime(2026, 3, 2, 9, tzinfo=UTC))[0]
    nobody = MessageStatement(relation="age", object="17500", holder="he")
    contents = [each.content for each in candidates_of([nobody, said("17500", SAID)], turn, load_policy("reverie"))]
    assert contents == [f"T{SAID[1:]}"]


def test_an_episode_in_the_same_words_is_left_out() -> None:
    turn = conversation(SAID, start=datetime(2026, 3, 2, 9, tzinfo=UTC))[0]
    (told,) = candidates_of([said("17500", SAID)], turn, load_policy("reverie"))
    rows = [
        ("t", "episode", SAID.upper()),
        ("t", "episode", f"{SAID}, it is sold"),
        ("u", "episode", SAID),
        ("t", "fact", SAID),
    ]
    found = pl.DataFrame(rows, schema=["turn_id", "kind", "content"], orient="row")
    assert without_episodes_told(found, {"t": [told]}).rows() == rows[1:]
