"""A check of all tenants: well, with little history, in words, and without anybody's words."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from reverie.errors import SettingsError
from reverie.installing import install_command
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


def test_a_policy_that_cannot_be_read_hides_no_other_tenant(healthy: Conn, check: Check) -> None:
    healthy.execute("insert into ops.tenants (tenant_id, policy) values ('aaa', 'moved.toml')")
    healthy.execute("update memory.moods set mood = 'angry' where said_at > %s", [AS_OF - timedelta(days=7)])
    found = check("moods", "discards")
    assert not found["moods"].passed and found["moods"].tenants == ("acme", "aaa")
    assert len(found["moods"].failures) == 5 and "angry" in found["moods"].failures[0]
    assert (found["discards"].passed, found["discards"].tenants) == (False, ("aaa",))
    (sentence,) = found["discards"].failures
    assert sentence.startswith("Tenant aaa was not measured: ") and "moved.toml" in sentence
    assert check("discards", tenants=["acme"])["discards"].passed


def test_the_extra_is_named_where_it_is_missing(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "find_spec", lambda name: None)
    with pytest.raises(SettingsError, match=re.escape(install_command("quality"))):
        checking.check_memory(store, "", AS_OF)
