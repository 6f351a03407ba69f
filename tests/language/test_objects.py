"""Objects of statements: which name the same, and which is the narrower."""

import time

import pytest

from reverie.language.objects import (
    is_of_another_sort,
    is_plural,
    names_nothing,
    narrower,
    object_key,
    read_object,
    recounted,
    same,
)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("a dog named Rex", "dog-rex"),
        ("my Golden Retriever", "golden-retriever"),
        ("two dogs", "2-dog"),
        ("daughter Ines", "daughter-ines"),
        ("my friend James", "friend-james"),
        ("my Mum", "mother"),
        ("a vegan diet", "vegan-diet"),
        ("São Paulo", "sao-paulo"),
        ("the", "the"),
        ("北京", "北京"),
        ("daughter ガイ", "daughter-ガイ"),
        ("初めて 초코", "初めて-초코"),
        ("", "it"),
    ],
)
def test_key(text: str, key: str) -> None:
    assert object_key(text) == key


@pytest.mark.parametrize(
    ("text", "plural"), [("garden flowers", True), ("tv series", False), ("James", False), ("tennis", False)]
)
def test_plural(text: str, plural: bool) -> None:
    assert is_plural(text) is plural


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a golden retriever", "my Golden Retriever"),
        ("three kids", "3 children"),
        ("Diabetes", "diabetes"),
        ("Emojis", "emojis"),
        ("Bergen", "bergen now"),
        ("my new car", "the car"),
        ("Anna's", "Anna"),
        ("it", "It"),
        ("Jiří", "Jiri"),
        ("José", "Jose\u0301"),
        ("Артём", "Артем"),
        ("أَحمَد", "احمد"),
    ],
)
def test_same(one: str, other: str) -> None:
    assert same(one, other) and same(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("coffee", "decaf coffee"),
        ("Oslo", "Bergen"),
        ("20 mg", "40 mg"),
        ("York", "New York"),
        ("a@old.org", "a@new.org"),
        ("sugar", "no sugar"),
        ("it", "them"),
        ("C++", "C#"),
        ("C", "C++"),
        ("A+", "A-"),
        ("-5 °C", "5 °C"),
        ("मीना", "मोना"),
        ("カイ", "ガイ"),
        ("Андрей", "Андреи"),
        ("สม", "สม่"),
    ],
)
def test_not_same(one: str, other: str) -> None:
    assert not same(one, other) and not same(other, one)


def test_narrower() -> None:
    assert narrower("decaf coffee", "coffee")
    assert narrower("Bergen, Norway", "Norway")
    assert not narrower("coffee", "decaf coffee")
    assert not narrower("coffee", "coffee")
    assert not narrower("coffee", "it")


def test_recounted() -> None:
    assert recounted("two dogs", "3 dogs")
    assert not recounted("two dogs", "2 dogs")
    assert not recounted("two dogs", "three cats")
    assert not recounted("a dog", "two dogs")


@pytest.mark.parametrize(("text", "nothing"), [("my job", True), ("it", True), ("the car", True), ("Zoho", False)])
def test_names_nothing(text: str, nothing: bool) -> None:
    assert names_nothing(text) is nothing


def test_of_another_sort() -> None:
    assert is_of_another_sort("a cat named Mia", "my dog")
    assert not is_of_another_sort("Rex", "my dog")
    assert not is_of_another_sort("a dog named Rex", "my dog")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ana.b-c@x.example, Ana", ("ana.b-c@x.example", "ana")),
        ("@ana@x.example", ("ana@x.example",)),
        ("...", ()),
        ("a dog  , after all my trouble", ("dog",)),
        ("C++, C# and tea+coffee, tea++coffee", ("c++", "c#", "tea", "coffee", "tea", "coffee")),
        ("उसका नाम मीना है।", ("उसका", "नाम", "मीना", "है")),
        ("cafe\u0301s", ("cafe",)),
    ],
)
def test_words(text: str, words: tuple[str, ...]) -> None:
    assert read_object(text).words == words


@pytest.mark.parametrize("part", [".", " ", ", ", "!", "a", "a@", "@.", "'", "+", "\u0301", "a\u0301"])
def test_a_long_text_is_read_in_time_that_grows_with_its_length(part: str) -> None:
    """Every read of 100,000 characters takes a tenth of a second; a quadratic one takes half a minute."""
    began = time.process_time()
    read_object("a" + (part * 100_000)[:100_000] + "?")
    assert time.process_time() - began < 5


def test_long_texts_are_not_kept() -> None:
    """A server reads every question as an object."""
    text = "a red bicycle " * 20
    assert read_object(text) is not read_object(text) == read_object(text)
    assert read_object("a red bicycle") is read_object("a red bicycle")
