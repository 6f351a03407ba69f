"""Which thing a topic or an object refers to."""

import pytest

from reverie.language.topics import is_shared_role, telling_words, topic_words


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("workshop rate", "the rate for workshops"), ("a weekend course", "weekend courses"), ("shop", "the store"),
        ("rehearsals", "rehearse"), ("our fee", "price"), ("my weight", "weigh"),
    ],
)  # fmt: skip
def test_one_topic_in_other_words(one: str, other: str) -> None:
    assert topic_words(one) == topic_words(other) != frozenset()


@pytest.mark.parametrize("topic", ["the deadline", "our number", ""])
def test_a_topic_may_not_tell_which(topic: str) -> None:
    assert topic_words(topic) == frozenset()


@pytest.mark.parametrize("said", ["that", "the whole thing", "everything", "it all"])
def test_an_object_may_name_nothing(said: str) -> None:
    assert telling_words(said) == frozenset()


def test_the_telling_words_of_a_rule() -> None:
    assert telling_words("the emoji rule") <= telling_words("Don't use emojis in the newsletter")


@pytest.mark.parametrize(
    ("topic", "is_shared"), [("client", True), ("our clients", True), ("accountant", False), ("flour supplier", False)]
)
def test_several_may_have_some_roles(topic: str, is_shared: bool) -> None:
    assert is_shared_role(topic) == is_shared
