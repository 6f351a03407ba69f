"""Objects of statements: which name the same, and which is the narrower."""

import pytest

from reverie.language.objects import is_of_another_sort, is_plural, names_nothing, narrower, object_key, recounted, same


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
