"""What the reader finds in messages, on its way to candidates."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from reverie.consolidate.extract import reading
from reverie.consolidate.extract.decide import TURNS, TurnDecisions, decide_turns
from reverie.consolidate.extract.kept import KeptReader
from reverie.consolidate.extract.reading import (
    ReadTurns,
    _stated,
    own_statements,
    read_messages,
    statement_of,
    without_over,
)
from reverie.errors import PolicyError
from reverie.inference.reader import AskedMessage, MessageReading, ReadMessage, TextPlace, shared_reader
from reverie.inference.reader.reader import TrainedReader
from reverie.language.statements.stated import MessageStatement
from reverie.model import Candidate
from reverie.policy import load_policy

READER, RULES = load_policy("reverie"), load_policy("chat")
AT = datetime(2026, 3, 2, 9, tzinfo=UTC)


def turns(*texts: str, **columns: Any) -> pl.DataFrame:
    rows = [
        {
            "id": f"0199{number:028x}",
            "subject_id": "ann",
            "session_id": "s",
            "role": "user",
            "said_at": AT,
            "text": text,
        }
        | columns
        for number, text in enumerate(texts)
    ]
    return pl.DataFrame(rows, schema=TURNS)


def decided(frame: pl.DataFrame) -> TurnDecisions:
    return decide_turns(frame, "acme", READER, len, read=read_messages(frame, READER))


def test_spans_become_words_of_the_message_or_of_its_question() -> None:
    reading = MessageReading(
        relation="lives_in", object=TextPlace(False, 0, 4), phase="begins", polarity=0, duration=None,
        holder=TextPlace(True, 6, 9), topic=None, replaced=None, until=None, clause=None, confidence=0.9,
    )  # fmt: skip
    found = statement_of(reading, AskedMessage("Pune since May", "Where Ann lives?"))
    assert (found.object, found.holder, found.clause) == ("Pune", "Ann", None)


def _read_as(text: str, object_: str, *, is_alone: bool = True, **numbers: float) -> MessageStatement:
    """What is stated of one reading of a message, whose object stands there for the last time."""
    at, clause = text.rindex(object_), text.index(", where")
    reading = MessageReading(
        relation="has_contact", object=TextPlace(False, at, at + len(object_)), phase="begins", polarity=0,
        duration=None, holder=None, topic=None, replaced=None, until=None, clause=TextPlace(False, 0, clause),
        **{"confidence": 0.7} | numbers,
    )  # fmt: skip
    return _stated(reading, AskedMessage(text), READER, is_alone=is_alone)


def test_what_the_reader_is_not_sure_of_keeps_its_words() -> None:
    text = "From april it is Gaia, where do i sign."
    least, clause = READER.extract.reader.whole, READER.extract.reader.clause
    assert _read_as(text, "Gaia", whole=least).own_words is None
    assert _read_as(text, "Gaia", whole=least - 0.01).own_words == "From april it is Gaia"
    unsure = _read_as(text, "Gaia", whole=least - 0.01, clause_chance=clause - 0.01)
    assert unsure.own_words == text
    assert _read_as(text.replace(".", "?"), "Gaia", whole=0, clause_chance=0).own_words is None, "it asks"


def test_a_word_or_two_stand_with_their_message() -> None:
    text, short = "New city in May. Halifax. It rains", ", where"
    assert _read_as(f"{text}{short}.", "Halifax", whole=0, clause_chance=0).own_words == f"{text}{short}."
    # what is unsure does not repeat a message of which something else is sure
    unsure = {"whole": 0, "clause_chance": 0, "confidence": 0.3, "chance": 0.3}
    assert _read_as(f"{text}{short}.", "Halifax", **unsure).own_words == f"{text}{short}."
    assert _read_as(f"{text}{short}.", "Halifax", is_alone=False, **unsure) is None


@pytest.mark.parametrize(
    ("text", "said", "kept"),
    [
        ("The carpet came out great. We finally sold the old car. End", "car", "We finally sold the old car."),
        ("Hey! Do you know Leeds? We are moving to Leeds in May. End", "Leeds", "We are moving to Leeds in May."),
    ],
    ids=["letters_of_another_word", "a_question_before"],
)
def test_the_sentence_is_the_one_of_the_object(text: str, said: str, kept: str) -> None:
    found = _read_as(f"{text}, where", said, whole=0, clause_chance=0)
    assert found is not None and found.own_words == kept


def test_what_only_the_question_names_is_taken_if_all_of_it_is_sure() -> None:
    """ "Almost. Fridays none at all." neither confirms nor can express "not before 10:00"."""
    numbers = READER.extract.reader
    message = AskedMessage("Almost. Fridays none at all.", "Fridays not before 10:00?")
    reading = MessageReading(
        relation="habit", object=TextPlace(True, 0, 24), phase="holds", polarity=0, duration=None, holder=None,
        topic=None, replaced=None, until=None, clause=None, confidence=0.7, whole=numbers.whole,
    )  # fmt: skip
    taken = _stated(reading, message, READER, is_alone=True)
    assert taken is not None and (taken.object, taken.own_words) == ("Fridays not before 10:00", None)
    unsure = reading._replace(whole=numbers.whole - 0.01)
    assert _stated(unsure, message, READER, is_alone=True) is None


@pytest.mark.parametrize(
    ("text", "said", "kept"),
    [
        ("My son Idris is in Izmir. He tells me all", "tells", "My son Idris is in Izmir. He tells me all"),
        ("we get a cat, Milanesa. but he's in the bag", "bag", "we get a cat, Milanesa. but he's in the bag"),
        ("Shut Mondays now. Tues to Sat 9 to 5", "Sat", "Shut Mondays now. Tues to Sat 9 to 5"),
        ("Hi! Sold it. Still owe them 90", "90", "Sold it. Still owe them 90"),
        ('He wrote: "I sold your car." Still owe them 90', "90", "Still owe them 90"),
        ("When do you sell it? Still owe them 90", "90", "When do you sell it? Still owe them 90"),
        (
            "All week. That's why we drove to my brother and slept in the car",
            "car",
            "All week. That's why we drove to my brother and slept in the car",
        ),
        ("Rain again. I read on a tiny phone", "phone", "I read on a tiny phone"),
        (
            "Rain. The neighbours have got three very loud dogs and a parrot",
            "dogs",
            "The neighbours have got three very loud dogs and a parrot",
        ),
        ("He tells me all the news", "tells", "He tells me all the news"),
        (f"Idris, {'so ' * 100}far. He tells me all", "tells", "He tells me all"),
    ],
    ids=[
        "capital",
        "lower_case",
        "no_pronoun",
        "only_one_sentence",
        "not_of_others",
        "question",
        "points_back",
        "names_its_author",
        "long_enough",
        "nothing_before",
        "too_long",
    ],
)
def test_a_sentence_keeps_the_one_before_it(text: str, said: str, kept: str) -> None:
    found = _read_as(f"{text}. End, where", said, whole=0, clause_chance=0)
    assert found.own_words == f"{kept}."


def test_a_verdict_has_the_version_of_the_reader_that_read() -> None:
    frame = turns(
        "I live in Oslo with my sister.", "lol", "Ich wohne seit drei Jahren in einer kleinen Wohnung in Berlin."
    )
    read, *others = decided(frame).verdicts
    assert read.reader is not None and read.reader.startswith("reader-")
    assert [verdict.reader for verdict in others] == [None, None], "low in content, in another language"
    (by_rules,) = decide_turns(turns("I live in Oslo."), "acme", RULES, len).verdicts
    assert by_rules.reader is None


def test_a_pattern_that_finds_a_name_yields_to_the_reader_who_reads_that_it_is_over() -> None:
    found = decided(turns("My wife Menna died two years ago.", "My wife Menna is a nurse.")).candidates
    told = {each.content: each.statement.phase for each in found if each.statement is not None}
    assert told["Partner until then: Menna"] == "ends"
    assert told["Wife is Menna"] == "holds"
    of_first = [each.content for each in found if each.turn_id == found[0].turn_id]
    assert "Wife is Menna" not in of_first


@pytest.mark.parametrize(
    ("named", "read", "left"),
    [
        ("New York", [("past", "New Jersey")], 1),
        ("New York", [("past", "New York")], 0),
        ("New York", [("past", "York")], 0),
        ("New York", [("past", "New York"), ("begins", "New York")], 1),
        ("New York", [("past", "New York"), ("wished", "New York")], 0),
    ],
)
def test_what_the_reader_reads_as_over_is_what_the_pattern_names(
    named: str, read: list[tuple[Any, str]], left: int
) -> None:
    found = pl.DataFrame({"turn_id": ["t"], "relation": ["lives_in"], "object": [named], "phase": ["holds"]})
    said = [MessageStatement(relation="lives_in", object=words, phase=phase) for phase, words in read]
    assert without_over(found, ReadTurns(statements={"t": said})).height == left


def test_what_a_pattern_states_is_the_patterns() -> None:
    own = MessageStatement(relation="phone", object="555-0199")
    other = MessageStatement(relation="phone", object="555-0200", holder="my sister")
    assert own_statements([own, other], {("phone", None)}) == [other]
    assert own_statements([own], ()) == [own]
    told = replace(other, holder="my Mum")
    assert own_statements([told], {("phone", "Mum")}) == []
    assert own_statements([told], {("phone", "sister"), ("phone", None)}) == [told]


def test_a_policy_without_the_reader_reads_nothing() -> None:
    assert read_messages(turns("I live in Bergen now"), RULES) == ReadTurns()


def test_turns_of_others_and_pleasantries_are_not_read() -> None:
    assert read_messages(turns("I live in Bergen now", role="assistant"), READER) == ReadTurns()
    assert read_messages(turns("ok thanks!", ""), READER) == ReadTurns()


def test_what_is_read_becomes_candidates_and_verdicts() -> None:
    decisions = decided(turns("my sister Ann lives in Leeds", "lol ok"))
    assert any(candidate.content.endswith("Ann lives in Leeds") for candidate in decisions.candidates)
    first, second = decisions.verdicts
    assert (first.candidates, first.reason) == (len(decisions.candidates), None)
    assert (second.candidates, second.reason) == (0, "low_content")


def test_no_more_candidates_of_a_turn_than_the_policy_says() -> None:
    numbers = READER.extract.model_copy(update={"turn_candidates": 1})
    policy = READER.model_copy(update={"extract": numbers})
    frame = turns("I'm allergic to peanuts, I live in Bergen and my dog is called Rex")
    decisions = decide_turns(frame, "acme", policy, len, read=read_messages(frame, policy))
    assert len(decisions.candidates) == 1
    assert decisions.verdicts[0].left_out >= 1


@pytest.mark.parametrize("texts", [("my phone is 555-0199", "we moved to Bergen last week", "haha")])
def test_a_batch_gives_what_its_turns_give_alone(texts: tuple[str, ...]) -> None:
    frame = turns(*texts)
    alone = [each for row in range(len(frame)) for each in decided(frame[row]).candidates]
    assert sorted(map(repr, decided(frame).candidates)) == sorted(map(repr, alone))


def test_a_message_in_another_language_is_not_read_and_says_so() -> None:
    frame = turns("Ich wohne seit drei Jahren in Hamburg und arbeite als Krankenpfleger.", "I live in Hamburg")
    decisions = decided(frame)
    foreign, english = decisions.verdicts
    assert (foreign.candidates, foreign.reason) == (0, "language")
    assert english.candidates == 1
    without = decide_turns(frame, "acme", RULES, len)
    assert without.verdicts[0].reason != "language", "a policy without the reader reads every language alike"


@pytest.mark.parametrize(("most", "kept"), [(300, True), (20, False)])
def test_a_sentence_is_kept_in_its_own_words_up_to_a_length(most: int, kept: bool) -> None:
    sentence = "Gonna allow dogs at the loft, 1 small one, £20"
    numbers = READER.extract.reader.model_copy(update={"confidence": 1.0, "keep_characters": most})
    policy = READER.model_copy(update={"extract": READER.extract.model_copy(update={"reader": numbers})})
    read = read_messages(turns(sentence), policy)
    assert {said.own_words for some in read.statements.values() for said in some} == {sentence} & {sentence * kept}


def asked_of_a_model(*texts: str, **numbers: Any) -> list[bool]:
    """Which messages wait for a language model under these numbers of `[extract.model]`."""
    model = READER.extract.model.model_copy(update=numbers)
    policy = READER.model_copy(update={"extract": READER.extract.model_copy(update={"model": model})})
    frame = turns(*texts)
    read = read_messages(frame, policy)
    return [each.waits for each in decide_turns(frame, "acme", policy, len, read=read, with_model=True).verdicts]


def test_a_language_model_is_asked_where_the_reader_is_unsure() -> None:
    texts = ("I'm allergic to peanuts", "what rhymes with orange")
    assert asked_of_a_model(*texts) == [True, True]
    assert asked_of_a_model(*texts, when="unsure", sure=0.0) == [False, False]
    assert asked_of_a_model(*texts, when="unsure", sure=0.95) == [True, False], "no statement is that sure"


def test_nobody_is_unsure_where_nobody_reads(tmp_path: Path) -> None:
    path = tmp_path / "ours.toml"
    path.write_text('base = "chat"\n[extract.model]\nwhen = "unsure"\n', encoding="utf-8")
    with pytest.raises(PolicyError, match=r"needs \[extract.reader\] read = true"):
        load_policy(str(path))


QUOTED = [
    json.loads(line)["text"]
    for line in (Path(__file__).parents[1] / "language" / "cues" / "quoted_cases.jsonl").read_text("utf-8").splitlines()
    if not json.loads(line)["own"]
]


def test_nothing_is_read_in_the_words_of_others() -> None:
    found = {candidate.content for candidate in decided(turns(*QUOTED)).candidates if candidate.kind != "episode"}
    assert found == set()


UNSURE = MessageReading(
    relation="standing_rule", object=TextPlace(False, 23, 30), phase="holds", polarity=0, duration=None, holder=None,
    topic=None, replaced=None, until=None, clause=None, confidence=0.2,
)  # fmt: skip


def read_with(chance: float, monkeypatch: pytest.MonkeyPatch, text: str) -> list[Candidate]:
    """The candidates of a message in which the reader finds a rule with this chance."""
    reading = UNSURE._replace(chance=chance)
    monkeypatch.setattr(TrainedReader, "read", lambda _, asked: [ReadMessage([reading], 0.9) for _ in asked])
    return list(decided(turns(text)).candidates)


def test_what_may_be_a_statement_is_kept_in_its_own_words(monkeypatch: pytest.MonkeyPatch) -> None:
    text, numbers = "Odd day. I'm done w all of this, never mention it again", READER.extract.reader
    (kept,) = read_with(numbers.keep, monkeypatch, text)
    assert (kept.content, kept.kind, kept.origin) == (
        "I'm done w all of this, never mention it again", "instruction", "said",
    )  # fmt: skip
    assert kept.statement is not None and kept.statement.relation == "standing_rule", "something may end it"
    assert read_with(numbers.keep - 0.01, monkeypatch, text) == [], "it hardly is one"


@pytest.mark.parametrize(("before", "kept"), [("Do you live in Porto?", 1), ("Your flight to Porto is booked.", 0)])
def test_what_another_stated_is_not_said_by_who_answers(
    before: str, kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = before.index("Porto")
    reading = UNSURE._replace(
        relation="lives_in", object=TextPlace(True, start, start + len("Porto")), confidence=0.9, whole=0.9
    )
    monkeypatch.setattr(TrainedReader, "read", lambda _, asked: [ReadMessage([reading], 0.9) for _ in asked])
    assert len(decided(turns("yes, I do").with_columns(asked=pl.lit(before))).candidates) == kept


@pytest.mark.parametrize(("before", "replaced"), [("Did you move from Porto?", "Porto"), ("Booked for Porto.", None)])
def test_what_another_stated_is_not_what_ends(before: str, replaced: str | None) -> None:
    start = before.index("Porto")
    reading = UNSURE._replace(replaced=TextPlace(True, start, start + len("Porto")))
    assert statement_of(reading, AskedMessage("we live in Faro", before)).replaced == replaced


def test_what_may_not_be_wanted_fades(monkeypatch: pytest.MonkeyPatch) -> None:
    least = READER.extract.reader.wanted_for_good
    for wanted, lasts in ((least, True), (least - 0.01, False)):
        reading = UNSURE._replace(chance=0.9, wanted=wanted)
        monkeypatch.setattr(
            TrainedReader, "read", lambda _, asked, one=reading: [ReadMessage([one], 0.9) for _ in asked]
        )
        (kept,) = decided(turns("Odd day. I'm done w all of this, never mention it again")).candidates
        assert kept.lasting is lasts


def test_what_nobody_wants_to_have_kept_is_not_kept_in_its_own_words(monkeypatch: pytest.MonkeyPatch) -> None:
    least = READER.extract.reader.wanted
    assert least > 0
    for wanted, is_kept in ((least, True), (least - 0.01, False)):
        reading = UNSURE._replace(chance=0.9, wanted=wanted)
        monkeypatch.setattr(
            TrainedReader, "read", lambda _, asked, one=reading: [ReadMessage([one], 0.9) for _ in asked]
        )
        text = "Odd day. I'm done w all of this, never mention it again"
        assert bool(decided(turns(text)).candidates) is is_kept


def test_it_is_kept_beside_what_a_pattern_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = read_with(READER.extract.reader.keep, monkeypatch, "Odd day. my mail is now ana@example.com")
    assert {"said", "email-is"} == {each.origin for each in kept}, [each.origin for each in kept]


@pytest.mark.parametrize("text", ["Odd day. shall I be done w all of this?", "lol " * 90])
def test_neither_a_question_nor_a_long_text_is_kept(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = read_with(1.0, monkeypatch, text)
    assert all(candidate.origin not in ("plain", "said") for candidate in found)


def test_the_language_of_what_was_read_before_is_not_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    frame, reader = turns("I live in Hamburg"), KeptReader(shared_reader())
    read = read_messages(frame, READER, reader=reader)
    monkeypatch.setattr(reading, "_is_foreign", lambda text, policy: pytest.fail(f"asked again: {text}"))
    assert read_messages(frame, READER, reader=KeptReader(shared_reader(), reader.new)) == read


def test_no_memory_is_made_of_a_redacted_secret() -> None:
    said = "My password for the school portal is [redacted]! Please remember it."
    assert read_messages(turns(said), READER).statements == {}
    assert decided(turns(said)).candidates == []


@pytest.mark.parametrize("part", ["[redacted", "redacted", "password is [redacted", "[redacted]!", "redacted]"])
def test_a_part_of_the_mark_of_a_secret_is_not_stated(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    said = "It is redacted? My password is [redacted]!"
    start = said.rindex(part)
    reading = UNSURE._replace(object=TextPlace(False, start, start + len(part)), confidence=0.9, whole=0.9)
    monkeypatch.setattr(TrainedReader, "read", lambda _, asked: [ReadMessage([reading], 0.9) for _ in asked])
    assert read_messages(turns(said), READER).statements == {}
    beside = reading._replace(object=TextPlace(False, 6, 14))
    monkeypatch.setattr(TrainedReader, "read", lambda _, asked: [ReadMessage([beside], 0.9) for _ in asked])
    assert read_messages(turns(said), READER).statements != {}
