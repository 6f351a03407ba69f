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
        ("reverie", "My daughter Anežka is 9", ["Has daughter Anežka"]),
        ("reverie", "My sons Jiří and Tomáš play chess", []),
        ("reverie", "my son Jiří plays chess", ["Has son Jiří"]),
        ("reverie", "Call me Božka", ["Wants to be called Božka"]),
        ("reverie", "my dad died in March", ["Lost their dad"]),
        ("reverie", "Spiders terrify me and my mobile is 07700 900123, but I only drink on weekends.",
         ["Is afraid of Spiders", "Phone number is 07700 900123", "Alcohol: only drink on weekends"]),
        ("reverie", "People call me Al", ["Wants to be called Al"]),
        ("reverie", "Never use emojis in our posts.", ["Never use emojis in our posts"]),
        ("reverie", "Always ask us before you post", ["Always ask us before you post"]),
        ("reverie", "Always ask Dr. Sequeira first", ["Always ask Dr. Sequeira first"]),
        ("reverie", "Always write to Sra. Lopes in German. It helps", ["Always write to Sra. Lopes in German"]),
        ("reverie", "Always give prices incl. GST", ["Always give prices incl. GST"]),
        ("reverie", "Never call me before nine", ["Never call me before nine"]),
        ("reverie", "the plumber's number is 555-0177", []),
        ("reverie", "the plumber's new number is 555-0177", []),
        ("reverie", "my sister's number is 07700 900123", ["Their sister's phone number is 07700 900123"]),
        ("reverie", "And my birthday is on March 3, because it never moves.", ["Birthday is March 3"]),
        ("reverie", "I'm Dana Kowalczyk, engineering manager at Fernweh, and I run the platform team.",
         ["Job: engineering manager"]),
        ("reverie", "My name is Łukasz. My time zone is CET.", ["Name is Łukasz", "Time zone is CET"]),
        ("reverie", "In May my dad died", ["Lost their dad"]),
        ("reverie", "She put me on naproxen", ["Takes naproxen"]),
        ("reverie", "I broke up with my girlfriend today", ["Partner until then: girlfriend"]),
        ("reverie", "Hi, so I've just broken up with my boyfriend", ["Partner until then: boyfriend"]),
        ("reverie", "My boyfriend finally split up with me.", ["Partner until then: boyfriend"]),
        ("reverie", "Got a new number: 07700 900123", ["Phone number is 07700 900123"]),
        ("reverie", "I have a new number: 07700 900123", ["Phone number is 07700 900123"]),
        ("reverie", "I'm three months sober", ["No longer drinks alcohol"]),
        ("reverie", "I was born in '85", ["Birthday is 85"]),
        ("reverie", "Elizabeth to the bank, Liz to my friends.", ["Wants to be called Liz"]),
        ("reverie", "Please call me June", ["Wants to be called June"]),
        ("reverie", "My wife, Ana", ["Wife is Ana"]),
        ("reverie", "My mum's called Menna", ["Has mum Menna"]),
        ("reverie", "The name's Tom", ["Name is Tom"]),
        ("reverie", "I'm Ana, a plumber in Leeds", ["Is a plumber"]),
        ("reverie", "I don't drink much these days", ["Alcohol: don't drink much"]),
        ("reverie", "WET here", ["Time zone is WET"]),
        ("reverie", "My clock is CET", ["Time zone is CET"]),
        ("reverie", "No, my name is Tom", ["Name is Tom"]),
        ("reverie", "Never use emojis. Never use hashtags. Not even once.", ["Never use emojis", "Never use hashtags"]),
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
        "I don't know what I'd do if my mum died",
        "I had a dream that my dad died",
        "I almost broke up with my girlfriend",
        "I broke up with my girlfriend in 2019",
        "I nearly broke up with my girlfriend",
        "My girlfriend nearly broke up with me last week",
        "When I broke up with my girlfriend, I moved out",
        "Years ago I broke up with my girlfriend.",
        "I broke up with my girlfriend after high school.",
        "My GP wants to put me on statins but I said no",
        "They might put me on insulin",
        "My GP never prescribed me antibiotics",
        "Spiders don't scare me",
        "Spiders don't really scare me",
        "Flying used to scare me",
        "I hate it when people call me Liz",
        "It's 12/05/1990",
        "Please use 2026-03-01 as the date",
        "Call me at 10.30-11.30",
        "My new place is 15 minutes walk from work",
        "My new place is 10 minutes from work",
        "My new place is 900 a month",
        "Our flat is 120 square metres",
        "My new flat is 120 square metres",
        "My son was born on 3 May 2020",
        "My birthday is in 10 days",
        "My sister got a new number: 07700 900123",
        "My parents have a new number: 07700 900123",
        "I changed my number, old one 07700 900123 is dead",
        "My brother is 3 years sober",
        "I can't go two days without a drink",
        "We didn't last a week without alcohol",
        "My wife is a non-smoker",
        "I'm looking for a non-smoker flatmate",
        "The doctor prescribed Leo amoxicillin",
        "My doctor prescribed Tylenol for my son",
        "My boss put me on probation",
        "No Fridays off this month",
        "Fridays off would be lovely",
        "Monday doesn't work but Tuesday is fine",
        "Talking to my friends helped a lot",
        "Please use Celsius, not Fahrenheit",
        "Please call me Monday",
        "Please call me ASAP",
        "They called me Monday to say I got the job",
        "My kids call me Dad",
        "My dad's Parkinson's is getting worse",
        "My husband's Audi broke down",
        "My girlfriend's French",
        "My wife's Christmas present arrived",
        "I told my wife, Friday is fine",
        "I told my wife, Friday.",
        "We like the name Oliver for the baby",
        "Oliver is the name we like",
        "My middle name is Rose",
        "My last name is Okafor",
        "I'm Ana, looking for a plumber in Leeds",
        "I'm Ana, married to a doctor",
        "I'm Tom, not a lawyer",
        "I'm Ana, the plumber's daughter",
        "I don't drink much water",
        "He/she will need to sign",
        "Wet here today",
        "My clock is broken",
        "My time zone is different from yours",
        "I can't reach anyone, don't call me on 07700 900123",
        "lol ok",
    ],
)
def test_nothing_is_stated(text: str) -> None:
    assert extract_one(text, RULES["reverie"]) == []


@pytest.mark.parametrize(
    "text",
    [
        "Always ask for a window seat (not over the wing)",
        "Always use the Oxford comma - never semicolons",
        "Always include Tom in emails but not Sarah",
    ],
)
def test_an_order_keeps_its_exceptions(text: str) -> None:
    assert [hit.content for hit in extract_one(text, RULES["reverie"])] == [text]


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
