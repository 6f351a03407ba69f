"""Triggers and flagged messages: who acted or looked is kept and shown."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

import httpx
import pytest

from reverie.store.connect import connect
from tests.inspector.conftest import UNTIL, Site, token_of

pytestmark = pytest.mark.xdist_group("inspector")

NOW = datetime.fromisoformat(UNTIL).astimezone(UTC)
TRIGGER, DISMISSED, TURN = UUID(int=71), UUID(int=72), UUID(int=73)


@pytest.fixture(scope="module")
def waiting(site: Site) -> None:
    """Two triggers of eve that are due, one that is withheld, and a flagged message."""
    with connect(site.database) as conn:
        for id_, kind, audience, withheld in (
            (TRIGGER, "crisis", "person", None),
            (DISMISSED, "silence", "caller", None),
            (UUID(int=74), "check_in", "caller", "crisis"),
        ):
            conn.execute(
                """insert into memory.triggers (tenant_id, id, subject_id, kind, audience, happened_at, due_at,
                                                until_at, why, withheld, run_id)
                   values ('acme', %s, 'eve', %s, %s, %s, %s, %s, '{"expected_hours": 9.5, "crisis": true}', %s, %s)""",
                [id_, kind, audience, *(NOW + timedelta(hours=hours) for hours in (-2, -1, 9)), withheld, UUID(int=0)],
            )
        conn.execute(
            """insert into ops.reviews (tenant_id, turn_id, subject_id, session_id, reason, flagged_at)
               values ('acme', %s, 'eve', 's3', 'crisis', %s)""",
            [TURN, NOW],
        )


def test_a_trigger_is_acted_upon_once_and_the_audit_says_by_whom(admin: httpx.Client, waiting: None) -> None:
    page = admin.get("triggers").text
    assert "crisis, expected hours 9.5" in page and "a person" in page and "withheld:" not in page
    assert page.count('class="quiet">Done') == 2
    form = {"token": token_of(page), "trigger": str(TRIGGER), "action": "done"}
    assert "The trigger is done." in admin.post("triggers", data=form).text
    admin.post("triggers", data=form | {"action": "dismissed"})  # the first answer stays
    dismissed = form | {"trigger": str(DISMISSED), "action": "dismissed", "subject": "eve", "all": "yes"}
    page = admin.post("triggers", data=dismissed).text
    assert "done 2026-05-01 00:00 by admin (key " in page and "dismissed 2026-05-01" in page
    assert "withheld: near a crisis" in page and "Only of <strong>eve</strong>" in page
    assert "Nothing is due." in admin.get("triggers").text
    audit = admin.get("audit").text
    assert "trigger done" in audit and "trigger dismissed" in audit
    assert admin.post("triggers", data=form | {"action": "kept"}).status_code == 422
    assert admin.post("triggers", data=form | {"trigger": str(UUID(int=9))}).status_code == 404


def test_what_is_due_is_on_the_page_of_its_subject(admin: httpx.Client, waiting: None) -> None:
    page = admin.get("subject", params={"subject": "eve", "view": "signals", "as_of": "2026-04-30T23:30"}).text
    assert "Strength of the tie" in page and "Latest weeks" in page and "All triggers of eve" in page


def test_who_looked_at_a_flagged_message_is_kept(site: Site, admin: httpx.Client, waiting: None) -> None:
    page = admin.get("reviews").text
    form = {"token": token_of(page), "turn": str(TURN)}
    with site.signed_in("reader") as reader:
        refused = {"token": token_of(reader.get("subjects").text), "turn": str(TURN)}
        assert reader.post("reviews", data=refused).status_code == 403
    assert "Marked as seen by you" in admin.post("reviews", data=form).text
    assert "No messages to review." in admin.get("reviews").text
    with site.signed_in("operator") as operator:
        page = operator.get("reviews", params={"tenant": "acme", "seen": "yes"}).text
        operator.post("reviews", data=form | {"token": token_of(page), "tenant": "acme"})
        assert "by admin (key " in operator.get("reviews", params={"tenant": "acme", "seen": "yes"}).text
    assert "review seen" in admin.get("audit").text
    assert admin.get("reviews", params={"cursor": "nonsense"}).status_code == 422


def test_a_flagged_message_of_a_new_person_can_be_read_before_it_is_in_the_log(site: Site, admin: httpx.Client) -> None:
    turn = UUID(int=75)
    with connect(site.database) as conn:
        conn.execute(
            """insert into ops.pending_turns (tenant_id, subject_id, session_id, source_id, id, role, said_at, text,
                                              content_hash)
               values ('acme', 'uma', 'u1', '1', %s, 'user', %s, 'I cannot go on.', '')""",
            [turn, NOW],
        )
        conn.execute(
            """insert into ops.reviews (tenant_id, turn_id, subject_id, session_id, reason, flagged_at)
               values ('acme', %s, 'uma', 'u1', 'crisis', %s), ('acme', %s, 'ida', 's1', 'crisis', %s)""",
            [turn, NOW, UUID(int=76), NOW],
        )
    reviews = admin.get("reviews").text
    session = admin.get("session", params={"subject": "uma", "session": "u1"}).text
    with connect(site.database) as conn:
        conn.execute("delete from ops.pending_turns where subject_id = 'uma'")
        conn.execute("delete from ops.reviews where subject_id in ('ida', 'uma')")
    assert "subject?tenant=acme&amp;subject=ida" in reviews and "subject?tenant=acme&amp;subject=uma" not in reviews
    assert "I cannot go on." in session and "not in the log yet" in session
