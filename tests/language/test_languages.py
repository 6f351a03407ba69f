"""In which language a message is written."""

import pytest

from reverie.language.languages import language_of


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Ich wohne seit drei Jahren in Hamburg und arbeite als Krankenpfleger.", "de"),
        ("on a déménagé à Nantes le mois dernier", "fr"),
        ("ya no trabajo en el banco", "es"),
        ("我对花生过敏", "zh"),
        ("can you remember that i don't do calls on wednesdays", "en"),
    ],
)
def test_a_sentence_is_enough(text: str, code: str) -> None:
    language = language_of(text)
    assert language.code == code
    assert language.probability >= 0.6


@pytest.mark.parametrize("text", ["lol", "👍", "", "jk im fine im so happy", "nah"])
def test_a_few_english_words_are_not_taken_for_another_language(text: str) -> None:
    language = language_of(text)
    assert language.code == "en" or language.probability < 0.6
