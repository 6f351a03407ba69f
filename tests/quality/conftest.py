"""A tenant whose weeks are alike: nine weeks of turns, memories, moods, vectors and recalls, generated in the database.

Great Expectations is imported once a process, by the first test that validates: six to nine seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from reverie.policy import load_policy
from reverie.quality.check import GateResult, check_memory
from reverie.quality.gates import GATES
from reverie.quality.measuring import measure_tenant
from reverie.store.database import Store
from reverie.testing import DatabaseFactory, database_name

AS_OF = datetime(2026, 6, 30, tzinfo=UTC)
#: Runs the gates of these names over all tenants; the result of each by name.
Check = Callable[..., dict[str, GateResult]]

_TURNS = """
insert into log.turns
    (tenant_id, id, subject_id, session_id, source_id, turn_index, role, said_at, recorded_at, text, content_hash)
select %(tenant)s, gen_random_uuid(), 'subject ' || n %% 7, 's', n::text, n, 'user', at, at,
       case when noise < 90 then 'I have the same thing again, number ' || n else 'Ein anderer Satz ' || n end, ''
from (select n, %(as_of)s - n * interval '84 minutes' - interval '1 minute' as at,
             ('x' || left(md5(n::text), 4))::bit(16)::int %% 100 as noise
      from generate_series(0, 1079) n) said"""

_FOLLOWING = (
    """insert into memory.extractions (tenant_id, turn_id, subject_id, candidates, reason, run_id)
       select tenant_id, id, subject_id, (turn_index %% 2), case when turn_index %% 2 = 1 then null
              when turn_index %% 4 = 0 then 'small_talk' else 'no_rule' end, gen_random_uuid()
       from log.turns where tenant_id = %(tenant)s""",
    """insert into memory.moods
           (tenant_id, turn_id, subject_id, session_id, said_at, mood, energy, style, method, crisis, own, run_id)
       select tenant_id, id, subject_id, session_id, said_at,
              (array['neutral', 'neutral', 'happy', 'sad', 'neutral', 'happy', 'neutral'])[1 + turn_index %% 7],
              'low', 'casual', 'classifier', false, true, gen_random_uuid()
       from log.turns where tenant_id = %(tenant)s""",
    """insert into memory.memories
           (tenant_id, id, happened_at, accessed_at, decayed_at, base, peak, importance, linked, structured, scored,
            kind, state, subject_id, turn_id, session_id, content, content_hash, origin, run_id, policy_hash)
       select tenant_id, gen_random_uuid(), said_at, said_at, said_at, i, i, i, true, true, true, 'fact', 'active',
              subject_id, id, session_id, text, sha256(text::bytea), 'rule', gen_random_uuid(), 'p'
       from (select *, (0.15 + 0.7 * (turn_index %% 11) / 10)::real as i
             from log.turns where tenant_id = %(tenant)s and turn_index %% 2 = 1) t""",
    """insert into memory.vectors (tenant_id, subject_id, item_id, model, item, vec)
       select tenant_id, subject_id, id, 'small', 'memory', '[0.6,0.8]'::halfvec
       from memory.memories where tenant_id = %(tenant)s""",
    """insert into log.recalls (tenant_id, id, subject_id, asked_at, question, policy_hash, item_ids, dropped)
       select tenant_id, gen_random_uuid(), subject_id, said_at, text, 'p',
              case when turn_index %% 40 = 0 then array[]::uuid[] else array[id] end, 0
       from log.turns where tenant_id = %(tenant)s and turn_index %% 2 = 0""",
)


def live(conn: psycopg.Connection[Any], tenant: str = "acme", as_of: datetime = AS_OF) -> None:
    """Insert nine even weeks of a tenant, up to `as_of`: 120 turns and 60 memories a week."""
    params = {"tenant": tenant, "as_of": as_of}
    conn.execute("insert into ops.tenants (tenant_id, policy) values (%(tenant)s, 'reverie')", params)
    for statement in (_TURNS, *_FOLLOWING):
        conn.execute(statement, params)


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    """The database in the worker's role."""
    with Store.open(database_url) as opened:
        yield opened


@pytest.fixture(scope="session")
def templates() -> dict[str, str]:
    """The weeks are there where a test asks for `healthy`."""
    return {"healthy": "checked"}


@pytest.fixture(scope="session")
def checked(database_factory: DatabaseFactory) -> Iterator[str]:
    """The name of a database whose tenant was also checked in each of the eight weeks before: to copy."""
    with database_factory.migrated() as url:
        with psycopg.connect(url, autocommit=True) as conn:
            live(conn)
        with Store.open(url, size=1) as store:
            for weeks in range(8, 0, -1):
                measure_tenant(
                    store,
                    "acme",
                    policy=load_policy("reverie"),
                    at=AS_OF - timedelta(weeks=weeks),
                    check_id=uuid4(),
                    gates=[gate for gate in GATES if gate.history == "measures"],
                )
        yield database_name(url)


@pytest.fixture
def healthy(conn: psycopg.Connection[Any]) -> psycopg.Connection[Any]:
    """A connection that sees everything, beside a tenant that was also checked in each of the eight weeks before."""
    return conn


@pytest.fixture
def check(store: Store, database_url: str) -> Check:
    """Check at AS_OF."""

    def run(*names: str, **options: Any) -> dict[str, GateResult]:
        gates = [gate for gate in GATES if not names or gate.name in names]
        return {
            result.gate: result
            for result in check_memory(store, database_url, options.pop("at", AS_OF), gates=gates, **options)
        }

    return run
