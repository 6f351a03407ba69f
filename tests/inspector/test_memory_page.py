"""One memory, and what an id leads to."""

from __future__ import annotations

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
