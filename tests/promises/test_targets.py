"""What is named to be erased: the names of which a receipt keeps a keyed hash."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

from reverie.drive.erase.targets import (
    memory_target,
    retention_target,
    session_target,
    subject_target,
    turn_target,
)

ID = UUID(int=7)
AT = datetime(2026, 3, 1, tzinfo=UTC)


def test_the_names_are_what_was_given() -> None:
    targets = [
        subject_target("ana"),
        session_target("ana", "s1"),
        session_target(None, "s1"),
        turn_target(ID),
        memory_target(ID, shared=True),
        retention_target("ana", AT),
    ]
    assert [(target.kind, *target.names) for target in targets] == [
        ("subject", "ana"),
        ("session", "ana", "s1"),
        ("session", "s1"),
        ("turn", str(ID)),
        ("memory", str(ID)),
        ("retention", "ana", "2026-03-01T00:00:00+00:00"),
    ]
