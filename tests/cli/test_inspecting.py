"""show, explain, undo, runs, digest: what a person sees of memory."""

from __future__ import annotations

import json
from datetime import timedelta
from uuid import UUID

import pytest
from psycopg.types.json import Jsonb

from tests.cli.conftest import RUN, START, insert


def test_show_groups_memory_by_kind(invoke, world) -> None:
    result = invoke("show", "ana", "--as-of", "2026-03-05")
    assert result.exit_code == 0, result.output
    text = result.stdout
    assert "ana: 3 turns in 1 sessions, 2026-03-01 to 2026-03-03" in text
    assert "2 active · 1 merged · 1 forgotten" in text
    assert text.index("episode (1)") < text.index("preference (1)")
    assert "████████·· 0.80" in text
    assert "Loves Bruno" in text
    assert "Adores Bruno" not in text
    assert "Walked Bruno" in text  # on one line
    assert "2027-04-05" in text  # when it will be forgotten
    assert "pet:bruno ×3" in text
    assert "faded" in text
    assert "\x1b" not in text


def test_show_all_has_what_was_replaced(invoke, world) -> None:
    text = invoke("show", "ana", "--all").stdout
    assert "[merged] Adores Bruno" in text
    assert "held" in text


def test_show_fades_importance_to_the_time_asked_for(ask, world) -> None:
    near, far = (ask("show", "ana", "--as-of", when)["subject"]["memories"] for when in ("2026-03-05", "2027-03-05"))
    assert {each["id"] for each in near} == {each["id"] for each in far}
    assert all(one["importance"] > other["importance"] for one, other in zip(near, far, strict=True))


def test_show_has_what_is_known_by_key(invoke, ask, world, conn) -> None:
    whole = {"subject_id": "ana", "category": "identity", "key": "name", "confidence": 1, "importance": 0.8}
    whole |= {"origin": "name", "run_id": RUN, "policy_hash": "p", "memory_id": world["loves"]}
    new, old = UUID(int=2), UUID(int=1)
    insert(conn, "memory.structured_facts", id=new, value="Ana", valid_from=START + timedelta(days=1), **whole)
    until = {"valid_to": START + timedelta(days=1), "replaced_by": new}
    insert(conn, "memory.structured_facts", id=old, value="Anna", valid_from=START, **until, **whole)
    text = invoke("show", "ana", "--as-of", "2026-03-05").stdout
    assert "facts by key (1)" in text and "relationship  new: 1 sessions in 5 days, streak 0" in text
    assert "Anna" not in text
    text = invoke("show", "ana", "--all").stdout
    assert "Anna 1.00 2026-03-01 to 2026-03-02" in " ".join(text.split())
    found = ask("show", "ana", "--as-of", "2026-03-05")
    assert [one["value"] for one in found["structured_facts"]] == ["Ana"]
    assert found["relationship"] == {"stage": "new", "sessions": 1, "days": 5, "streak": 0}


def test_a_summary_names_its_turns_and_whose_words_it_has(invoke, ask, world, conn) -> None:
    number = UUID("019cb0ff-0000-8000-8000-000000000000")
    conn.execute(
        """insert into memory.memories (tenant_id, id, subject_id, kind, state, content, content_hash, base, peak,
               importance, happened_at, accessed_at, decayed_at, session_id, turn_start, turn_end, origin, model,
               run_id, policy_hash, linked, scored)
           select tenant_id, %s, subject_id, 'summary', 'active', 'Of Bruno.', 'x', base, peak, importance, happened_at,
               accessed_at, decayed_at, session_id, 1, 2, 'range', 'litellm/ours', run_id, policy_hash, true, true
           from memory.memories where id = %s""",
        [number, world["loves"]],
    )
    assert "(turns 1-2) Of Bruno." in invoke("show", "ana").stdout
    (shown,) = ask("show", "ana", "--kind", "summary")["subject"]["memories"]
    assert (shown["turn_start"], shown["turn_end"], shown["model"]) == (1, 2, "litellm/ours")
    told = " ".join(invoke("explain", str(number)).stdout.split())
    assert "covers turns 1-2 of session s1" in told and "worded by litellm/ours" in told
    assert "words the rules'" in " ".join(invoke("explain", str(world["loves"])).stdout.split())
    assert "patterns and summaries: 1 in the words of litellm/ours" in " ".join(invoke("doctor").stdout.split())


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


