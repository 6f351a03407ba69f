"""`reverie explain`: sources, history and future of a memory."""

from __future__ import annotations

from uuid import UUID

import pytest
from psycopg.types.json import Jsonb

from tests.cli.conftest import RUN, START, insert


def test_a_scaffold_is_shown_and_explained(invoke, ask, world, conn) -> None:
    common = {"subject_id": "ana", "path": ["Role"], "run_id": RUN, "policy_hash": "p", "valid_from": START}
    new, old = UUID("019dd000-0000-8000-8000-000000000001"), UUID("019dd000-0000-8000-8000-000000000002")
    source = {"sources": [world["loves"]], "state": "active", "basis": "said", "confidence": 0.9}
    insert(conn, "memory.scaffold", id=new, value=Jsonb("nurse"), **common, **source)
    against = {"sources": [world["gone"]], "state": "outweighed", "basis": "autonomous", "confidence": 0.7}
    insert(conn, "memory.scaffold", id=old, value=Jsonb("doctor"), replaced_by=new, **common, **against)
    text = invoke("show", "ana", "--as-of", "2026-03-05").stdout
    assert "scaffold (1)" in text and "Role: nurse" in text and "outweighed by said" in text
    found = ask("show", "ana", "--as-of", "2026-03-05")
    assert [one["value"] for one in found["scaffold"]] == ["nurse", "doctor"]
    assert [one["against"] for one in found["conflicts"]] == ["said"] and found["narrative_by"] == "rules"
    text = invoke("explain", str(new)).stdout
    assert "Role: nurse" in text and "based on said" in text and "Loves Bruno" in text and "also stated (1)" in text
    found = ask("explain", str(old)[:36])["entry"]
    assert [(one["source"], one["content"]) for one in found["sources"]] == [("tombstone", "")]
    assert invoke("explain", "019dd000-0000-8000-8000-00000000000").exit_code == 6, "which of the two?"


def test_explain_names_turns_parents_run_and_future(invoke, world) -> None:
    result = invoke("explain", str(world["loves"])[:23])
    assert result.exit_code == 0, result.output
    text = result.stdout
    assert text.startswith("Loves Bruno\n")
    assert str(world["loves"]) in text
    assert "“I love Bruno, my dog.”" in text
    assert "“I adore Bruno!”" in text
    assert "through another memory" in text
    assert "derived from (1 memories)" in text
    assert "0.950" in text
    assert "love, in extract as of 2026-03-04 09:00 (policy reverie)" in text
    assert "0123456789abcdef" in text
    assert "forgotten after 2027-04-05 09:00 unless it is stated again or recalled" in text


@pytest.mark.parametrize(
    ("ends", "says"),
    [
        ("2027-03-05 09:00", "ends on 2027-03-05 09:00; forgotten after 2027-04-05 09:00"),
        ("2027-12-16 09:00", "forgotten after 2027-04-05 09:00 unless it is stated again or recalled"),
    ],
)
def test_explain_says_when_a_memory_with_an_end_goes(invoke, world, conn, ends: str, says: str) -> None:
    conn.execute("update memory.memories set expires_at = %s where id = %s", [f"{ends}+00", world["loves"]])
    text = invoke("explain", str(world["loves"])).stdout
    assert says in text and text.count("forgotten after") == 1


def test_explain_names_the_reader_that_read_the_turn(invoke, ask, world, conn) -> None:
    (turn, *_) = ask("explain", str(world["loves"]))["memory"]["turns"]
    assert turn["read_by"] is None
    conn.execute(
        "insert into memory.extractions (tenant_id, turn_id, subject_id, candidates, reader, run_id)"
        " select tenant_id, id, subject_id, 1, 'reader-0123', %s from log.turns where id = %s"
        " on conflict (tenant_id, turn_id) do update set reader = excluded.reader",
        [RUN, turn["id"]],
    )
    assert ask("explain", str(world["loves"]))["memory"]["turns"][0]["read_by"] == "reader-0123"
    assert ", read by reader-0123" in invoke("explain", str(world["loves"])).stdout


def test_explain_says_how_sure_who_read_it_is(invoke, world, conn) -> None:
    assert "confidence" not in invoke("explain", str(world["loves"])).stdout, "a rule"
    conn.execute("update memory.memories set confidence = 0.7 where id = %s", [world["loves"]])
    assert "0.70, read by the reader" in invoke("explain", str(world["loves"])).stdout
    conn.execute("update memory.memories set origin = 'rest', model = 'judge' where id = %s", [world["loves"]])
    assert "0.70, read by the reader" in invoke("explain", str(world["loves"])).stdout, "of what is left"
    conn.execute("update memory.memories set origin = 'said', model = null where id = %s", [world["loves"]])
    conn.execute("update memory.memories set agreed = 0.94 where id = %s", [world["loves"]])
    said = "0.94, read by the reader and by the language model (0.70 by the reader alone)"
    assert said in " ".join(invoke("explain", str(world["loves"])).stdout.split())


def test_explain_a_merged_one(invoke, world) -> None:
    text = invoke("explain", str(world["adores"])).stdout
    assert "preference, merged" in text
    assert f"kept as long as {str(world['loves'])[:23]}, which replaces it; reverie undo separates them" in text
    assert "led to (1 memories)" in text


def test_explain_outcomes_and_control_characters(invoke, world) -> None:
    text = invoke("explain", str(world["walked"])).stdout
    assert "outcomes (1)" in text
    assert "steps" in text
    assert "9000" in text
    assert "\x1b" not in text
    assert "We�[31m walked Bruno." in text


def test_explain_what_was_forgotten(invoke, ask, world) -> None:
    text = invoke("explain", str(world["gone"])).stdout
    assert text.startswith("Forgotten: an episode. Its content has been deleted.\n")
    assert "2026-04-30 09:00, because it had faded" in text
    assert "“I love Bruno, my dog.”" in text
    found = ask("explain", str(world["gone"]))["memory"]
    assert found["forgotten"] is True
    assert found["run"]["stage"] == "extract"


@pytest.mark.parametrize(
    ("given", "code", "says"),
    [
        ("019c", 2, "give its first 6 hex digits"),
        ("bruno", 2, "is not the id of a memory"),
        ("019cb0", 2, "Several memories begin with 019cb0"),
        ("ffffffff", 6, "has never had a memory ffffffff"),
    ],
)
def test_explain_needs_one_memory(invoke, world, given: str, code: int, says: str) -> None:
    result = invoke("explain", given)
    assert result.exit_code == code
    assert says in result.stderr


def test_explain_keeps_tenants_apart(invoke, world) -> None:
    assert invoke("explain", str(world["loves"]), "--tenant", "other").exit_code == 6
