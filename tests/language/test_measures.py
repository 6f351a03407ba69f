"""Numbers that messages report, and of what they are."""

from __future__ import annotations

import pytest

from reverie.language.measures import ReportedNumber, measures, reported_topics, topic_stem


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("My recipe post got 310 views and 12 likes.", [("views", 310, "recipe post"), ("likes", 12, "recipe post")]),
        (
            "Recipe post got 310 views, news post got 1.2k views.",
            [("views", 310, "recipe post"), ("views", 1200, "news post")],
        ),
        ("My recipe post got 10 000 views.", [("views", 10_000, "recipe post")]),
        ("I weighed 83.5 kilos this morning", [("kg", 83.5, "weighed")]),
        ("Ran 5 km in 28 min today, felt fine", [("km", 5, "ran felt fine"), ("minutes", 28, "ran felt fine")]),
        ("The newsletter had an open rate of 31%", [("percent", 31, "newsletter open rate")]),
        ("Revenue was €4,500 this week", [("eur", 4500, "revenue")]),
    ],
)
def test_a_number_has_its_unit_and_topic(text: str, found: list[tuple[str, float, str]]) -> None:
    assert measures(text) == [ReportedNumber(metric, value, tuple(topics.split())) for metric, value, topics in found]


@pytest.mark.parametrize(
    "text",
    [
        "Should I run 10 km?",
        "I want to run 10 km tomorrow",
        "My goal is 500 views on the recipe post",
        'He wrote "we sold 500 loaves" on his page',
        "We had the shop for 3 years",
        "Climbed a 6b route",
        "Ran 1 250 km",
        "Got 12 likes",
    ],
)
def test_a_question_a_plan_a_quotation_or_a_span_reports_nothing(text: str) -> None:
    assert measures(text) == []


def test_forms_of_a_word_are_one() -> None:
    assert topic_stem("weighed") == topic_stem("weight") == topic_stem("weigh")
    assert topic_stem("ran") == topic_stem("running")
    assert reported_topics(["The posts", "a post on recipes"]) == ("posts", "recipes")
