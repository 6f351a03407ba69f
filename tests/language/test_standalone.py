"""Which sentences of a turn can be read alone, and what tells their worth."""

import pytest

from reverie.language.standalone import spoken_text, standalone, term_of, terms_of


def alone(text: str) -> list[str]:
    return [one.text for one in standalone(spoken_text(text), least_terms=3)]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Yeah, I painted that lake sunrise last year!", "I painted that lake sunrise last year!"),
        ("Hey Mel, well, we adopted a puppy named Rex.", "We adopted a puppy named Rex."),
        ("Thanks, Caroline! I signed up for a pottery class.", "I signed up for a pottery class."),
        ("So I met Dr. Lee at St. Olav hospital.", "I met Dr. Lee at St. Olav hospital."),
        ("I built a boat with Ola. [shares a photo of a red boat]", "I built a boat with Ola."),
        ("My sister says she moved to Bergen.", "My sister says she moved to Bergen."),
        ("And my brother plays chess in Oslo.", "My brother plays chess in Oslo."),
        ("My cat https://example.org/a?b=1 hates fish soup.", "My cat hates fish soup."),
        ("Anna told me she moved to Bergen.", "Anna told me she moved to Bergen."),
        ("昨日は京都で古い寺を三つ見ました。", "昨日は京都で古い寺を三つ見ました。"),
    ],
)
def test_a_clause_is_told_without_what_leads_to_it(text: str, told: str) -> None:
    assert alone(text)[-1] == told


@pytest.mark.parametrize(
    "text",
    [
        "That means a lot, your kind words touched Anna.",
        "It was a great trip to the mountains of Norway.",
        "They moved to Bergen with three dogs.",
        "You painted the Bergen harbour beautifully.",
        "I totally agree that schools need funding.",
        "I'm so glad the race in Bergen went well.",
        "Turns out she had no other family in Bergen.",
        "Did Anna move to Bergen with three dogs?",
        "Before a trip to Bergen I pack such things as:",
        "Running a race in Bergen must be thrilling!",
        "Can't wait to see the pictures from Bergen!",
        "For example, Bergen harbour has fish soup.",
        "2) Boil the potatoes and the carrots.",
        "Take care, Anna Lind from Bergen!",
        "[shares a photo of three dogs on the beach in Bergen",
        "Nice!",
    ],
)
def test_what_needs_the_turn_before_is_not_told(text: str) -> None:
    assert alone(text) == []


def test_a_name_makes_up_for_a_content_word() -> None:
    assert alone("I moved to Oslo.") == ["I moved to Oslo."]
    assert alone("I moved house.") == []


def test_what_tells_the_worth_of_a_sentence() -> None:
    (one,) = standalone("I told them that you lost your boat, Anna!", least_terms=2)
    assert (one.own, one.addressed, one.pronouns) == (True, 3, 1)
    (other,) = standalone("Bergen harbour sells fish soup.", least_terms=2)
    assert (other.own, other.addressed, other.pronouns) == (False, 0, 0)
    assert other.terms == {"bergen", "harbour", "sell", "fish", "soup"}


def test_terms_are_stems_of_content_words() -> None:
    assert list(terms_of("The dogs’ dog barked at Anna's 3.5 km race, really")) == [
        "dog",
        "dog",
        "bark",
        "anna",
        "3.5",
        "race",
    ]
    assert term_of("thanks") == term_of("the") == term_of("km") == ""
