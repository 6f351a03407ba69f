"""Consent of a subject: everything until something is refused, changed in part, and overdue at midnight."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from reverie.errors import InputError
from reverie.model import Scope
from reverie.store.database import Store
from reverie.store.privacy.consents import (
    Consent,
    ConsentChange,
    change_consent,
    list_consents,
    overdue_subjects,
    read_consent,
)
from reverie.store.session import perform
from tests.cli.conftest import insert

AT = datetime(2026, 3, 20, 15, 0, tzinfo=UTC)


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    with Store.open(database_url, size=1) as opened:
        yield opened


def test_what_is_not_changed_stays(store: Store) -> None:
    session = store.session("acme")
    assert perform(read_consent(session, "ana")) == Consent(subject_id="ana")
    for change in (
        ConsentChange(capture=False),
        ConsentChange(recall=False, retain_days=9),
        ConsentChange(capture=True),
    ):
        changed = perform(change_consent(session, "ana", change, at=AT, actor="sam"))
    assert changed == Consent(subject_id="ana", capture=True, recall=False, retain_days=9, changed_at=AT, actor="sam")
    assert perform(read_consent(session, "ana")) == changed
    assert perform(list_consents(session)) == [changed]
    assert perform(list_consents(store.session("other"))) == []
    forever = perform(change_consent(session, "ana", ConsentChange(retain_days=0), at=AT))
    assert (forever.retain_days, forever.recall, forever.actor) == (None, False, None)


@pytest.mark.parametrize(("subject", "days"), [("", 1), ("a" * 201, 1), ("ana", -1), ("ana", 36_501)])
def test_what_is_out_of_range_is_refused(store: Store, subject: str, days: int) -> None:
    with pytest.raises(InputError):
        perform(change_consent(store.session("acme"), subject, ConsentChange(retain_days=days), at=AT))


def test_what_is_overdue_is_older_than_a_midnight(store: Store, conn: psycopg.Connection) -> None:
    perform(change_consent(store.session("acme"), "ana", ConsentChange(retain_days=10), at=AT))
    midnight = datetime(2026, 3, 10, tzinfo=UTC)
    place = {"subject_id": "ana", "session_id": "s", "source_id": "1", "turn_index": 0, "role": "user", "text": "x"}
    insert(conn, "log.turns", id="019caa00-0000-8000-8000-000000000000", said_at=midnight, content_hash=b"", **place)

    def overdue(at: datetime) -> list[tuple[str, datetime]]:
        with store.transaction("acme") as session:
            return overdue_subjects(session, Scope(tenant_id="acme"), at)

    assert overdue(AT) == [], "it was said at that midnight, not before"
    assert overdue(AT + timedelta(days=1)) == [("ana", midnight + timedelta(days=1))]
