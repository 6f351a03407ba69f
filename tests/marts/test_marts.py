"""The marts on a real database: contracts hold, counts are the engine's own, a second build changes nothing."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import psycopg
import pytest

from reverie.capture.history.importing import import_file
from reverie.evaluate.funnel import funnel
from reverie.evaluate.health import measure
from reverie.store.connect import connect
from reverie.store.database import Store
from tests.marts.conftest import PROJECT, TENANTS, Dbt, turn

Conn = psycopg.Connection[Any]

MARTS = sorted(path.stem for path in (PROJECT / "models" / "marts").glob("*.sql"))
#: What differs from one build to the next: the moment of a measurement.
MOMENTS = {"measured_at", "hours_since_run", "hours_behind"}


@pytest.fixture
def store(built: str) -> Any:
    with Store.open(built) as opened:
        yield opened


@pytest.mark.parametrize("tenant", TENANTS)
def test_tenants_are_counted_as_health_counts_them(analyst: Conn, store: Store, tenant: str) -> None:
    health, row = measure(store, tenant), rows(analyst, "tenants", tenant)[0]
    assert health["memories"] > 5
    same = set(health) & set(row)
    assert len(same) >= 20
    assert {name: row[name] for name in same} == pytest.approx({name: health[name] for name in same})
    assert row["turns_unread"] == health["turns"] - health["turns_read"]
    assert row["mean_importance"] == pytest.approx(health["importance"] / health["memories"], abs=1e-4)


@pytest.mark.parametrize("tenant", TENANTS)
def test_the_funnel_is_the_engines(analyst: Conn, store: Store, tenant: str) -> None:
    known, items = funnel(store, tenant), rows(analyst, "funnel", tenant)

    def count(stage: str, **where: str) -> int:
        return sum(r["items"] for r in items if r["stage"] == stage and all(r[k] == v for k, v in where.items()))

    assert {r["reason"] for r in items if r["stage"] == "turns"} == set(known.turns) > {"kept"}
    assert all(count("turns", reason=verdict) == turns for verdict, (turns, _) in known.turns.items())
    assert count("candidates", kind="from turns") == sum(number for _, number in known.turns.values())
    for (kind, fate), number in known.memories.items():
        reasons = {"faded", "unimportant", "expired", "budget"} if fate == "forgotten" else {fate}
        assert sum(count("memories", kind=kind, reason=reason) for reason in reasons) == number
    assert count("memories") == sum(known.memories.values())


def test_growth_ends_at_what_is_remembered(analyst: Conn, store: Store) -> None:
    for tenant in TENANTS:
        days = rows(analyst, "memory_growth", tenant)
        last = max(days, key=lambda row: row["day"])
        assert last["memories"] == measure(store, tenant)["memories"]
        assert sum(row["forgotten"] for row in days) == measure(store, tenant)["forgotten"]
        assert len(days) == (last["day"] - min(row["day"] for row in days)).days + 1
    # 2026-03-10T23:59Z is said on the 10th, in UTC
    said = analyst.execute("select turns from marts.memory_growth where tenant_id = 'acme' and day = '2026-03-10'")
    assert said.fetchone() == (2,)


def test_something_was_merged_superseded_and_forgotten(analyst: Conn) -> None:
    """So that the numbers above are not all of zeros."""
    sums = analyst.execute(
        "select sum(merged) > 0, sum(superseded) > 0, sum(forgotten) > 0 from marts.memory_growth"
    ).fetchone()
    assert sums == (True, True, True)
    assert analyst.execute("select count(*) > 0 from marts.forgetting where mean_days_kept > 1").fetchone() == (True,)


def test_a_recall_without_a_hit_is_counted(analyst: Conn) -> None:
    (row,) = rows(analyst, "recall_usage", "acme")
    assert (row["recalls"], row["zero_hit_recalls"], row["zero_hit_rate"]) == (2, 1, 0.5)
    assert row["hits_per_recall"] == row["hits"] / 2 > 0


def test_a_second_build_changes_nothing(built: str, analyst: Conn, dbt: Dbt) -> None:
    before = {mart: rows(analyst, mart) for mart in MARTS}
    dbt(built, "run")
    assert {mart: rows(analyst, mart) for mart in MARTS} == before


def test_an_incremental_build_counts_the_days_of_what_was_imported(
    built: str, analyst: Conn, dbt: Dbt, store: Store, tmp_path: Path
) -> None:
    """Late turns of a day long past as well; the other days' rows are not written again."""
    query = "select tenant_id, subject_id, day, turns, xmin::text from marts.subject_days"
    with connect(built) as conn:  # recorded some hours ago, but for one day, which the hour of overlap counts anew
        earlier = "update {} = {} - interval '5 hours' where not (tenant_id = 'beta' and {} = '2026-02-09')"
        conn.execute(earlier.format("log.turns set recorded_at", "recorded_at", "said_at::date"))
        conn.execute(earlier.format("marts.subject_days set recorded_until", "recorded_until", "day"))
    before = {row[:3]: row[3:] for row in analyst.execute(query)}
    path = tmp_path / "late.jsonl"
    late = turn("ana", "2026-01-20T10:00:00Z", "s9", "It rained.")
    path.write_text(late + turn("cyd", "2026-05-02T10:00:00Z", "s", "Hi."))
    import_file(store, path, tenant_id="acme", policy="reverie")
    dbt(built, "build", "--select", "subject_days", "tenants", "--exclude-resource-type", "unit_test")
    after = {row[:3]: row[3:] for row in analyst.execute(query)}
    changed = {key for key in after if after[key] != before.get(key)}
    assert changed == {
        ("acme", "ana", date(2026, 1, 20)),
        ("acme", "ben", date(2026, 1, 20)),
        ("acme", "cyd", date(2026, 5, 2)),
        ("beta", "ana", date(2026, 2, 9)),
        ("beta", "ben", date(2026, 2, 9)),
    }
    assert after["acme", "ana", date(2026, 1, 20)][0] == before["acme", "ana", date(2026, 1, 20)][0] + 1
    assert rows(analyst, "tenants", "acme")[0]["turns_unread"] == 2


