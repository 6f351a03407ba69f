"""The text of an HTML body."""

from __future__ import annotations

import pytest

from reverie.capture.history.formats.helpdesks import plain_text


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
