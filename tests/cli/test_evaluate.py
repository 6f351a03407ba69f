"""`reverie evaluate`, and the gates of `policy use` and `rebuild`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.cli.conftest import Invoke
from tests.evaluate.test_references import EARLIER, FILLER
from tests.recall.conftest import Corpus, day

POLICY = """base = "reverie"
[evaluation]
shared_rarity = 2.0
fewest = 1
"""
LATE = "My golden retriever Bruno had a bath."


@pytest.fixture
def policy(conn: psycopg.Connection[Any], tmp_path: Path) -> str:
    """The tenant's policy file; its log has one message that refers back."""
    corpus = Corpus(conn)
    for number, text in enumerate((EARLIER, *FILLER)):
        corpus.turn(text, at=day(number / 100), session="s1")
    corpus.turn(LATE, at=day(5), session="s2")
    path = tmp_path / "present.toml"
    path.write_text(POLICY)
    conn.execute("update ops.tenants set policy = %s", [str(path)])
    return str(path)


@pytest.fixture
def blind(tmp_path: Path) -> str:
    path = tmp_path / "blind.toml"
    path.write_text(f"{POLICY}[recall]\ntoken_budget = 0\n")
    return str(path)


def test_numbers_are_printed_stored_and_plotted(
    policy: str, ask: Callable[..., dict[str, Any]], invoke: Invoke, conn: psycopg.Connection[Any], tmp_path: Path
) -> None:
    page = tmp_path / "report.html"
    found = ask("evaluate", "--html", str(page), "--no-ablations")
    assert found["questions"] == 1 and found["measures"]["recall_10"] == 1.0
    assert "question" not in found["answers"][0], "texts are for those who ask"
    assert conn.execute("select questions, driver from ops.evaluations").fetchall() == [(1, "reverie")]
    assert "retriever" not in page.read_text() and "Plotly.newPlot" in page.read_text()
    said = invoke("evaluate", "--no-record", "--show-questions", "--no-ablations")
    assert said.exit_code == 0, said.output
    assert "What recall finds" in said.output and "context utilisation" in said.output and LATE in said.output
    assert conn.execute("select count(*) from ops.evaluations").fetchone() == (1,)


def test_the_gate_stops_a_policy_that_finds_less(
    policy: str, blind: str, invoke: Invoke, conn: psycopg.Connection[Any]
) -> None:
    refused = invoke("evaluate", "--no-record", "--no-ablations", "--against", blind, "--gate")
    assert refused.exit_code == 11 and "recall_10 1.000 to 0.000" in refused.output
    assert f"Against {blind}" in refused.output
    refused = invoke("policy", "use", blind, "--gate")
    assert refused.exit_code == 11 and "Quality falls" in refused.output
    assert conn.execute("select policy from ops.tenants").fetchone() == (policy,)
    taken = invoke("policy", "use", policy, "--gate")
    assert taken.exit_code == 0 and "find no less" in taken.output


def test_the_gate_of_rebuild_empties_nothing_if_less_is_found(
    policy: str, blind: str, invoke: Invoke, conn: psycopg.Connection[Any]
) -> None:
    kept = conn.execute("select count(*) from memory.items").fetchone()
    refused = invoke("rebuild", "--yes", "--gate", "--policy", blind, "--as-of", "2026-06-01")
    assert refused.exit_code == 11, refused.output
    assert conn.execute("select count(*) from memory.items").fetchone() == kept


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--gate"], "--gate needs --against"),
        (["--rebuilt"], "--rebuilt needs --against"),
        (["--against", "nonsense"], "nonsense"),
        (["--tenant", "nobody"], "There is no tenant 'nobody'"),
        (["--questions", "none.jsonl"], "none.jsonl cannot be read"),
    ],
)
def test_wrong_usage_is_one_sentence(policy: str, invoke: Invoke, arguments: list[str], message: str) -> None:
    result = invoke("evaluate", *arguments)
    assert result.exit_code not in (0, 1) and message in result.output and "Traceback" not in result.output


def test_a_file_of_questions(policy: str, ask: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    asked = {"question": "Which dog?", "subject_id": "ann", "evidence": [["s1", "1"]]}
    path.write_text(f"{json.dumps(asked)}\n{json.dumps(asked | {'evidence': [['s9', '1']]})}\n")
    found = ask("evaluate", "--questions", str(path), "--no-ablations", "--show-questions")
    assert (found["questions"], found["left_out"], found["source"]) == (1, 1, "mine.jsonl")
    assert found["answers"][0]["question"] == "Which dog?"
