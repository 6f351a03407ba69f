"""One memory, and what an id leads to."""

from __future__ import annotations

import re

import httpx
import pytest

from tests.inspector.test_amending import memory_of

pytestmark = pytest.mark.xdist_group("inspector")


def test_a_memory_says_where_it_comes_from_and_when_it_goes(admin: httpx.Client) -> None:
    memory = memory_of(admin, "golden retriever")
    page = admin.get("memory", params={"memory": memory}).text
    assert "<mark>a golden retriever named Bruno</mark>" in page
    assert 'class="curve"' in page and "Importance was" in page
    assert page == admin.get("item", params={"id": memory}).text


def test_a_turn_leads_to_its_session(admin: httpx.Client) -> None:
    page = admin.get("memory", params={"memory": memory_of(admin, "golden retriever")}).text
    turn = page.partition("&amp;turn=")[2].partition('"')[0]
    answer = admin.get("item", params={"id": turn})
    assert answer.url.path.endswith("/session") and f'id="turn-{turn}"' in answer.text


def test_what_a_message_without_a_statement_ended_shows_its_words(admin: httpx.Client) -> None:
    history = admin.get("subject", params={"subject": "gus", "view": "history"}).text
    (ended,) = set(re.findall(r'memory=([0-9a-f-]{36})">[^<]*my scan', history))
    page = admin.get("memory", params={"memory": ended}).text
    assert "<dt>Ended by</dt><dd>a message “The scan was clear, I cried in the car.”</dd>" in page
