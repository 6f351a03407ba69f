"""The text of an HTML body."""

from __future__ import annotations

from typing import Any

import pytest

from reverie.capture.history.formats.helpdesks import plain_text, read_intercom, read_zendesk
from reverie.capture.history.formats.shapes import ForeignItem


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<p>Hi <b>you</b></p><p>Bye</p>", "Hi you\nBye"),
        ("one<br>two &lt;3", "one\ntwo <3"),
        (" plain ", "plain"),
        ("<ul><li>a</li><li>b</li></ul>", "a\nb"),
        (None, ""),
    ],
)
def test_plain_text(body: str | None, text: str) -> None:
    assert plain_text(body) == text


def test_a_requester_that_is_a_text_has_no_id() -> None:
    comment = {"body": "Hi", "author": "Ana"}
    ticket = ForeignItem(number=1, fields={"id": 1, "requester": "ana@example.com", "comments": [comment]})
    (turn,) = read_zendesk(ticket, None, None)
    assert isinstance(turn, dict) and "subject_id" not in turn and turn["text"] == "Hi"
    talk = {"id": 1, "conversation_parts": [{"id": 2, "body": "Hi", "author": "Ana"}]}
    (turn,) = read_intercom(ForeignItem(number=1, fields=talk), "ana", None)
    assert isinstance(turn, dict) and turn["role"] == "assistant"


@pytest.mark.parametrize(
    ("comment", "text"),
    [
        (
            {"plain_body": "Ana <ana@example.com>:\n\n  if a < b &amp;&amp; c\n"},
            "Ana <ana@example.com>:\n\n  if a < b && c",
        ),
        ({"body": "a List<String>", "html_body": "<p>a List&lt;String&gt;</p>"}, "a List<String>"),
        ({"html_body": "<p>a List&lt;String&gt;</p>"}, "a List<String>"),
    ],
)
def test_only_the_html_of_a_ticket_has_markup(comment: dict[str, Any], text: str) -> None:
    ticket = {"id": 1, "requester_id": 7, "comments": [comment]}
    (turn,) = read_zendesk(ForeignItem(number=1, fields=ticket), None, None)
    assert isinstance(turn, dict) and turn["text"] == text
    if "body" in comment:
        (turn,) = read_zendesk(ForeignItem(number=1, fields={"description": comment["body"]}), "ana", None)
        assert isinstance(turn, dict) and turn["text"] == text
