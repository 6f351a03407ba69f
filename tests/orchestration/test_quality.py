"""The quality gates in Dagster: a check each, numbers and ids as metadata, and nothing where the extra is missing."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from reverie.quality.gates import GATES
from reverie.store.database import Store
from tests.orchestration.conftest import ROOT


def test_every_gate_is_a_check_of_the_tick(remembered: Store, run_job: Callable[..., Any], conn: Any) -> None:
    conn.execute(
        "update memory.vectors set vec = (vec::vector + vec::vector)::halfvec where tenant_id = 'beta' and item_id = "
        "(select item_id from memory.vectors where tenant_id = 'beta' limit 1)"
    )
    result = run_job("health")
    found = {each.check_name: each for each in result.get_asset_check_evaluations()}
    gates = {gate.name for gate in GATES}
    assert gates < set(found)
    assert {name for name in gates if not found[name].passed} == {"vector_norms"}
    failed = found["vector_norms"]
    assert failed.severity.value == "ERROR"
    assert failed.description == (
        "Tenant beta: a vector of the model minilm-l6-v2-int8 has the norm 2.00, and all must have 1."
    )
    metadata = {name: value.value for name, value in failed.metadata.items() if name != "outside"}
    assert metadata == {"measures": 2, "compared": 2, "observed": pytest.approx(2, abs=0.01), "tenants": "beta"}
    (record,) = failed.metadata["outside"].records
    assert {name: record.data[name] for name in ("tenant", "expected from", "expected to")} == {
        "tenant": "beta",
        "expected from": "0.99",
        "expected to": "1.01",
    }
    assert found["discards"].description == "nothing to measure"


def test_without_the_extra_dagster_loads_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    import assets.consolidation
    import assets.definitions
    import assets.quality
    from reverie.quality import check

    monkeypatch.setattr(check, "find_spec", lambda name: None)
    try:
        importlib.reload(assets.quality)
        importlib.reload(assets.consolidation)
        loaded = importlib.reload(assets.definitions).defs
        checks = {key.name for key in loaded.get_repository_def().asset_graph.asset_check_keys}
        assert "bucket_lag" in checks
        assert not checks & {gate.name for gate in GATES}
    finally:
        monkeypatch.undo()
        importlib.reload(assets.quality)
        importlib.reload(assets.consolidation)
        importlib.reload(assets.definitions)


def test_great_expectations_is_imported_by_a_check_alone() -> None:
    """Its import would cost the code location and each command seven seconds of a processor."""
    script = "import sys, assets.quality, reverie.cli.measure.check as c; sys.exit('great_expectations' in sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True, cwd=ROOT)
