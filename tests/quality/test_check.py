"""A check of all tenants: well, with little history, in words, and without anybody's words."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from reverie.errors import SettingsError, StageError
from reverie.quality import check as checking
from reverie.quality.gates import GATES
from tests.quality.conftest import AS_OF, Check, live

Conn = psycopg.Connection[Any]


def test_even_weeks_pass_every_gate(healthy: Conn, check: Check) -> None:
    found = check()
    assert list(found) == [gate.name for gate in GATES]
    assert [result.failures for result in found.values()] == [()] * len(GATES)
    assert all(result.passed and result.compared == result.measures > 0 for result in found.values())
    assert {result.note for result in found.values()} == {""}


def test_a_second_check_at_the_same_time_replaces_the_first(healthy: Conn, check: Check) -> None:
    check("discards")
    rows = healthy.execute("select count(*) from ops.measures").fetchone()
    assert check("discards")["discards"].passed
    assert healthy.execute("select count(*) from ops.measures").fetchone() == rows


def test_without_tenants_nothing_is_measured(check: Check) -> None:
    found = check()
    assert all(result.passed and result.measures == 0 for result in found.values())
    assert found["discards"].note == "nothing to measure"


def test_little_history_is_told_and_passes(conn: Conn, check: Check) -> None:
    live(conn)
    conn.execute("delete from log.turns where said_at < %s", [AS_OF - timedelta(weeks=3)])
    conn.execute("update memory.extractions set reason = 'no_rule'")
    result = check("discards")["discards"]
    assert (result.passed, result.compared, result.note) == (True, 0, "not enough history")


def test_each_tenant_has_its_own_past_and_the_failing_one_is_named(healthy: Conn, check: Check) -> None:
    live(healthy, "beta")
    healthy.execute("insert into ops.tenants (tenant_id) values ('idle')")
    healthy.execute("update memory.extractions set reason = 'question' where tenant_id = 'beta'")
    healthy.execute(
        "update memory.extractions x set reason = 'small_talk' from log.turns t "
        "where t.tenant_id = 'acme' and (t.tenant_id, t.id) = (x.tenant_id, x.turn_id) and t.said_at > %s",
        [AS_OF - timedelta(days=7)],
    )
    result = check("discards")["discards"]
    assert not result.passed
    assert result.tenants == ("acme",)
    assert result.failures == (
        "Tenant acme: 100 % of turns were discarded as small_talk in the last 7 days; 25 % in the 8 weeks before.",
        "Tenant acme: 0 % of turns gave memories in the last 7 days; 50 % in the 8 weeks before.",
        "Tenant acme: 0 % of turns were discarded as no_rule in the last 7 days; 25 % in the 8 weeks before.",
    )
    worst = result.observed[0]
    assert (worst.part, worst.value) == ("small_talk", 1.0)
    assert worst.low is not None and worst.high is not None and 0 < worst.low < 0.25 < worst.high < 1
    assert check("discards", tenants=["beta"])["discards"].passed


def test_a_tenant_whose_clock_stands_is_checked_at_its_time(healthy: Conn, check: Check) -> None:
    healthy.execute("update ops.tenants set clock_at = %s", [AS_OF])
    later = check("discards", "lag", at=AS_OF + timedelta(days=400))
    assert later["discards"].compared == 3
    assert later["lag"].passed


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


def test_the_extra_is_named_where_it_is_missing(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "find_spec", lambda name: None)
    with pytest.raises(SettingsError, match=r"pip install 'reverie\[quality\]'"):
        checking.check_memory(store, "", AS_OF)


def test_what_cannot_be_evaluated_is_no_verdict(healthy: Conn, check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    unfit = "select tenant_id, part, 'x' as deviation from ops.measures"
    broken = {"validated": f"{unfit} where tenant_id = any(%(tenants)s) and %(check_id)s is not null"}
    monkeypatch.setattr(checking, "queries", lambda stem: broken)
    with pytest.raises(StageError, match="^Great Expectations could not evaluate the gate discards\\.$"):
        check("discards")
