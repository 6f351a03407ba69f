"""What the rules make of the seeds' own examples, and of what must never become a memory."""

import pytest
from pydantic import ValidationError

from reverie.language.cues.compiled import Rules
from reverie.language.cues.single import extract_one
from reverie.language.cues.wording import third_person
from reverie.policy import Rule, load_policy

RULES = {name: Rules(load_policy(name).extract) for name in ("brain", "agent", "logic", "contact", "chat", "reverie")}


@pytest.mark.parametrize(
    ("name", "text", "contents"),
    [
        ("brain", "I don't want posts longer than 800 words", ["Prefers posts under 800 words"]),
        ("brain", "We sell sweets and our business is in Pune", ["Sells sweets", "Business is in Pune"]),
        ("agent", "Actually, my default project is PROJ", ["Correction: default project is PROJ"]),
        ("logic", "I always deploy on Fridays!", ["Always: deploy on Fridays"]),
        ("contact", "I don't really like talking about politics", ["Doesn't like talking about politics"]),
        ("contact", "My dog Bruno had his vet appointment today", ["Dog Bruno had his vet appointment today"]),
        ("contact", "I’m 30 years old. I work at Infosys", ["Is 30 years old", "Works at Infosys"]),
        ("contact", "Can we talk about films?", ["Interested in films"]),
        ("chat", "My name is Alex and I prefer Python", ["Name is Alex", "Prefers Python"]),
        ("reverie", "My husband Duncan is a vet", ["Husband is Duncan"]),
        ("reverie", "My mother, Ingrid, turned 80", ["Has mother Ingrid"]),
        ("reverie", "our daughter Mia started school", ["Has daughter Mia"]),
        ("reverie", "My best friend Lena moved to Porto", ["Has best friend Lena"]),
        ("reverie", "my dad died in March", ["Lost their dad"]),
        ("reverie", "Spiders terrify me and my mobile is 07700 900123, but I only drink on weekends.",
         ["Is afraid of Spiders", "Phone number is 07700 900123", "Alcohol: only drink on weekends"]),
        ("reverie", "People call me Al", ["Wants to be called Al"]),
        ("reverie", "Never use emojis in our posts.", ["Never use emojis in our posts"]),
        ("reverie", "Always ask us before you post", ["Always ask us before you post"]),
        ("reverie", "Never call me before nine", ["Never call me before nine"]),
        ("reverie", "the plumber's number is 555-0177", []),
        ("reverie", "the plumber's new number is 555-0177", []),
        ("reverie", "my sister's number is 07700 900123", ["Their sister's phone number is 07700 900123"]),
        ("reverie", "And my birthday is on March 3, because it never moves.", ["Birthday is March 3"]),
        ("reverie", "I'm Dana Kowalczyk, engineering manager at Fernweh, and I run the platform team.",
         ["Job: engineering manager"]),
        ("reverie", "My name is Łukasz. My time zone is CET.", ["Name is Łukasz", "Time zone is CET"]),
    ],
)  # fmt: skip
def test_contents(name: str, text: str, contents: list[str]) -> None:
    assert [hit.content for hit in extract_one(text, RULES[name])] == contents


@pytest.mark.parametrize(
    "text",
    [
        "Is my email ana@example.com?",
        "What's my phone number again?",
        "One more week and I'm three months sober",
        "If my birthday is on March 3, how old am I?",
        "She said my number is 555-0177",
        "I wish my birthday was on March 3",
        "bob@example.com is his email",
        "It scares me",
        "They scare me",
        "spiders scare my sister",
        "my birthday is soon",
        "My husband is a vet",
        "my dad passed his driving test",
        "I always deploy on Fridays",
        "I was born in a small village",
        "lol ok",
    ],
)
def test_nothing_is_stated(text: str) -> None:
    assert extract_one(text, RULES["reverie"]) == []


def test_polarity_entity_and_correction() -> None:
    afraid = extract_one("Actually spiders terrify me", RULES["reverie"])[0]
    assert (afraid.polarity, afraid.kind, afraid.corrects) == (-1, "preference", True)
    name = extract_one("my name is Alex", RULES["chat"])[0]
    assert (name.category, name.key, name.value) == ("identity", "name", "Alex")
    works = extract_one("I work at Tata Motors", RULES["contact"])[0]
    assert (works.entity, works.corrects) == ("workplace:tata-motors", False)
    no_longer = extract_one("I no longer use ana@example.com.", RULES["reverie"])[0]
    assert no_longer.corrects and no_longer.content == "No longer uses ana@example.com"


def test_offsets_are_those_of_the_original_text() -> None:
    text = "Well… I’m busy. “Oh”, my birthday is on March 3, and I’m a non-smoker! Bye"
    assert [text[hit.start : hit.end] for hit in extract_one(text, RULES["reverie"])] == [
        "my birthday is on March 3, and",
        "I’m a non-smoker!",
    ]


@pytest.mark.parametrize("pattern", [r"i (?=x)(?P<x>.+)", r"i (?P<x>\w+)", r"(?P<x>a)\1", r"i (?P<z>.+)"])
def test_patterns_outside_the_common_subset_are_refused(pattern: str) -> None:
    with pytest.raises(ValidationError):
        Rule(name="bad", kind="fact", cues=("i ",), pattern=pattern, template="Is {x}")


@pytest.mark.parametrize(
    ("text", "relation", "content"),
    [
        ("TZ: AEST", "time_zone", "Time zone is AEST"),
        ("new number btw: 07700 900123", "phone", "Phone number is 07700 900123"),
        ("My email is now ana@example.com", "email", "Email is ana@example.com"),
        ("I live at 12 Mill Lane, Leeds", "address", "Address is 12 Mill Lane, Leeds"),
        ("my postcode is LS1 4AP", "address", "Address is LS1 4AP"),
        ("my pronouns are she/her", "pronouns", "Pronouns are she/her"),
        ("myself Rahul", "name", "Name is Rahul"),
        ("I'm a non-smoker", "smokes", "Is a non-smoker"),
        ("the doctor put me on metformin", "takes_medication", "Takes metformin"),
        ("up at 5 every day", "habit", "Is up at 5 every day"),
    ],
)
def test_what_has_a_form_of_its_own(text: str, relation: str, content: str) -> None:
    found = [(hit.statement.relation, hit.content) for hit in extract_one(text, RULES["reverie"]) if hit.statement]
    assert (relation, content) in found


def test_orders_and_what_is_quoted_stay_in_the_first_person() -> None:
    said = 'No "I hope this finds you well" in my mails'
    assert third_person(said) == 'No "I hope this finds you well" in their mails'
    assert third_person(said, is_order=True) == said
