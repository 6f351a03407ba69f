"""`reverie show`: memories, facts and scaffold of a subject."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

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
    assert "pet:bruno ×2" in text  # the repeat that was merged is not counted again
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
    assert "worded by rules" in " ".join(invoke("explain", str(world["loves"])).stdout.split())
    assert "patterns and summaries: 1 worded by litellm/ours" in " ".join(invoke("doctor").stdout.split())


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


def test_show_as_of_a_past_time_has_what_stood_then(ask, invoke, world, conn) -> None:
    """Loves Bruno: from day 0 to day 2; a walk is told on day 2."""
    conn.execute(
        "update memory.memories set state = 'superseded', valid_from = %s, valid_to = %s, superseded_by = %s"
        " where id = %s",
        [START, START + timedelta(days=2), world["walked"], world["loves"]],
    )

    def shown(*options: str) -> list[tuple[str, str]]:
        memories = ask("show", "ana", *options)["subject"]["memories"]
        return sorted((each["content"].replace("\n", " "), each["state"]) for each in memories)

    assert shown("--as-of", "2026-03-02") == [("Loves Bruno", "active")]
    assert "[until" not in invoke("show", "ana", "--as-of", "2026-03-02", "--all").stdout
    conn.execute("update memory.memories set ended_by = %s where id = %s", [world["said"], world["loves"]])
    announced = "an end that is announced is told before it comes"
    assert "[until 2026-03-03]" in invoke("show", "ana", "--as-of", "2026-03-02").stdout, announced
    assert shown("--as-of", "2026-03-04") == shown() == [("Walked Bruno", "active")]
    everything = [("Adores Bruno", "merged"), ("Loves Bruno", "superseded"), ("Walked Bruno", "active")]
    assert shown("--all", "--as-of", "2026-03-04") == everything
