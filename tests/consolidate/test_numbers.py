"""Of what an outcome is: what the tool call of its decision names, else what the decision says."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from reverie.consolidate.signal.numbers import number_of_outcome

AT = datetime(2026, 1, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("calls", "text", "topics"),
    [
        ([{"name": "suggest_post", "arguments": {"category": "recipe", "views": 3}}], "An idea.", ["recipe", "post"]),
        ([{"name": "blog.create_post", "arguments": {"title": "A long title of many words"}}], "", ["post"]),
        ([{"name": "send_message"}], "", ["message"]),
        ([], "We send the newsletter on Mondays", ["send", "newsletter", "mondays"]),
        ([], "", ["page_views"]),
    ],
)
def test_an_outcome_is_of_what_its_decision_names(calls: list[dict[str, Any]], text: str, topics: list[str]) -> None:
    number = number_of_outcome(UUID(int=1), AT, "page_views", 12.0, calls, text)
    assert list(number.topics) == topics
    assert (number.source, number.metric, number.value, number.speaker) == ("outcome", "page_views", 12.0, None)
