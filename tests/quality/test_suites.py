"""Data docs hold nobody's words, and what cannot be evaluated is no verdict."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg
import pytest

from reverie.errors import StageError
from reverie.quality import check as checking
from reverie.quality.gates import GATES
from tests.quality.conftest import Check

Conn = psycopg.Connection[Any]


def test_data_docs_hold_nobodys_words(healthy: Conn, check: Check, tmp_path: Path, database_url: str) -> None:
    word = "zanzibarlich"
    for column in ("text", "speaker", "source_id", "session_id", "subject_id"):
        healthy.execute(f"update log.turns set {column} = '{word} ' || id")  # noqa: S608
    healthy.execute("update memory.memories set content = %s, subject_id = %s, topic = %s", [word] * 3)
    healthy.execute("update log.recalls set question = %s, subject_id = %s, item_ids = '{}'", [word] * 2)
    healthy.execute("update memory.vectors set vec = '[3,4]', subject_id = %s", [word])
    found = check(docs=tmp_path / "docs")
    assert {name for name, result in found.items() if not result.passed} == {"vector_norms"}
    files = [path for path in (tmp_path / "docs").rglob("*") if path.is_file()]
    pages = [path for path in files if path.suffix == ".html"]
    assert len(pages) > len(GATES)
    password = psycopg.conninfo.conninfo_to_dict(database_url).get("password") or "no password"
    for path in files:
        content = path.read_bytes()
        assert word.encode() not in content, path
        assert str(password).encode() not in content, path
    # and do say what failed
    norms = [page.read_text() for page in pages if "vector_norms" in str(page) and "validations" in str(page)]
    assert any("acme" in page and "Failed" in page for page in norms)


def test_what_cannot_be_evaluated_is_no_verdict(healthy: Conn, check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    unfit = "select tenant_id, part, 'x' as deviation from ops.measures"
    broken = {"validated": f"{unfit} where tenant_id = any(%(tenants)s) and %(check_id)s is not null"}
    monkeypatch.setattr(checking, "queries", lambda stem: broken)
    with pytest.raises(StageError, match="^Great Expectations could not evaluate the gate discards\\.$"):
        check("discards")