def test_show_as_json(ask, world) -> None:
    found = ask("show", "ana", "--kind", "preference")
    assert found["tenant_id"] == "acme"
    (memory,) = found["subject"]["memories"]
    assert memory["id"] == str(world["loves"])
    assert memory["entities"] == ["pet:bruno"]
    assert memory["forget_at"] == "2027-04-05T09:00:00+00:00"
    assert found["subject"]["states"] == {"active": 2, "merged": 1}
    assert found["subject"]["forgotten"][0]["memory_id"] == str(world["gone"])


def test_show_names_those_there_are(invoke, world) -> None:
    result = invoke("show", "anna")
    assert result.exit_code == 6
    assert result.stderr == "Error: There is no subject 'anna'. Did you mean 'ana'?\n"
    result = invoke("show", "ana", "--tenant", "other")
    assert result.exit_code == 6
    assert "There is no tenant 'other'" in result.stderr


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
        ("bruno", 2, "is no memory's id"),
        ("019cb0", 2, "Several memories begin with 019cb0"),
        ("ffffffff", 6, "has and had no memory ffffffff"),
    ],
)
def test_explain_needs_one_memory(invoke, world, given: str, code: int, says: str) -> None:
    result = invoke("explain", given)
    assert result.exit_code == code
    assert says in result.stderr


def test_explain_keeps_tenants_apart(invoke, world) -> None:
    assert invoke("explain", str(world["loves"]), "--tenant", "other").exit_code == 6


def test_undo_parts_a_merge(invoke, ask, world) -> None:
    first = ask("undo", str(world["adores"])[:23], "--as-of", "2026-03-06")
    assert first["survivor_id"] == str(world["loves"])
    assert ask("undo", str(world["adores"]), "--as-of", "2026-03-06") == first
    assert ask("show", "ana")["subject"]["states"] == {"active": 3}
    result = invoke("undo", str(world["walked"]))
    assert result.exit_code == 6
    assert result.stderr.startswith("Error: No memory")


def test_runs(invoke, ask, world, conn) -> None:
    text = invoke("runs").stdout
    assert "extract" in text
    assert "candidates 4 · turns 3" in text or "turns 3 · candidates 4" in text
    (row,) = ask("runs", "--stage", "extract")["runs"]
    assert row["report"] == {"turns": 3, "candidates": 4}
    assert row["as_of"] == "2026-03-04T09:00:00+00:00"
    assert ask("runs", "--stage", "merge")["runs"] == []
    assert "No runs of tenant other yet" in invoke("runs", "--tenant", "other").stdout


def test_digest(invoke, ask, world, conn) -> None:
    before = ask("digest")
    assert before["memories_rows"] == 3
    assert invoke("digest").stdout.startswith(before["sha256"] + "\n")
    conn.execute("insert into memory.accesses select 'acme', gen_random_uuid(), gen_random_uuid()")
    assert ask("digest")["sha256"] != before["sha256"]
    assert ask("digest", "--tenant", "other")["memories_rows"] == 0


def test_json_is_one_object_and_nothing_else(invoke, world) -> None:
    for command in (["show", "ana"], ["explain", str(world["loves"])], ["runs"], ["digest"], ["dead-letters", "list"]):
        result = invoke(*command, "--json")
        assert isinstance(json.loads(result.stdout), dict)
        assert result.stderr == ""
    assert "2026-03-01T09:00:00+00:00" in invoke("show", "ana", "--json").stdout
