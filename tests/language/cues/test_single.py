"""What the rules make of the seeds' own examples, and of what must never become a memory."""

import pytest
from pydantic import ValidationError

from reverie.language.cues import Rules, extract_one
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
        ("reverie", "I have a dog named Bruno", ["Has a dog named Bruno"]),
        ("reverie", "Duncan, my husband, is a vet", ["Their husband Duncan is a vet", "Partner is Duncan"]),
        ("reverie", "Ines and I have been together since school", ["Partner is Ines"]),
        ("reverie", "My mother, Ingrid, turned 80", ["Their mother Ingrid is 80 years old", "Has mother Ingrid"]),
        ("reverie", "can't wear latex, I'm allergic", ["Is allergic to latex"]),
        ("reverie", "I've red hair and my eyes are brown", ["Has red hair", "Eyes is brown"]),
        ("reverie", "I was raised Catholic", ["Was raised Catholic"]),
        ("reverie", "haven't had a drink since 2017", ["No longer drinks alcohol"]),
        ("reverie", "I really love hiking with my wife, but I can't stand cold tents.",
         ["Loves hiking with their wife", "Can't stand cold tents"]),
        ("reverie", "I don't like posts longer than 800 words", ["Doesn't like posts longer than 800 words"]),
        ("reverie", "From now on, please answer in German", ["Answer in German"]),
        ("reverie", "Call me Al", ["Wants to be called Al"]),
        ("reverie", "Never use emojis in our posts.", ["Never use emojis in our posts"]),
        ("reverie", "Always ask us before you post", ["Always ask us before you post"]),
        ("reverie", "Never call me before nine", ["Never call them before nine"]),
        ("reverie", "We deliver to our customers on Fridays.", ["Delivers to their customers on Fridays"]),
        ("reverie", "traded the Golf in for a Leaf", ["A Leaf instead of the Golf"]),
        ("reverie", "off the citalopram as of this week, on sertraline now",
         ["Takes sertraline", "No longer takes the citalopram"]),
        ("reverie", "handed in my notice at Zoho in March, been at Infosys since the 1st",
         ["No longer works at Zoho", "Works at Infosys"]),
        ("reverie", "I nearly quit Zoho today", []),
        ("reverie", "the plumber's new number is 555-0177", []),
        ("reverie", "My favorite food is biryani", ["Favorite food is biryani"]),
        ("reverie", "My favorite flowers are tulips", ["Favorite flowers are tulips"]),
        ("reverie", "I live in Chennai", ["Lives in Chennai"]),
        ("reverie", "I can't stand coffee anymore actually.", ["Can't stand coffee"]),
        ("reverie", "Also, I can't stand the pastel header any more.", ["Can't stand the pastel header"]),
        ("reverie", "I can't stand the new header.", []),
        ("reverie", "I don't enjoy ranked Valorant any more, everyone just shouts.",
         ["No longer enjoys ranked Valorant"]),
        ("reverie", "I don't like talking about politics, can we stop?", ["Doesn't like talking about politics"]),
        ("reverie", "Please change it: from 15 April we open at 7 am, because of the office crowd.",
         ["Is open at 7 am"]),
        ("reverie", "Biryani is my favourite food, I love it", ["Biryani is their favorite food"]),
        ("reverie", "I have a golden retriever, his name is Bruno, he's shy", ["Has a golden retriever named Bruno"]),
        ("reverie", "So I work at Zoho now, officially one week in.", ["Works at Zoho"]),
        ("reverie", "I'm Dana Kowalczyk, engineering manager at Fernweh, and I run the platform team.",
         ["Name is Dana Kowalczyk", "Is engineering manager", "Works at Fernweh", "Runs the platform team"]),
        ("reverie", "I play chess every week. I often watch films.", ["Plays chess every week", "Watches films"]),
        ("reverie", "And our photo budget is 4,500 rupees a month now, Chloé deserves it.",
         ["Budget is 4,500 rupees a month"]),
        ("reverie", "OK, new rule. Tutorials may run up to 1,200 words.", ["Tutorials may run up to 1,200 words"]),
        ("reverie", "My default Jira project is PLAT from today.", ["Default Jira project is PLAT"]),
        ("reverie", "Łukasz owns the billing service.", ["Łukasz owns the billing service"]),
    ],
)  # fmt: skip
def test_contents(name: str, text: str, contents: list[str]) -> None:
    assert [hit.content for hit in extract_one(text, RULES[name])] == contents


