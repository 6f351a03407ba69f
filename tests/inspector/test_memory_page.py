"""One memory, and what an id leads to."""

from __future__ import annotations

import re

import httpx
import psycopg
import pytest

from tests.inspector.conftest import Site
from tests.inspector.test_amending import memory_of

#: A pin that a memory has from another one, which was merged into it.
INHERITED = """insert into memory.marks (tenant_id, subject_id, item_id, correction_id, item, mark, pending)
               values ('acme', 'ida', %s, gen_random_uuid(), 'memory', 'pinned', false)"""

pytestmark = pytest.mark.xdist_group("inspector")


def test_a_memory_says_where_it_comes_from_and_when_it_goes(admin: httpx.Client) -> None:
    memory = memory_of(admin, "golden retriever")
    page = admin.get("memory", params={"memory": memory}).text
    assert "<mark>a golden retriever named Bruno</mark>" in page
    assert 'class="curve"' in page and "Importance was" in page
    assert page == admin.get("item", params={"id": memory}).text


def test_a_memory_that_fades_before_its_end_says_so(site: Site, admin: httpx.Client) -> None:
    memory = memory_of(admin, "golden retriever")
    write = "update memory.memories set expires_at = %s, forget_at = %s where id = %s"
    with psycopg.connect(site.database, autocommit=True) as conn:
        times = conn.execute("select expires_at, forget_at from memory.memories where id = %s", [memory]).fetchone()
        try:
            conn.execute(write, ["2030-12-16", "2030-12-28", memory])
            ended = admin.get("memory", params={"memory": memory}).text
            conn.execute(write, ["2031-12-16", "2030-12-28", memory])
            faded = admin.get("memory", params={"memory": memory}).text
        finally:
            conn.execute(write, [*(times or (None, None)), memory])
    assert "Ends by its own time on 2030-12-16, and is forgotten after 2030-12-28" in ended
    assert "Ends by its own time" not in faded and "Forgotten after 2030-12-28" in faded


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


def test_an_inherited_pin_is_shown_and_can_be_removed(site: Site, admin: httpx.Client) -> None:
    memory = memory_of(admin, "golden retriever")
    with psycopg.connect(site.database, autocommit=True) as conn:
        conn.execute(INHERITED, [memory])
        try:
            page = admin.get("memory", params={"memory": memory}).text
        finally:
            conn.execute("delete from memory.marks where item_id = %s", [memory])
    assert '<span class="tag pinned">pinned</span>' in page and ">Unpin<" in page
    assert "Kept until it is unpinned." in page and "Forgotten after" not in page
