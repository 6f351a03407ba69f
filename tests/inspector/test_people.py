"""Subjects and the views of one."""

from __future__ import annotations

import html
import re

import httpx
import psycopg
import pytest

from tests.inspector.conftest import Site

pytestmark = pytest.mark.xdist_group("inspector")


def test_subjects_are_found_by_name(admin: httpx.Client) -> None:
    page = admin.get("subjects", params={"search": "EV"}).text
    assert ">eve</a>" in page and ">bob</a>" not in page
    assert "No subject" in admin.get("subjects", params={"search": "zzz"}).text


def test_a_fact_that_ended_is_shown_with_its_time(admin: httpx.Client) -> None:
    now = admin.get("subject", params={"subject": "eve"}).text
    before = admin.get("subject", params={"subject": "eve", "as_of": "2026-03-20T00:00"}).text
    history = admin.get("subject", params={"subject": "eve", "view": "history"}).text
    assert ">Bergen</a>" in now and ">Oslo</a>" not in now
    assert ">Oslo</a>" in before and ">Bergen</a>" not in before
    assert "2026-03-01 to 2026-04-02" in history and "2026-04-02 until now" in history


def test_a_fact_is_shown_with_what_it_is_of(admin: httpx.Client, site: Site) -> None:
    with psycopg.connect(site.database) as conn:
        told = "update memory.structured_facts set topic = %s where subject_id = 'eve' and value = 'Bergen'"
        conn.execute(told, ["the winter"])
    now = admin.get("subject", params={"subject": "eve"}).text
    history = admin.get("subject", params={"subject": "eve", "view": "history"}).text
    with psycopg.connect(site.database) as conn:
        conn.execute(told, [""])
    assert "location (the winter)" in now and "location (the winter)" in history


def test_memories_of_a_day_are_those_that_were_in_force_then(admin: httpx.Client) -> None:
    now = admin.get("subject", params={"subject": "gus"}).text
    then = admin.get("subject", params={"subject": "gus", "as_of": "2026-04-21T00:00"}).text
    assert "my scan" in then and "was clear" not in then and "Mondays at 8" not in then
    assert "my scan" not in now and "was clear" in now and "Mondays at 8" in now


def test_a_memory_in_force_on_a_past_day_is_shown_without_its_later_end(admin: httpx.Client) -> None:
    past = admin.get("subject", params={"subject": "eve", "as_of": "2026-03-20T00:00"}).text.partition("<h2")[2]
    (oslo,) = (line for line in past.split("<li>") if "Oslo</a>" in line and "meta" in line)
    assert "2026-03-01" in oslo and "2026-04-02" not in oslo and "superseded" not in oslo


def test_a_doubt_is_shown_from_the_day_of_the_message_that_casts_it(admin: httpx.Client, site: Site) -> None:
    with psycopg.connect(site.database) as conn:
        doubted = """update memory.memories set doubt = 0.4, doubted_by = (
                         select id from log.turns
                         where subject_id = 'eve' and session_id = 's3' and text ilike '%bergen%')
                     where subject_id = 'eve' and content ilike '%golden retriever%' returning valid_to, doubted_by"""
        assert [row[0] for row in conn.execute(doubted)] == [None]
    pages = [
        admin.get("subject", params={"subject": "eve", "as_of": day}).text
        for day in ("2026-03-20T00:00", "2026-04-03T00:00")
    ]
    with psycopg.connect(site.database) as conn:
        conn.execute("update memory.memories set doubt = null, doubted_by = null where subject_id = 'eve'")
    assert ["may be over" in page for page in pages] == [False, True]


def test_views_of_a_past_day_tell_nothing_later(admin: httpx.Client) -> None:
    past = {"subject": "eve", "as_of": "2026-03-20T00:00"}
    # the first lines of a page are about the whole log
    history, sessions = (
        admin.get("subject", params=past | {"view": view}).text.partition("<h2")[2] for view in ("history", "sessions")
    )
    assert "2026-03-01 until now" in history and "2026-04-02" not in history and "Oslo" in history
    assert ">s2</a>" in sessions and ">s3</a>" not in sessions and "2026-04-02" not in sessions


def test_memories_are_filtered(admin: httpx.Client) -> None:
    page = admin.get("subject", params={"subject": "eve", "kind": "fact"}).text
    assert "golden retriever" in page
    assert "no such memories" in admin.get("subject", params={"subject": "eve", "kind": "instruction"}).text
    page = admin.get("subject", params={"subject": "eve", "view": "relations"}).text
    assert "<svg" in page and ">Bruno</a>" in page


def test_earlier_sessions_are_on_the_next_page(site: Site) -> None:
    with site.signed_in("other") as client:
        page = client.get("subject", params={"subject": "dan", "view": "sessions"}).text
        assert ">d21</a>" in page and ">d02</a>" in page and ">d01</a>" not in page
        (address,) = re.findall(r'href="([^"]+)">Earlier sessions</a>', page)
        page = client.get(client.base_url.join(html.unescape(address))).text
        assert ">d01</a>" in page and ">d02</a>" not in page and "Earlier sessions" not in page


@pytest.mark.parametrize("view", ["signals", "relations"])
def test_figures_of_today_are_not_taken_for_those_of_a_past_day(admin: httpx.Client, view: str) -> None:
    now = admin.get("subject", params={"subject": "eve", "view": view}).text
    past = admin.get("subject", params={"subject": "eve", "view": view, "as_of": "2026-03-20T00:00"}).text
    assert "not of 2026-03-20" in past and "not of" not in now


def test_a_profile_before_1970_is_shown(admin: httpx.Client) -> None:
    page = admin.get("subject", params={"subject": "eve", "view": "profile", "as_of": "1970-01-01T00:00"})
    assert page.status_code == 200
