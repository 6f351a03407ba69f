"""Named entities, alike in both engines."""

from unicodedata import normalize

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reverie.language.cues import wording
from reverie.language.cues.entities import entities_frame, entities_one
from reverie.language.cues.salience import salience, salience_expr
from reverie.policy import load_policy


def test_entities_of_the_seeds() -> None:
    assert [e.id for e in entities_one("My Diwali Sweet Recipes post on the blog got 340 views")] == [
        "content:diwali-sweet-recipes", "metric:views", "service:blog", "topic:food",
    ]  # fmt: skip
    assert [e.id for e in entities_one("My dog Bruno visited Infosys, where I work; my mom too")] == [
        "person:mom",
        "pet:bruno",
        "place:infosys",
    ]
    assert entities_one("ok") == []
    assert entities_one("We're running out of connections since we moved from MySQL to PostgreSQL; it opens at 9") == []
    assert [e.id for e in entities_one("Their brother Karan lives in Pune")] == [
        "person:brother",
        "person:karan",
        "place:pune",
    ]


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("Jiří Núñez!", "jiri-nunez"),
        ("Mu\u0308nchen", "munchen"),
        ("Χρήστος", "χρηστος"),
        ("Артём и Андрей", "артем-и-андрей"),
        ("أَحمَد", "احمد"),
        ("バル", "バル"),
        ("초코", "초코"),
        ("राजू", "राजू"),
        ("Jose´s", "jose-s"),
        ("İzmir", "izmir"),
    ],
)
def test_a_slug_keeps_the_marks_that_make_another_letter(text: str, slug: str) -> None:
    assert wording.slug(text) == slug == normalize("NFC", slug)
    assert pl.DataFrame({"text": [text]}).select(wording.slug_expr(pl.col("text"))).item() == slug


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Works at Café Lua", ["workplace:cafe-lua"]),
        ("Sister Renée works at Café Sol", ["workplace:cafe-sol"]),
        ("My sister Renée, my brother Ren", ["person:brother", "person:ren", "person:renee", "person:sister"]),
        ("I live in Mu\u0308nchen and work at Cafe\u0301 Sol", ["place:munchen", "workplace:cafe-sol"]),
        ("My dog Žofka and my cat Éclair", ["pet:eclair", "pet:zofka"]),
        ("I studied at Universität Wien", ["school:universitat-wien"]),
        ("We were at São Paulo University", ["school:sao-paulo-university"]),
        ("I joined Nguyễn Labs", ["workplace:nguyen-labs"]),
        ("My Crème Brûlée post is out", ["content:creme-brulee"]),
    ],
)
def test_a_name_is_not_cut_at_its_accent(text: str, names: list[str]) -> None:
    found = entities_one(text)
    assert [entity.id for entity in found] == names
    assert entities_frame(pl.DataFrame({"text": [text]})).rows() == [(0, *entity) for entity in found]


@pytest.mark.parametrize(
    ("text", "metrics"),
    [
        ("I don't like traffic in the city", []),
        ("I got stuck in traffic", []),
        ("my visits to grandma are rare", []),
        ("our sales team is nice", []),
        ("she comments on everything", []),
        ("My blog traffic dropped a lot this week", ["metric:visits"]),
        ("traffic doubled in May", ["metric:visits"]),
        ("we want more visitors", ["metric:visits"]),
        ("our sales fell", ["metric:sales"]),
        ("the post had 30 comments", ["metric:comments"]),
    ],
)
def test_a_metric_is_what_is_measured(text: str, metrics: list[str]) -> None:
    found = entities_one(text)
    assert [entity.id for entity in found if entity.type == "metric"] == metrics
    rows = entities_frame(pl.DataFrame({"text": [text]})).rows()
    assert rows == [(0, *entity) for entity in found]


PIECES = st.sampled_from(
    [
        "my ",
        "dog ",
        "Bruno ",
        "work at ",
        "Infosys, ",
        "José ",
        "Žofie Dvořák ",
        "’s ",
        "mom ",
        "hiking ",
        "blog ",
        "traffic ",
        "dropped ",
        "University ",
        "of ",
        "in ",
        "New York ",
    ]
)
TEXTS = st.lists(PIECES, max_size=10).map("".join) | st.text(max_size=40)


@given(st.lists(TEXTS, min_size=1, max_size=5))
@settings(max_examples=60, deadline=None)
def test_entities_and_salience_agree_in_both_engines(texts: list[str]) -> None:
    frame = pl.DataFrame({"text": texts})
    assert entities_frame(frame).rows() == [
        (i, *entity) for i, text in enumerate(texts) for entity in entities_one(text)
    ]
    numbers = load_policy("logic").salience
    assert frame.select(salience_expr(pl.col("text"), numbers)).to_series().to_list() == [
        salience(t, numbers) for t in texts
    ]
