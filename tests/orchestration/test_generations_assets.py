"""Assets of generations: a tenant's memory beside the live one, what it would change, and its publication."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg
import pytest

from reverie.errors import NotFoundError, StageError
from reverie.generations import publishing
from reverie.store.database import Store
from reverie.store.digest import digest
from tests.orchestration.conftest import AS_OF

#: Runs of prune in the ledger by the policy of the generation.
_PRUNED = """select count(*) from ops.runs
             where stage = 'prune' and policy_hash = (select policy_hash from ops.generations)"""


def test_a_generation_is_built_compared_and_published(
    remembered: Store, run_job: Any, conn: psycopg.Connection, database_url: str
) -> None:
    before, tags = digest(remembered, "acme"), {"as_of": AS_OF.isoformat()}
    config = {"config": {"tenant": "acme"}}
    ops = {"ops": {"generations": config, "generation_differences": config}}
    shown = metadata(run_job("generation", None, tags=tags, config=ops))
    assert shown["number"] == 1 and shown["memories_before"] == shown["memories_after"] == shown["memories"] > 0
    assert shown["memories_gone"] == 0 and "ramen" not in str(shown)
    assert digest(remembered, "acme") == before
    conn.execute("update ops.tenants set clock_at = %s", [AS_OF])
    done = metadata(run_job("publish", None, tags=tags, config={"ops": {"published_generations": config}}))
    assert done["number"] == 1 and digest(remembered, "acme").sha256 == before.sha256
    again = metadata(run_job("publish", None, tags=tags, config={"ops": {"published_generations": config}}))
    assert (again["number"], again["rows"], again["attempts"]) == (1, 0, 0), "it is live already"
    ended = "drop_ended_generations"
    assert metadata(run_job(ended, None, tags=tags)) == {"dropped": 0}
    conn.execute("update ops.generations set kept_until = now() - interval '1 hour'")
    assert metadata(run_job(ended, None, tags=tags)) == {"dropped": 1}
    with pytest.raises(NotFoundError, match="no generation that is ready"):
        run_job("publish", None, tags=tags, config={"ops": {"published_generations": config}})
    # a tenant that comes first and whose policy cannot be read
    conn.execute("update ops.generations set state = 'published'")
    conn.execute("insert into ops.tenants (tenant_id, policy) values ('aaa', 'nowhere.toml')")
    with pytest.raises(StageError, match=r"1 of 3 tenants failed. aaa: There is no policy"):
        run_job(ended, None, tags=tags)
    assert conn.execute("select state from ops.generations").fetchall() == [("dropped",)]
    kept = "select from ops.generations g join pg_database d on d.datname = g.database"
    assert conn.execute(kept).fetchone() is None


def test_the_next_run_completes_an_interrupted_publication(
    remembered: Store, run_job: Any, conn: psycopg.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (forgetful := tmp_path / "forgetful.toml").write_text('base = "reverie"\n[prune]\nbelow = 1.0\nactive_days = 0\n')
    tags, tenant = {"as_of": AS_OF.isoformat()}, {"tenant": "acme"}
    made = {"generations": {"config": tenant | {"policy": str(forgetful)}}}
    published = {"ops": {"published_generations": {"config": tenant}}}
    conn.execute("update ops.tenants set clock_at = %s", [AS_OF])
    run_job("generation", None, tags=tags, config={"ops": made | {"generation_differences": {"config": tenant}}})
    with monkeypatch.context() as patched:
        patched.setattr(publishing._Switch, "_share", lambda *_: (_ for _ in ()).throw(OSError("gone")))
        with pytest.raises(OSError, match="gone"):
            run_job("publish", None, tags=tags, config=published)
    memory = digest(remembered, "acme")
    assert conn.execute(_PRUNED).fetchone() == (0,), "the ledger has runs of these cycles, by the other policy"
    done = metadata(run_job("publish", None, tags=tags, config=published))
    assert (done["number"], done["rows"]) == (1, 0)
    assert conn.execute(_PRUNED).fetchone() != (0,)
    assert digest(remembered, "acme") == memory
    conn.execute("update ops.generations set kept_until = now() - interval '1 hour'")
    assert metadata(run_job("drop_ended_generations", None, tags=tags)) == {"dropped": 1}


def metadata(result: Any) -> dict[str, Any]:
    events = result.get_asset_materialization_events()
    return {name: value.value for event in events for name, value in event.materialization.metadata.items()}
