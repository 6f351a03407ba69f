"""Flagged messages."""

from __future__ import annotations

import httpx
import pytest

pytestmark = pytest.mark.xdist_group("inspector")


def test_flagged_messages_that_were_seen_are_shown_on_request(admin: httpx.Client) -> None:
    assert "Nothing waits." in admin.get("reviews", params={"seen": "yes"}).text
    assert admin.get("reviews", params={"cursor": "nonsense"}).status_code == 422
