"""A new tenant's policy is stored by its full path, so that processes in other folders load the same file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reverie.policy import load_policy
from reverie.runtime import Runtime
from reverie.store.database import Store


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A policy of the user's own, which the environment names from the present folder."""
    path = tmp_path / "mine.toml"
    path.write_text('base = "reverie"\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REVERIE_POLICY", "./mine.toml")
    return path


def test_the_flow_that_imports_a_file(store: Store, mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from flows import import_history

    history = mine.with_name("history.csv")
    history.write_text("subject_id,session_id,role,said_at,text\nana,s1,user,2026-03-01T09:00:00Z,I live in Oslo.\n")

    class Quiet:
        def __init__(self, *_: Any) -> None: ...
        def show(self, *_: Any) -> None: ...

    monkeypatch.setattr(import_history, "Progress", Quiet)
    monkeypatch.setattr(import_history, "show_table", lambda *_: None)
    assert import_history.import_turns.fn("late", history, {})[0]["imported"] == 1
    assert dict(store.tenants())["late"] == str(mine)


def test_a_source(store: Store, database_url: str, mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from resources.source import import_source

    row = "'ana' subject_id, 's1' session_id, 'user' as role, '2026-03-01T09:00Z' said_at, 'I live in Oslo.' as text"
    monkeypatch.setenv("REVERIE_SOURCE_URL", database_url)
    monkeypatch.setenv("REVERIE_SOURCE_QUERY", f"select {row}")
    with Runtime() as runtime:
        assert import_source(runtime, "late")[1].imported == 1
    assert dict(store.tenants())["late"] == str(mine)


def test_a_generation(store: Store, mine: Path) -> None:
    from resources.generations import plan_of

    with Runtime() as runtime:
        plan = plan_of(runtime, "acme", mine.name, None)
    assert (plan.policy_name, plan.policy.hash) == (str(mine), load_policy(str(mine)).hash)
