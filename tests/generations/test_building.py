"""A generation is made by its own policy, and one that was interrupted goes on."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from reverie.inference.reader import shared_reader
from reverie.store.small_models.reader_heads import KeptHead, adopt_head
from tests.generations.conftest import NOW, Ask, Invoke
from tests.inference.test_head import head
from tests.promises.compact import TENANT


def test_another_policy_makes_another_memory(remembered: dict[str, Any], ask: Ask, tmp_path: Any) -> None:
    eager = tmp_path / "eager.toml"
    eager.write_text('base = "reverie"\n[prune]\nbelow = 0.9\nunaccessed_days = 1\n')
    built = ask("rebuild", "--shadow", "--policy", str(eager))
    assert built["sha256"] != remembered["sha256"] and built["policy"] == str(eager)
    assert ask("digest") == remembered


def test_what_was_interrupted_goes_on(
    remembered: dict[str, Any], ask: Ask, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    from reverie.generations import building

    def stops(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(building, "maintain", stops)
        assert invoke("rebuild", "--shadow").exit_code != 0
    assert [(each["number"], each["state"]) for each in ask("generations")["generations"]] == [(1, "building")]
    built = ask("rebuild", "--shadow")
    assert built["number"] == 1 and built["sha256"] == remembered["sha256"]


def test_a_generation_is_read_with_the_tenants_head(
    remembered: dict[str, Any], ask: Ask, conn: psycopg.Connection[Any]
) -> None:
    kept = {"version": "r+1", "reader": shared_reader(1).model, "head": head(2.0).numbers(), "made_at": NOW}
    adopt_head(conn, TENANT, KeptHead(models=["m"], replies=1000, figures={}, **kept))
    rebuilt = ask("rebuild", "--yes")
    assert conn.execute("select distinct reader from memory.extractions where reader <> 'r+1'").fetchall() == []
    assert rebuilt["sha256"] != remembered["sha256"]
    assert ask("rebuild", "--shadow")["sha256"] == rebuilt["sha256"]
