"""What is made of a reply: read where there is one way to read it, refused where there is not; never an exception."""

from __future__ import annotations

import json
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from reverie.inference.completions import reply_schema
from reverie.inference.replies import HINTS, Reply, read_replies


class Part(Reply):
    """Something inside."""

    name: str
    share: float


class Opened(Reply):
    """A reply with an object of any depth."""

    scaffold: dict[str, Any]


class Told(Reply):
    """One reply."""

    text: str
    count: int = 0
    parts: tuple[Part, ...] = ()


def read(text: str, number: int = 1, **more: Any) -> Any:
    return read_replies(text, Told, number=number, **more)


def envelope(*replies: Any) -> str:
    return json.dumps({"replies": list(replies)})


ONE = {"number": 1, "text": "a"}
TWO = {"number": 2, "text": "b"}


def test_a_good_reply_is_read_as_it_is() -> None:
    found = read(envelope(TWO, ONE), 2)
    assert ({at: told.text for at, told in found.good.items()}, found.wrong, found.repairs) == (
        {1: "a", 2: "b"},
        {},
        frozenset(),
    )


@pytest.mark.parametrize(
    ("text", "repairs"),
    [
        ("```json\n" + envelope(ONE) + "\n```", {"fence"}),
        ("Sure! {smiles} " + envelope(ONE) + " Hope it helps.", {"prose"}),
        ("<think>maybe {a}?</think>" + envelope(ONE), {"thought"}),
        (envelope(ONE) + "\n" + envelope(ONE), {"prose"}),
        (envelope(ONE, ONE), set()),
        (json.dumps({"text": "a"}), {"unwrapped"}),
        (json.dumps(ONE), {"unwrapped"}),
        (json.dumps([ONE]), {"unwrapped"}),
        (json.dumps({"replies": ONE}), {"unwrapped"}),
        ("Here: " + json.dumps([ONE]), {"prose", "unwrapped"}),
        (json.dumps(envelope(ONE)), {"nested"}),
        (json.dumps({"replies": json.dumps([json.dumps(ONE)])}), {"nested"}),
        (envelope(ONE | {"number": "1"}), set()),
        (envelope(ONE | {"count": "3"}), {"types"}),
        (envelope(ONE | {"parts": '[{"name": "x", "share": "0.5"}]'}), {"nested", "types"}),
        (envelope(ONE | {"parts": ['{"name": "x", "share": 0.5}']}), {"nested"}),
        (envelope(ONE | {"text": "a", "more": 1}), set()),
        ("\ufeff" + envelope(ONE), set()),
    ],
)
def test_one_reading_is_taken(text: str, repairs: set[str]) -> None:
    found = read(text)
    assert found.good[1].text == "a" and found.wrong == {}
    assert found.repairs == repairs


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "empty"),
        ("  \n", "empty"),
        ("I am sorry.", "not_json"),
        ("null", "wrong_shape"),
        ('"hello"', "wrong_shape"),
        ("42", "wrong_shape"),
        ("[]", "missing"),
        ("{}", "wrong_shape"),
        (envelope(), "missing"),
        (envelope(TWO), "missing"),
        (envelope(ONE | {"number": "9" * 5_000}), "missing"),
        (envelope(ONE | {"text": 5}), "wrong_shape"),
        (envelope(ONE | {"count": "three"}), "wrong_shape"),
        (envelope(ONE | {"count": 2.5}), "wrong_shape"),
        (envelope(ONE | {"parts": [{"name": "x", "share": "NaN"}]}), "wrong_shape"),
        (envelope(ONE | {"text": "a\0b"}), "wrong_shape"),
        ('{"replies": [{"number": 1, "text": "\\ud800"}]}', "wrong_shape"),
        ('{"replies": [{"number": 1, "text": "a", "text": "b"}]}', "not_json"),
        ('{"replies": [{"number": 1, "text": "a", "count": NaN}]}', "not_json"),
        (envelope(ONE, ONE | {"text": "b"}), "ambiguous"),
        (envelope(ONE) + envelope(ONE | {"text": "b"}), "ambiguous"),
        (envelope(ONE)[:-5], "truncated"),
        ('{"note": {"text": "a part of something broken"}', "truncated"),
        ("{" * 50_000, "truncated"),
        ("[" * 50_000, "not_json"),
        ("x" * 500_000, "not_json"),
    ],
)
def test_no_reading_or_several_is_refused(text: str, fault: str) -> None:
    found = read(text)
    assert (found.good, found.wrong) == ({}, {1: fault})
    assert fault in HINTS


