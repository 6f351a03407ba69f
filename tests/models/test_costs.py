"""`reverie costs`: who spent what, and what may still be spent."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from click.testing import CliRunner, Result

from reverie.cli.root import reverie
from tests.models.conftest import GOOD_USD, Conn, Server, calls, inputs

Invoke = Callable[..., Result]

pytestmark = pytest.mark.filterwarnings("ignore:Item 'summary' on TypedDict:UserWarning")


@pytest.fixture
def invoke(database_url: str, conn: Conn) -> Invoke:
    """Run a command against this test's database."""
    conn.execute("insert into ops.tenants (tenant_id) values ('acme')")
    environment = {"DATABASE_URL": database_url, "REVERIE_TENANT": "acme"}
    return lambda *arguments: CliRunner(env=environment).invoke(reverie, ["costs", *arguments])


def test_who_spent_what_is_told(invoke: Invoke, put: Any, server: Server, conn: Conn) -> None:
    server.script({"status": 500})
    put(inputs("a", "b"), concurrency=1)
    told = json.loads(invoke("--json").stdout)["tenants"][0]
    (row,) = told["costs"]
    assert (row["stage"], row["model"], row["calls"], row["failed"]) == ("test", "litellm/openai/ours", 3, 1)
    assert (row["tokens_in"], row["tokens_out"]) == (200, 40)
    assert told["total"]["cost_usd"] == pytest.approx(2 * GOOD_USD) and told["credit"] is None
    by_run = json.loads(invoke("--by-run", "--json").stdout)["tenants"][0]["costs"]
    assert [row["run_id"] for row in by_run] == ["00000000-0000-0000-0000-000000000007"]
    shown = invoke().stdout
    assert "0.400000" in shown and "unlimited" in shown
    assert json.loads(invoke("--since", "2199-01-01", "--json").stdout)["tenants"][0]["costs"] == []


def test_a_credit_is_set_and_lifted(invoke: Invoke) -> None:
    assert "$2.500000" in invoke("credit", "acme", "2.5").stdout
    assert json.loads(invoke("--all-tenants", "--json").stdout)["tenants"][0]["credit"]["balance_usd"] == 2.5
    assert "$2.500000" in invoke().stdout
    assert invoke("credit", "acme", "none").exit_code == 0
    assert json.loads(invoke("--json").stdout)["tenants"][0]["credit"] is None


@pytest.mark.parametrize("amount", ["lots", "-1", "nan", "inf"])
def test_what_is_no_amount_is_said_so(invoke: Invoke, amount: str) -> None:
    result = invoke("credit", "--", "acme", amount)
    assert result.exit_code == 2 and "an amount such as 5" in result.stderr


def test_a_tenant_that_is_none_gets_no_credit(invoke: Invoke) -> None:
    result = invoke("credit", "nobody", "5")
    assert result.exit_code == 6 and "There is no tenant 'nobody'" in result.stderr


def test_a_subjects_credit_limits_what_is_asked_about_it(invoke: Invoke, put: Any, server: Server, conn: Conn) -> None:
    """Agent 2.2: by user. Both credits are charged, and neither where one of them is not enough."""
    assert "ana" in invoke("credit", "acme", "5", "--subject", "ana").stdout
    assert invoke("credit", "acme", "100").exit_code == 0
    assert invoke("credit", "acme", "0", "-s", "bob").exit_code == 0
    asked = [*inputs("a", "b"), *inputs("a", subject="bob"), *inputs("a", subject="eve")]
    reasons = [answer.reason for answer in put(asked, per_request=4, concurrency=1)]
    assert reasons == [None, None, "credit", None]
    spent = GOOD_USD
    report = json.loads(invoke("--by-subject", "--json").stdout)["tenants"][0]
    assert {(row["subject_id"], row["calls"]) for row in report["costs"]} == {("ana", 1), ("eve", 1)}
    assert report["credit"]["balance_usd"] == pytest.approx(100 - 2 * spent)
    left = {each["subject_id"]: each["balance_usd"] for each in report["subject_credits"]}
    assert left == {"ana": pytest.approx(5 - spent), "bob": 0}
    only = json.loads(invoke("--subject", "ana", "--json").stdout)["tenants"][0]
    assert only["total"]["calls"] == 1 and only["credit"] == report["credit"], "it must be within both credits"
    assert [each["subject_id"] for each in only["subject_credits"]] == ["ana"]
    assert "unlimited" not in invoke("--subject", "ana").stdout
    shown = invoke("--by-subject").stdout
    assert "left for bob" in shown and "eve" in shown
    assert invoke("credit", "acme", "none", "-s", "bob").exit_code == 0
    assert [answer.reason for answer in put(inputs("a", subject="bob"))] == [None]


def test_without_a_subjects_credit_requests_are_shared(put: Any, server: Server, conn: Conn) -> None:
    put([*inputs("a"), *inputs("a", subject="bob")], per_request=4)
    assert calls(conn, "subject_id, items") == [(None, 2)]


def test_nothing_spent_is_said_so(invoke: Invoke) -> None:
    assert "Nothing was spent on models for tenant acme." in invoke().stdout


def test_kept_replies_about_a_subject_are_forgotten(invoke: Invoke, put: Any, server: Server, conn: Conn) -> None:
    put(inputs("a", "b"))
    put(inputs("a", subject="bob"))
    put(inputs("a"), tenant="other")
    turn = str(UUID(int=1))  # of "b"
    assert json.loads(invoke("forget", "ana", "--source", turn, "--json").stdout)["replies"] == 1
    server.script()
    assert [answer.kept for answer in put(inputs("a", "b"))] == [True, False]
    assert "Deleted 2 stored replies about ana" in invoke("forget", "ana").stdout
    left = conn.execute("select tenant_id, subject_id from ops.replies order by 1").fetchall()
    assert left == [("acme", "bob"), ("other", "ana")]
    assert invoke("forget", "ana", "--source", "me").exit_code == 2


def test_options_of_the_group_hold_for_its_commands(invoke: Invoke, put: Any, server: Server, conn: Conn) -> None:
    conn.execute("insert into ops.tenants (tenant_id) values ('other')")
    put(inputs("a"))
    put(inputs("a"), tenant="other")
    deleted = json.loads(invoke("--tenant", "other", "--json", "forget", "ana").stdout)
    assert (deleted["tenant_id"], deleted["replies"]) == ("other", 1)
    assert conn.execute("select tenant_id from ops.replies").fetchall() == [("acme",)]
    assert "Deleted 1 stored replies" in invoke("--tenant", "other", "forget", "ana", "--tenant", "acme").stdout
    assert json.loads(invoke("--json", "credit", "acme", "5").stdout)["balance_usd"] == 5
    assert json.loads(invoke("-s", "ana", "--json", "credit", "acme", "7").stdout)["subject_id"] == "ana"
    assert conn.execute("select balance_usd from ops.credits").fetchall() == [(5,)], "the tenant's own is not changed"
    assert conn.execute("select subject_id, balance_usd from ops.subject_credits").fetchall() == [("ana", 7)]
    for arguments, option in (
        (["-s", "ana", "forget", "bob"], "--subject"),
        (["--by-run", "credit", "acme", "5"], "--by-run"),
    ):
        refused = invoke(*arguments)
        assert refused.exit_code == 2 and f"does not take {option}." in refused.stderr
    refused = invoke("--all-tenants", "forget", "ana")
    assert refused.exit_code == 2 and "takes one tenant" in refused.stderr