def test_no_text_is_in_a_mart(built: str, analyst: Conn) -> None:
    """Every text column of every relation holds ids, codes and names of ours, and no word that somebody said."""
    columns = analyst.execute(
        """select table_name, column_name from information_schema.columns
           where table_schema = 'marts' and data_type in ('text', 'character varying', 'jsonb', 'ARRAY')"""
    ).fetchall()
    assert len(columns) > 50
    held = {str(v) for t, c in columns for (v,) in analyst.execute(f"select distinct {c} from marts.{t}")}  # noqa: S608
    assert "acme" in held and "faded" in held
    with connect(built) as conn:
        texts = {row[0] for row in conn.execute("select text from log.turns union select content from memory.memories")}
    assert texts and not texts & held
    assert not [value for value in held if any(word in value.casefold() for word in ("ramen", "bruno", "lisbon"))]


def test_every_column_is_described_and_every_mart_has_a_contract(dbt: Dbt, built: str) -> None:
    manifest = json.loads((dbt.target / "manifest.json").read_text())  # type: ignore[attr-defined]
    models = [node for node in manifest["nodes"].values() if node["resource_type"] == "model"]
    assert {model["name"] for model in models} >= set(MARTS)
    for model in models:
        assert model["description"], model["name"]
        assert all(column["description"] for column in model["columns"].values()), model["name"]
        if model["name"] in MARTS:
            assert model["config"]["contract"]["enforced"], model["name"]
        if model["config"]["incremental_strategy"] == "microbatch":
            assert model["name"] in {"model_costs", "stage_runs"}, "microbatch is for append-only logs"
    with connect(built, role="analyst") as conn:
        for model in models:
            query = f"select * from marts.{model['name']} limit 0"  # noqa: S608
            shown = {column.name for column in conn.execute(query).description or ()}
            assert shown == set(model["columns"]), model["name"]


def rows(conn: Conn, mart: str, tenant: str | None = None) -> list[dict[str, Any]]:
    """The rows of a mart in a fixed order, without moments of measurement."""
    cursor = conn.execute(f"select * from marts.{mart}")  # noqa: S608
    names = [column.name for column in cursor.description or ()]
    found = [dict(zip(names, row, strict=True)) for row in cursor]
    kept = [{name: value for name, value in row.items() if name not in MOMENTS} for row in found]
    return sorted((row for row in kept if tenant in (None, row.get("tenant_id"))), key=lambda row: str(row.values()))
