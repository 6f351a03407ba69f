"""Statements as sentences about their speaker."""

import pytest

from reverie.language.subject import possessive, sentence


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("Lives in Bergen", "Melanie lives in Bergen"),
        ("Favorite color is blue", "Melanie's favorite color is blue"),
        ("Name is Mel Berg", "Melanie's name is Mel Berg"),
        ("Used to live in Oslo", "Melanie used to live in Oslo"),
        ("No longer works at Zoho", "Melanie no longer works at Zoho"),
        ("Is no longer married", "Melanie is no longer married"),
        ("Has a dog named Bruno", "Melanie has a dog named Bruno"),
        ("Also works at a bar", "Melanie also works at a bar"),
        ("Doesn't like olives", "Melanie doesn't like olives"),
        ("Studies law", "Melanie studies law"),
        ("Watches films", "Melanie watches films"),
        ("Does yoga", "Melanie does yoga"),
        ("Passes the ball", "Melanie passes the ball"),
        ("Husband is Tom", "Melanie's husband is Tom"),
        ("Their sister lives in Lyon", "Melanie's sister lives in Lyon"),
        ("Blue is their favourite", "Blue is Melanie's favourite"),
        ("Availability: free on Mondays", "Melanie's availability: free on Mondays"),
        ("Never eats pork", "Melanie never eats pork"),
        ("Always carries an EpiPen", "Melanie always carries an EpiPen"),
        ("Never use the word yummy", "Melanie: Never use the word yummy"),
        ("Always answer in bullet points", "Melanie: Always answer in bullet points"),
        ("Answer in German", "Melanie: Answer in German"),
        ("Cats are great", "Melanie: Cats are great"),
        ("Mother's name is Ines", "Melanie: Mother's name is Ines"),
        ("Mother’s name is Ines", "Melanie: Mother’s name is Ines"),
    ],
)
def test_sentences(content: str, expected: str) -> None:
    assert sentence(content, "Melanie", "ana") == expected
    assert sentence(content, "Ana", "ana") == sentence(content, None, "ana") == content


def test_possessive() -> None:
    assert (possessive("Melanie"), possessive("James")) == ("Melanie's", "James'")
