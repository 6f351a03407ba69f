"""The words that a message may be about, and which of them stand in the place of a noun."""

from __future__ import annotations

import pytest

from reverie.language.talk_words import TalkWord, is_everyday, talk_words


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Can you check my dissertation before Jules reads it?", ["dissertation", "Jules"]),
        ("The marathon training is going well.", ["marathon", "training"]),
        ("A goat ate Jules's tulips", ["goat", "Jules"]),
        ("MY LANDLORD IS BACK", ["landlord"]),
    ],
)
def test_nouns_are_found_by_their_place(text: str, named: list[str]) -> None:
    assert [each.word for each in talk_words(text) if each.named] == named


def test_other_words_are_kept_apart() -> None:
    assert TalkWord("kayaked", False) in talk_words("We kayaked to the island")
    assert TalkWord("grumbled", False) in talk_words("The tenants grumbled")


@pytest.mark.parametrize("text", ["Thanks, that's fine!", "What time is it on Monday?", "", "Make it shorter please"])
def test_what_says_nothing_of_a_topic_has_no_words(text: str) -> None:
    assert talk_words(text) == []


def test_words_of_others_are_none() -> None:
    words = {each.word for each in talk_words('Please translate: "my grandfather owned a tannery"')}
    assert not words & {"grandfather", "tannery"}


def test_a_word_counts_once_and_a_long_text_has_an_end() -> None:
    assert [each.word for each in talk_words("A goat. Two goats. The goat!")] == ["goat"]
    letters = "abcdefghij"
    many = " ".join(f"the q{a}{b}x" for a in letters for b in letters)
    assert len(talk_words(many)) == 40


def test_everyday_words_are_known_by_their_stem() -> None:
    assert is_everyday("bus") and not is_everyday("dissert")
