"""What a clause says around a match decides whether it is kept."""

import pytest

from reverie.language.cues import Rules, extract_one
from reverie.language.statements.refusals import Said, objection, trimmed
from reverie.policy import load_policy

RULES = Rules(load_policy("reverie").extract)


@pytest.mark.parametrize(
    ("clause", "relation", "phase", "stated", "reason"),
    [
        ("It's not that I hate olives", "likes", "holds", "olives", "denied"),
        ("I had a dream where I imagine I love sharks", "likes", "holds", "sharks", "supposed"),
        ("I hate my cat jk", "likes", "holds", "my cat", "joke"),
        ("Her name is Shadow", "name", "holds", "Shadow", "another"),
        ("The pose I love is the tree", "likes", "holds", "is the tree", "leading"),
        ("I love how you paint", "likes", "holds", "how you paint", "addressed"),
        ("I like to play it with friends", "likes", "holds", "to play it with friends", "dangling"),
        ("the canyon I visit", "plans", "planned", "visit", "relative"),
        ("I want to do", "wants", "planned", "do", "missing"),
        ("Love the quote", "likes", "holds", "the quote", "reaction"),
        ("We loved the classic vanilla", "likes", "past", "the classic vanilla", "occasion"),
        ("I don't eat meat this week", "diet", "holds", "meat", "passing"),
        ("One of my favorite books is Emma", "favorite", "holds", "Emma", "among"),
        ("I've played chess before", "plays", "holds", "chess", "occasion"),
        ("never give up", "standing_rule", "holds", "never give up", "idiom"),
        ("I love hiking", "likes", "holds", "hiking", None),
        ("I used to love hiking", "likes", "past", "hiking", None),
        ("my pronouns are she/her", "pronouns", "holds", "she/her", None),
        ("my email is jo@example.org if you want it", "email", "holds", "jo@example.org", None),
        ("That's why I love volunteering", "likes", "holds", "volunteering", None),
        ("In the morning I love tea", "likes", "holds", "tea", None),
    ],
)
def test_reasons(clause: str, relation: str, phase: str, stated: str, reason: str | None) -> None:
    topic = "books" if relation == "favorite" else None
    assert objection(Said(clause, relation, phase, topic, stated)) == reason  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "relation", "kept"),
    [
        ("a puppy for two weeks", "has_pet", "a puppy"),
        ("daughter Sara's", "has_child", "daughter Sara"),
        ('the movie "Get Out', "likes", "the movie Get Out"),
        ("swim once a week", "habit", "swim once a week"),
        ("twice a week", "likes", "twice a week"),
    ],
)
def test_trims(text: str, relation: str, kept: str) -> None:
    assert trimmed(text, relation) == kept


@pytest.mark.parametrize(
    "text",
    [
        "Her name's Coco and she's adorable.",
        "This is the canyon I found in the area.",
        "Connecting with the things I love makes writing even more fun.",
        "I'm proud of researching visas for countries I want to visit.",
        "Last month I was visiting Las Vegas.",
        "No more long flights or traffic jams.",
        "I started with a gentle cleanser to kick off the day.",
        "I have been playing for many many years.",
    ],
)
def test_is_no_statement(text: str) -> None:
    assert [hit.content for hit in extract_one(text, RULES) if hit.statement] == []


def test_a_pet_that_came_is_added() -> None:
    [hit] = extract_one("I got a puppy two weeks ago!", RULES)
    assert hit.content == "Has a puppy" and hit.statement and hit.statement.phase == "adds"


def test_friends_are_not_the_author() -> None:
    [hit] = extract_one("my friends also play padel,", RULES)
    assert hit.content == "Their friends play padel" and hit.statement and hit.statement.who == "friends"
