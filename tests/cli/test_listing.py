"""subjects and tenants: counted, searched, page by page, and none of another tenant."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import psycopg
import pytest

from tests.cli.conftest import START, insert


@pytest.fixture
def many(conn: psycopg.Connection, world) -> None:
    """Beside Ana of acme, ten subjects whose third one has a speaker of another name; and a tenant of three."""
    insert(conn, "ops.tenants", tenant_id="globex", policy="brain")
    for tenant, number in (("acme", 10), ("globex", 3)):
        for place in range(number):
            for turn in range(place + 1):
                insert(
                    conn, "log.turns", tenant_id=tenant, subject_id=f"{tenant}-{place}", session_id="s",
                    id=UUID(int=place << 32 | turn << 8 | number), source_id=str(turn),
                    turn_index=turn, role="user", speaker="Dr. Priya Shah" if place == 3 else None,
                    said_at=START + timedelta(days=turn), text="x", content_hash=b"x",
                )  # fmt: skip


def test_subjects_are_counted(ask, invoke, many) -> None:
    found = ask("subjects")
    assert [each["subject_id"] for each in found["subjects"]] == [*(f"acme-{place}" for place in range(10)), "ana"]
    assert found["next"] is None
    assert found["subjects"][-1] == {
        "subject_id": "ana",
        "turns": 3,
        "memories": 2,
        "last_turn": "2026-03-03T09:00:00+00:00",
    }
    assert [each["turns"] for each in found["subjects"][:10]] == list(range(1, 11))
    assert "2026-03-03 09:00" in invoke("subjects").stdout


def test_subjects_are_searched_by_name_and_speaker(ask, invoke, many) -> None:
    def names(*arguments: str) -> list[str]:
        return [each["subject_id"] for each in ask("subjects", *arguments)["subjects"]]

    assert names("--search", "AN") == ["ana"]
    assert names("--search", "priya") == ["acme-3"]
    assert names("--search", "-7") == ["acme-7"]
    assert names("--search", "globex") == []
    assert names("--search", "%") == []
    assert invoke("subjects", "--search", "globex").stdout == "Tenant acme has no such subjects.\n"


def test_a_search_of_subjects_needs_no_accents(ask, conn, world) -> None:
    insert(conn, "memory.subjects", subject_id="jürgen")
    insert(conn, "memory.subjects", subject_id="bakery", speakers=["Zoe\u0301", "Ana"])
    for part, name in (("Jurgen", "jürgen"), ("JÜR", "jürgen"), ("zoe", "bakery"), ("Zoé", "bakery")):
        assert [each["subject_id"] for each in ask("subjects", "--search", part)["subjects"]] == [name]


def test_subjects_come_page_by_page(ask, invoke, many) -> None:
    seen: list[str] = []
    after: tuple[str, ...] = ()
    for _ in range(4):
        found = ask("subjects", "--limit", "3", *after)
        seen += [each["subject_id"] for each in found["subjects"]]
        after = ("--after", found["next"] or "")
    assert found["next"] is None
    assert seen == [*(f"acme-{place}" for place in range(10)), "ana"]
    assert "There are more: --after 'acme-2'" in invoke("subjects", "--limit", "3").stdout


def test_a_subject_without_turns_is_there(ask, conn, world) -> None:
    insert(conn, "memory.subjects", subject_id="only-events")
    assert [each["subject_id"] for each in ask("subjects")["subjects"]] == ["ana", "only-events"]


def test_tenants_are_counted_searched_and_paged(ask, invoke, many) -> None:
    found = ask("tenants")["tenants"]
    assert [(each["tenant_id"], each["policy"], each["subjects"], each["turns"]) for each in found] == [
        ("acme", "reverie", 11, 58),
        ("globex", "brain", 3, 6),
    ]
    assert (found[0]["memories"], found[0]["last_turn"]) == (2, "2026-03-10T09:00:00+00:00")
    assert [each["tenant_id"] for each in ask("tenants", "--search", "GLOB")["tenants"]] == ["globex"]
    first = ask("tenants", "--limit", "1")
    assert (first["next"], ask("tenants", "--after", "acme")["tenants"][0]["tenant_id"]) == ("acme", "globex")
    assert "globex" in invoke("tenants").stdout


def test_none_yet(invoke) -> None:
    assert invoke("tenants").stdout == "There are no tenants yet: reverie import FILE\n"
    assert invoke("subjects").exit_code == 6