@pytest.mark.parametrize(
    "text",
    [
        "Do you like hiking?",
        "What do you love about it?",
        "I love it!",
        "If I have time, we will see.",
        "She said I hate cats",
        "I wish I lived in Paris",
        "Paul and I presented the report",
        "Maria and I got together to finish the slides",
        "a pack a day of gum",
        "I like that you called",
        "I don't even want to go in tomorrow",
        "I have to correct something.",
        "I read the letter again, it's 26 lakhs",
        "We do it in two phases then.",
        "I hated it in January.",
        "I can't think straight anymore",
        "We're running out of connections at peak.",
        "lol ok",
    ],
)
def test_nothing_is_stated(text: str) -> None:
    assert extract_one(text, RULES["reverie"]) == []


def test_polarity_entity_and_correction() -> None:
    hate = extract_one("Actually I hate cilantro now", RULES["reverie"])[0]
    assert (hate.polarity, hate.kind, hate.corrects) == (-1, "preference", True)
    talk = extract_one("Please, don't talk about Politics.", RULES["reverie"])[0]
    assert (talk.entity, talk.kind) == ("topic:politics", "instruction")
    name = extract_one("my name is Alex", RULES["chat"])[0]
    assert (name.category, name.key, name.value) == ("identity", "name", "Alex")
    no_longer = extract_one("I no longer eat meat.", RULES["reverie"])[0]
    works = extract_one("I work at Tata Motors in Pune since last year and love it there", RULES["reverie"])[0]
    assert works.entity == "workplace:tata-motors"
    assert no_longer.corrects and no_longer.content == "No longer eats meat"


def test_offsets_are_those_of_the_original_text() -> None:
    text = "Well… I’m busy. “Oh”, I love biryani, and I don’t like rain! Bye"
    assert [text[hit.start : hit.end] for hit in extract_one(text, RULES["reverie"])] == [
        "I love biryani, and",
        "I don’t like rain!",
    ]


@pytest.mark.parametrize("pattern", [r"i (?=x)(?P<x>.+)", r"i (?P<x>\w+)", r"(?P<x>a)\1", r"i (?P<z>.+)"])
def test_patterns_outside_the_common_subset_are_refused(pattern: str) -> None:
    with pytest.raises(ValidationError):
        Rule(name="bad", kind="fact", cues=("i ",), pattern=pattern, template="Is {x}")


@pytest.mark.parametrize(
    ("text", "relation", "content"),
    [
        ("my employer is Brightwell Ltd", "works_at", "Works at Brightwell Ltd"),
        ("I'm on the tills at Morrisons", "works_at", "Works at Morrisons"),
        ("electrician by trade", "works_as", "Is electrician"),
        ("our manager is called Lorna", "manager", "Manager is Lorna"),
        ("Lorna runs our team", "manager", "Manager is Lorna"),
        ("I co-own a bike shop", "runs_business", "Runs a bike shop"),
        ("pursuing an MBA", "studies", "Studies an MBA"),
        ("open from 8 am to 9 pm, all seven days", "opening_hours", "Is open from 8 am to 9 pm, all seven days"),
        ("closed sundays", "opening_hours", "Opening hours: closed sundays"),
        ("nothing over £30 please", "budget", "Budget is £30"),
        ("mornings work best for me", "availability", "Availability: mornings work best for them"),
        ("gonna sell the car next month", "plans", "Plans to sell the car next month"),
        ("my goal: run a marathon", "wants", "Wants to run a marathon"),
        ("I cycle to work", "habit", "Cycles to work"),
        ("I crochet", "does", "Crochets"),
        ("TZ: AEST", "time_zone", "Time zone is AEST"),
        ("myself rahul", "name", "Name is rahul"),
        ("me and ben have been together six years", "partner", "Partner is ben"),
        ("Zoe and I aren't friends", "has_friend", "Is no longer friends with Zoe"),
        ("I've never drunk alcohol", "drinks_alcohol", "Doesn't drink alcohol"),
        ("new number btw: 07700 900123", "phone", "Phone number is 07700 900123"),
    ],
)
def test_work_money_plans_and_time(text: str, relation: str, content: str) -> None:
    found = [(hit.statement.relation, hit.content) for hit in extract_one(text, RULES["reverie"]) if hit.statement]
    assert (relation, content) in found


@pytest.mark.parametrize(
    "text",
    [
        "one more week and I'm a nurse",
        "once I pass, I'm a vet",
        "I was going to sell the car but kept it",
        "if I worked at Google I'd be rich",
        "I'm Anita's manager",
        "the museum is open till 6",
        "the last one cost me 400 quid",
        "is Thursday ok?",
        "who wouldn't want a house",
        "pottery is hard",
        "I'm with Leo at the pub",
    ],
)
def test_what_states_nothing_of_work_money_plans_and_time(text: str) -> None:
    assert [hit for hit in extract_one(text, RULES["reverie"]) if hit.statement] == []
