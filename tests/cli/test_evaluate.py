"""`reverie evaluate`, and the gate of `policy use`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest

from reverie.capture.history.importing import import_file
from reverie.drive.cycle import catch_up, ingest
from reverie.inference import load_embedder
from reverie.model import Scope
from reverie.policy import load_policy
from reverie.store.database import Store
from reverie.store.work import Work
from reverie.testing import DatabaseFactory, database_name
from tests.cli.conftest import Invoke
from tests.evaluate.test_references import EARLIER, FILLER

POLICY = """base = "reverie"
[evaluation]
shared_rarity = 2.0
fewest = 1
"""
LATE = "My golden retriever Bruno had a bath."


@pytest.fixture(scope="module")
def templates() -> dict[str, str]:
    return {"policy": "worked_in"}


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The tenant's policy file; its log has one message that refers back."""
    path = tmp_path_factory.mktemp("evaluate") / "present.toml"
    path.write_text(POLICY)
    return str(path)


@pytest.fixture(scope="module")
def worked_in(policy: str, database_factory: DatabaseFactory) -> Iterator[str]:
    """The name of a database with the tenant: to copy."""
    history = Path(policy).with_name("turns.jsonl")
    said = [(text, "s1", "2026-03-01") for text in (EARLIER, *FILLER)] + [(LATE, "s2", "2026-03-09")]
    rows = [
        {"subject_id": "ann", "session_id": session, "source_id": str(number), "role": "user", "text": text,
         "said_at": f"{date}T09:{number:02d}:00Z"}
        for number, (text, session, date) in enumerate(said, 1)
    ]  # fmt: skip
    history.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    with database_factory.migrated() as url:
        with Store.open(url, size=1) as store:
            import_file(store, history, tenant_id="acme", policy=policy)
            work = Work(
                store=store,
                scope=Scope(tenant_id="acme"),
                policy=load_policy(policy),
                as_of=datetime(2026, 6, 1, tzinfo=UTC),
                embedder=load_embedder("minilm", threads=1),
            )
            assert [*ingest(work), *catch_up(work)]
        yield database_name(url)


@pytest.fixture
def blind(tmp_path: Path) -> str:
    path = tmp_path / "blind.toml"
    path.write_text(f"{POLICY}[recall]\ntoken_budget = 0\n")
    return str(path)


def test_numbers_are_printed_stored_and_plotted(
    policy: str, ask: Callable[..., dict[str, Any]], conn: psycopg.Connection[Any], tmp_path: Path
) -> None:
    page = tmp_path / "report.html"
    found = ask("evaluate", "--html", str(page), "--no-ablations", "--limit", "5")
    assert found["policy_hash"] == load_policy(policy).hash, "the limit is no number of the policy"
    assert found["questions"] == 1 and found["measures"]["recall_10"] == 1.0
    assert "question" not in found["answers"][0], "texts are for those who ask"
    assert conn.execute("select questions, driver from ops.evaluations").fetchall() == [(1, "reverie")]
    assert "retriever" not in page.read_text() and "Plotly.newPlot" in page.read_text()


def test_a_report_that_cannot_be_written_is_told_after_the_numbers(invoke: Invoke, policy: str, tmp_path: Path) -> None:
    result = invoke("evaluate", "--html", str(tmp_path / f"{'x' * 300}.html"), "--no-ablations", "--no-record")
    assert result.exit_code == 2 and "cannot be written: File name too long" in result.stderr
    assert "What recall finds" in result.stdout


def test_the_gate_stops_a_policy_that_finds_less(
    policy: str, blind: str, invoke: Invoke, conn: psycopg.Connection[Any]
) -> None:
    refused = invoke("evaluate", "--no-record", "--no-ablations", "--show-questions", "--against", blind, "--gate")
    assert refused.exit_code == 11 and "recall_10 1.000 to 0.000" in refused.output
    for shown in ("What recall finds", "context utilisation", f"Against {blind}", LATE):
        assert shown in refused.output
    assert conn.execute("select count(*) from ops.evaluations").fetchone() == (0,)
    refused = invoke("policy", "use", blind, "--gate")
    assert refused.exit_code == 11 and "Quality falls" in refused.output
    assert conn.execute("select policy from ops.tenants").fetchone() == (policy,)
    assert invoke("policy", "use", policy, "--gate").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--gate"], "--gate needs --against"),
        (["--rebuilt"], "--rebuilt needs --against"),
        (["--tenant", "nobody"], "There is no tenant 'nobody'"),
    ],
)
def test_wrong_usage_is_one_sentence(invoke: Invoke, arguments: list[str], message: str) -> None:
    result = invoke("evaluate", *arguments)
    assert result.exit_code in (2, 6) and message in result.output and "Traceback" not in result.output


def test_each_part_is_left_out(invoke: Invoke, policy: str) -> None:
    found = invoke("evaluate", "--policy", policy, "--ablate", "--no-ablations", "--no-record")
    assert found.exit_code == 0, found.output
    assert "What each part is worth" in found.stdout
    for part in ("pass currency", "pass one_place", "signal similarity", "kind fact", "kind summary"):
        assert part in found.stdout
    assert "too few to tell" in found.stdout
    parts = json.loads(invoke("evaluate", "--policy", policy, "--ablate", "--no-record", "--json").stdout)["parts"]
    assert {"changed", "worth"} == set(parts["without the pass currency"])
