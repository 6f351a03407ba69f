"""How far a replica is behind, by the positions of both servers; tests/api/test_replica.py has a real one."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from reverie.errors import DatabaseError
from reverie.store.database import Store
from reverie.store.server.replica import (
    NO_TENANT,
    ServerPosition,
    lag_notes,
    read_position,
    replica_errors,
    require_replica,
    seconds_behind,
)
from reverie.store.session import perform

STARTED = datetime(2026, 3, 1, tzinfo=UTC)


def position(**given: Any) -> ServerPosition:
    fields = {"cluster": 1, "database": "a", "started_at": STARTED, "is_replica": True, "position": 9}
    return ServerPosition(**({"commit_age": 3.0} | fields | given))  # type: ignore[arg-type]


def test_behind_is_what_is_not_replayed_yet() -> None:
    primary = position(is_replica=False, commit_age=None)
    assert seconds_behind(primary, position()) == 0
    assert seconds_behind(primary, position(position=8)) == 3
    assert seconds_behind(primary, position(position=8, commit_age=None)) is None
    assert seconds_behind(None, position()) == 3
    assert lag_notes(3, limit=3) == ()
    assert len(lag_notes(None, limit=3)) == 1
    require_replica(primary, position(started_at=STARTED.replace(year=2027)))
    with pytest.raises(DatabaseError, match="promoted"):
        require_replica(primary, position(is_replica=False, started_at=STARTED.replace(year=2027)))
    with pytest.raises(DatabaseError, match="not a replica of"):
        require_replica(primary, position(cluster=2))


def test_a_server_is_its_own_reader(database_url: str) -> None:
    with Store.open(database_url, role="reader", size=1) as store:
        before, after = (perform(read_position(store.session(NO_TENANT))) for _ in range(2))
    assert after.position >= before.position > 0
    require_replica(before, after)
    assert seconds_behind(before, after) == 0


def test_an_error_names_the_setting() -> None:
    with pytest.raises(DatabaseError, match=r"^REVERIE_READ_URL cannot be used\. It is gone\.$"), replica_errors():
        raise DatabaseError("It is gone.")
