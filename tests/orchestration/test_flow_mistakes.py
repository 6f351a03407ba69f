"""Mistakes of a user: a flow or an asset fails with one sentence, without retries, and changes nothing."""

from __future__ import annotations

import json
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import Any

import psycopg
import pytest

from reverie.errors import NotFoundError, StageError
from reverie.store.database import Store
from tests.orchestration.conftest import AS_OF

ROOT = Path(__file__).resolve().parents[2]
FLOWS = sorted(path.stem for path in (ROOT / "flows").glob("*.py") if path.stem != "__init__")
NOBODY = "There is no tenant 'nobody'"


class Quiet:
    """A progress that shows nothing."""

    def __init__(self, *_: Any) -> None: ...
    def show(self, *_: Any) -> None: ...


@pytest.mark.parametrize(
    ("module", "task", "arguments"),
    [
        ("rebuild_beside", "build_generation", (None, None, AS_OF)),
        ("redrive_dead_letters", "redrive_letters", (None, None, None)),
        ("deliver_webhooks", "deliver_messages", (AS_OF,)),
    ],
)
def test_an_unknown_tenant_is_refused(
    store: Store, conn: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch,
    module: str, task: str, arguments: tuple[Any, ...],
) -> None:  # fmt: skip
    from resources.failures import checked

    flow = import_module(f"flows.{module}")
    for name in ("show_table", "show_stages"):
        monkeypatch.setattr(flow, name, lambda *_: None, raising=False)
    with pytest.raises(NotFoundError, match=NOBODY):
        checked(getattr(flow, task).fn("nobody", *arguments))
    assert conn.execute("select from ops.generations").fetchall() == []


def test_an_unknown_tenant_fails_the_asset_without_retries(
    log: Store, run_job: Any, conn: psycopg.Connection[Any]
) -> None:
    import dagster as dg

    for tenant, reason in (("nobody", NOBODY), ("acme", "no generation")):
        config = {"config": {"tenant": tenant}}
        selected = "generations" if tenant == "nobody" else "generation_differences"
        with pytest.raises(dg.Failure, match=reason) as raised:
            run_job("generation", None, config={"ops": {selected: config}}, asset_selection=[dg.AssetKey(selected)])
        assert not raised.value.allow_retries
    assert conn.execute("select from ops.generations").fetchall() == []


def test_a_file_of_dead_letters_fails_the_flow(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, database_url: str
) -> None:
    module = import_module("flows.import_history")
    monkeypatch.setattr(module, "Progress", Quiet)
    monkeypatch.setattr(module, "show_table", lambda *_: None)
    remembered: list[str] = []
    monkeypatch.setattr(module, "remember", lambda tenant, _: remembered.append(tenant) or {})
    for name in ("import_turns", "import_rows"):
        monkeypatch.setattr(module, name, getattr(module, name).fn)
    path = tmp_path / "history.jsonl"
    said = {"subject_id": "ana", "session_id": "s1", "role": "user", "said_at": "2026-01-05T09:00:00", "text": "Hi."}
    path.write_text("".join(json.dumps(said | {"text": f"Hello {number}."}) + "\n" for number in range(20)))
    with pytest.raises(StageError, match="More than a tenth of the rows became dead letters for one reason"):
        module.import_history.fn("acme", path)
    monkeypatch.setenv("REVERIE_SOURCE_URL", database_url)
    row = ", ".join(f"'{value}' as {name}" for name, value in said.items() if name != "text")
    monkeypatch.setenv("REVERIE_SOURCE_QUERY", f"select {row}, 'Hello ' || n as text from generate_series(1, 20) n")  # noqa: S608
    with pytest.raises(StageError, match="More than a tenth of the rows"):
        module.import_history.fn("acme")
    assert remembered == ["acme", "acme"], "the other rows are consolidated first"


@pytest.mark.parametrize("name", FLOWS)
def test_mistakes_are_not_retried_and_times_have_an_offset(name: str) -> None:
    from prefect import Task
    from prefect.exceptions import ParameterTypeError

    from resources.connections import is_worth_a_retry

    module = import_module(f"flows.{name}")
    flow = getattr(module, name)
    tasks = [each for each in vars(module).values() if isinstance(each, Task)]
    assert all(each.retry_condition_fn is is_worth_a_retry for each in tasks)
    properties = flow.parameters.properties
    if "as_of" in properties:
        given = dict.fromkeys(flow.parameters.required, "x")
        assert flow.validate_parameters(given | {"as_of": AS_OF})["as_of"] == AS_OF
        with pytest.raises(ParameterTypeError, match="timezone"):
            flow.validate_parameters(given | {"as_of": datetime(2026, 4, 1)})  # noqa: DTZ001


@pytest.mark.parametrize("field", ["people", "weeks"])
def test_a_simulated_year_has_people_and_weeks(field: str) -> None:
    from pydantic import ValidationError

    from assets.simulation import SimulationConfig

    with pytest.raises(ValidationError, match=field):
        SimulationConfig(**{field: 0})