def test_a_cut_reply_is_cut_whatever_is_left_of_it() -> None:
    found = read(envelope(ONE)[:-1], truncated=True)
    assert found.wrong == {1: "truncated"}
    assert read(envelope(ONE), 2, truncated=True).wrong == {2: "truncated"}


@pytest.mark.parametrize("truncated", [False, True])
def test_a_draft_in_a_thought_without_an_end_is_no_answer(truncated: bool) -> None:
    fault = "truncated" if truncated else "not_json"
    for draft in (f"<think>Draft: {envelope(ONE)} no, that is wrong,", f"<think>a</think>\n<thinking>{envelope(ONE)}"):
        assert read(draft, truncated=truncated).wrong == {1: fault}
    assert read(f"<think>{{a}}</think> <think>{envelope(TWO)}</think>{envelope(ONE)}").good[1].text == "a"


@pytest.mark.parametrize(
    "value",
    [r'"\ud83d"', r'{"\ud83d": 1}', *('{"a":' * depth + "1" + "}" * depth for depth in (300, 900, 970, 5_000))],
)
@pytest.mark.parametrize("times", [1, 2])
def test_a_value_that_cannot_be_written_has_the_wrong_shape(value: str, times: int) -> None:
    reply = f'{{"number": 1, "scaffold": {{"Mood": {value}}}}}'
    text = f'{{"replies": [{", ".join([reply] * times)}]}}'
    found = read_replies(text, Opened, number=1)
    assert not found.good and found.wrong[1] in ("wrong_shape", "not_json", "ambiguous")


def test_each_item_stands_for_itself() -> None:
    found = read(envelope(ONE, TWO | {"count": "many"}, {"number": 9, "text": "z"}), 3)
    assert found.good[1].text == "a"
    assert found.wrong == {2: "wrong_shape", 3: "missing"}


def test_text_that_looks_like_json_or_numbers_stays_text() -> None:
    found = read(envelope(ONE | {"text": '{"a": 1}'}, TWO | {"text": "42"}), 2)
    assert [found.good[at].text for at in (1, 2)] == ['{"a": 1}', "42"]


def test_the_schema_of_a_reply_holds_the_number() -> None:
    schema = reply_schema(Told.model_json_schema())
    one = schema["properties"]["replies"]["items"]
    assert one["required"] == ["number", "text"] and set(schema["$defs"]) == {"Part"}


def test_the_schema_of_a_reply_holds_no_lengths() -> None:
    class Measured(Reply):
        text: Annotated[str, Field(min_length=1, max_length=2000)]
        parts: Annotated[tuple[str, ...], Field(max_length=20)]

    assert "Length" in json.dumps(Measured.model_json_schema())
    schema = json.dumps(reply_schema(Measured.model_json_schema()))
    assert "Length" not in schema and "Items" not in schema and '"items"' in schema


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(st.text() | json_values.map(json.dumps) | st.text(alphabet='{}[]",:\\0ab` \n'), st.booleans())
def test_whatever_is_said_each_item_is_good_or_wrong(text: str, truncated: bool) -> None:
    found = read(text, 2, truncated=truncated)
    assert set(found.good) | set(found.wrong) == {1, 2} and not set(found.good) & set(found.wrong)


@given(
    st.text(alphabet=st.characters(exclude_characters="{}[]`\0", exclude_categories=["Cs"])),
    st.text(alphabet=st.characters(exclude_categories=["Cc", "Cs", "Z"]), min_size=1),
    st.text(alphabet=st.characters(exclude_characters="{}[]`\0", exclude_categories=["Cs"])),
)
def test_prose_without_braces_changes_nothing(before: str, said: str, after: str) -> None:
    found = read(before + envelope(ONE | {"text": said}) + after)
    assert found.good[1].text == said


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1), st.integers(min_value=1))
def test_a_part_of_a_reply_is_never_taken_for_one(said: str, cut: int) -> None:
    whole = envelope(ONE | {"text": said})
    assert read(whole[: cut % len(whole)]).good == {}
