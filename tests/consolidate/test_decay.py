"""Decay: importance follows from peak and time alone, so it cannot be applied twice."""

from datetime import UTC, datetime, timedelta

import pytest

from reverie.consolidate.decay.stage import _batches, decay
from reverie.model import KINDS, Scope, stable_id
from reverie.policy import Policy
from reverie.policy.fading import as_real, value_at
from reverie.store.database import Store
from reverie.store.digest import digest
from reverie.store.queries import queries
from reverie.store.work import Work
from tests.promises.world import lively

ORIGIN = datetime(2026, 1, 1, tzinfo=UTC)
POLICY = lively()


def put(store: Store, *memories: tuple[str, float, float], tenant: str = "t", state: str = "active") -> None:
    """Memories of a kind, a peak and the day of their last access."""
    with store.transaction(tenant) as conn:
        for number, (kind, peak, day) in enumerate(memories):
            at = ORIGIN + timedelta(days=day, seconds=number)
            conn.execute(
                """insert into memory.memories (tenant_id, id, subject_id, kind, state, content, content_hash, base,
                       peak, importance, happened_at, accessed_at, decayed_at, origin, run_id, policy_hash)
                   values (%s, %s, 's', %s, %s, 'x', '', %s, %s, %s, %s, %s, %s, 'test', %s, 'test')""",
                [tenant, stable_id(at, kind, state), kind, state, peak, peak, peak, at, at, at, stable_id(at)],
            )


def run(store: Store, day: float, policy: Policy = POLICY, tenant: str = "t", dry_run: bool = False):
    as_of = ORIGIN + timedelta(days=day)
    return decay(Work(store=store, scope=Scope(tenant_id=tenant), policy=policy, as_of=as_of, dry_run=dry_run))


def importances(store: Store, tenant: str = "t") -> list[float]:
    with store.transaction(tenant) as conn:
        return [row[0] for row in conn.execute("select importance from memory.memories order by id")]


MEMORIES = [(kind, 0.2 + 0.1 * number, 3.7 * number) for number, kind in enumerate(KINDS)]


def test_importance_is_that_of_the_closed_form_whatever_the_state(store: Store) -> None:
    put(store, *MEMORIES)
    put(store, *MEMORIES, state="merged")
    assert run(store, 100)["decayed"] == 2 * len(MEMORIES)
    with store.transaction("t") as conn:
        rows = conn.execute("select kind, peak, accessed_at, importance, decayed_at from memory.memories").fetchall()
    for kind, peak, accessed_at, importance, decayed_at in rows:
        at = ORIGIN + timedelta(days=100)
        rate = POLICY.decay.rates[kind]
        assert decayed_at == at
        assert as_real(importance) == value_at(peak, accessed_at, at, rate=rate, grace_days=POLICY.decay.grace_days)


@pytest.mark.parametrize("days", [[50, 51, 77.3, 90, 200], [200, 90], [0, 7, 8.1, 200, 200]])
def test_one_jump_equals_many_cycles(store: Store, days: list[float]) -> None:
    put(store, *MEMORIES)
    for day in days:
        run(store, day)
    put(store, *MEMORIES, tenant="u")
    run(store, 200, tenant="u")
    assert importances(store) == importances(store, "u")


def test_a_second_run_writes_nothing(store: Store) -> None:
    put(store, *MEMORIES)
    run(store, 60)
    before = digest(store, "t")
    assert run(store, 60)["decayed"] == 0
    assert digest(store, "t") == before


def test_within_the_grace_period_nothing_fades(store: Store) -> None:
    put(store, ("fact", 0.5, 0.0))
    assert run(store, POLICY.decay.grace_days)["decayed"] == 0
    assert run(store, POLICY.decay.grace_days + 0.1)["decayed"] == 1


def test_without_a_rate_nothing_is_written(store: Store) -> None:
    put(store, *MEMORIES)
    assert run(store, 900, lively("logic"))["decayed"] == 0


def test_a_dry_run_counts_and_writes_nothing(store: Store) -> None:
    put(store, *MEMORIES)
    before = digest(store, "t")
    assert run(store, 60, dry_run=True)["decayed"] == len(MEMORIES)
    assert digest(store, "t") == before
    with store.transaction("t") as conn:
        assert conn.execute("select count(*) from ops.runs").fetchone() == (0,)


def test_the_ledger_has_one_row_and_a_retry_is_another_attempt(store: Store) -> None:
    put(store, *MEMORIES)
    for _ in range(2):
        run(store, 60)
    with store.transaction("t") as conn:
        rows = conn.execute("select stage, status, attempts, report from ops.runs").fetchall()
    assert rows == [("decay", "done", 2, {"decayed": len(MEMORIES)})]


def test_batches_share_out_the_rows(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reverie.consolidate.decay.stage._batches", lambda due, rows: 8)
    put(store, *[("fact", 0.5, number / 10) for number in range(40)])
    assert run(store, 60)["decayed"] == 40
    assert run(store, 60)["decayed"] == 0


def test_for_named_subjects_the_table_is_not_measured(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A drain ends with them; the estimate reads of all subjects, and its result may turn off the index of one."""
    put(store, *MEMORIES)
    only = {"decay": queries("decay")["decay"]}
    monkeypatch.setattr("reverie.consolidate.decay.stage.queries", lambda stem: only)
    for subject, number in (("other", 0), ("s", len(MEMORIES))):
        scope, as_of = Scope(tenant_id="t", subjects=(subject,)), ORIGIN + timedelta(days=60)
        assert decay(Work(store=store, scope=scope, policy=POLICY, as_of=as_of))["decayed"] == number


def test_only_much_of_a_large_table_is_cut() -> None:
    assert _batches(0, 0) == _batches(10_000, 10_000) == _batches(100_000, 10_000_000) == 1
    assert _batches(1_000_000, 1_000_000) == _batches(300_000, 1_000_000) == 8


def test_a_lasting_memory_keeps_its_importance(store: Store) -> None:
    put(store, ("fact", 0.5, 0.0), ("preference", 0.5, 0.0))
    with store.transaction("t") as conn:
        conn.execute("update memory.memories set lasting = true, forget_at = null where kind = 'fact'")
    assert run(store, 100)["decayed"] == 1
    with store.transaction("t") as conn:
        kept = conn.execute("select kind from memory.memories where importance = peak").fetchall()
    assert kept == [("fact",)]


def test_what_is_superseded_fades_from_then_on(store: Store) -> None:
    put(store, ("fact", 0.5, 0.0), ("preference", 0.5, 0.0))
    ended = ORIGIN + timedelta(days=60)
    with store.transaction("t") as conn:
        conn.execute(
            """update memory.memories set state = 'superseded', valid_from = happened_at, valid_to = %(ended)s,
                   forget_at = %(ended)s + interval '300 days', lasting = kind = 'fact'""",
            {"ended": ended},
        )
    assert run(store, 100)["decayed"] == 2
    rates, grace = POLICY.decay.rates, POLICY.decay.grace_days
    for importance, rate in zip(importances(store), (rates["fact"], rates["preference"]), strict=True):
        assert as_real(importance) == value_at(0.5, ended, ORIGIN + timedelta(days=100), rate=rate, grace_days=grace)
