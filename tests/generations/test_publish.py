"""`reverie publish`: the generation is live, with all that came in since; --revert brings back what it replaced."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from reverie.cli.generations.publish import in_canary
from tests.generations.conftest import AS_OF, Ask, Invoke
from tests.promises import compact

LATER = (compact.UNTIL.replace(hour=20)).isoformat()


@pytest.fixture
def forgetful(tmp_path: Path) -> str:
    """A policy that forgets most."""
    path = tmp_path / "forgetful.toml"
    path.write_text('base = "reverie"\n[prune]\nbelow = 1.0\nunaccessed_days = 0\nactive_days = 0\n')
    return str(path)


def say(invoke: Invoke, folder: Path, source: str, text: str, at: str = AS_OF, subject: str = "ana") -> None:
    record = {
        "subject_id": subject,
        "session_id": "new",
        "source_id": source,
        "role": "user",
        "text": text,
        "said_at": at,
    }
    (folder / "new.jsonl").write_text(json.dumps(record) + "\n")
    assert invoke("import", str(folder / "new.jsonl")).exit_code == 0


def test_a_generation_is_published_with_what_came_in_since_and_reverted(
    remembered: dict[str, Any], ask: Ask, invoke: Invoke, conn: psycopg.Connection[Any], forgetful: str, tmp_path: Path
) -> None:
    ask("rebuild", "--shadow", "--policy", forgetful)
    # meanwhile: a correction, a turn, and a run that works them in
    memory = conn.execute("select id from memory.memories where content ilike '%Pune%' and kind = 'fact'").fetchone()
    memory = memory or conn.execute("select id from memory.memories where state = 'active' order by id").fetchone()
    assert memory and invoke("correct", str(memory[0]), "--replace", "My sister lives in Goa").exit_code == 0
    say(invoke, tmp_path, "n1", "I have a parrot called Coco.")
    assert ask("run")["failed"] == {}
    before = ask("digest")

    (done,) = ask("publish")["switched"]
    assert done["verb"] == "publish" and done["rows"] > 0 and done["attempts"] == 1
    live = ask("digest")
    (generation,) = ask("generations")["generations"]
    assert live["sha256"] == generation["sha256"] != before["sha256"]
    assert generation["state"] == "published" and generation["lock_seconds"] < 1
    assert conn.execute("select policy from ops.tenants").fetchone() == (forgetful,)
    applied = "select count(*) from memory.corrected", "select count(*) from log.corrections"
    assert conn.execute(applied[0]).fetchone() == conn.execute(applied[1]).fetchone() == (1,)
    assert conn.execute(
        "select count(*) from log.turns t left join memory.extractions e on e.turn_id = t.id where e.turn_id is null"
    ).fetchone() == (0,)
    known = (
        "select count(*) from memory.memories m left join ops.runs r using (tenant_id, run_id) where r.stage is null"
    )
    assert conn.execute(known).fetchone() == (0,), "the ledger has the runs that wrote it"
    ask("run")
    assert ask("digest") == live, "the next run finds nothing to do"

    (back,) = ask("publish", "--revert")["switched"]
    assert back["verb"] == "revert"
    assert ask("digest")["sha256"] == before["sha256"]
    assert conn.execute("select policy from ops.tenants").fetchone() == ("reverie",)
    assert invoke("publish", "--revert").exit_code == 6
    (again,) = ask("publish", "--generation", "1")["switched"]
    # not the same rows: the subject was late and is made again, which joins its posting lists
    assert again["tables"] == done["tables"] and ask("digest")["sha256"] == live["sha256"]


def test_a_second_publish_is_reverted_to_what_that_one_replaced(
    remembered: dict[str, Any], ask: Ask, invoke: Invoke, conn: psycopg.Connection[Any], forgetful: str, tmp_path: Path
) -> None:
    ask("rebuild", "--shadow", "--policy", forgetful)
    ask("publish")
    ask("publish", "--revert")
    (third := tmp_path / "third.toml").write_text('base = "reverie"\n[prune]\nbelow = 0.9\nunaccessed_days = 1\n')
    assert invoke("policy", "use", str(third)).exit_code == 0
    replaced = ask("rebuild", "--yes")
    ask("publish", "--generation", "1")
    ask("publish", "--revert")
    assert conn.execute("select policy from ops.tenants").fetchone() == (str(third),)
    assert ask("digest")["sha256"] == replaced["sha256"] != remembered["sha256"]


def test_a_revert_has_what_came_in_after_the_publish(
    remembered: dict[str, Any], ask: Ask, invoke: Invoke, forgetful: str, tmp_path: Path
) -> None:
    ask("rebuild", "--shadow", "--policy", forgetful)
    ask("publish")
    assert invoke("clock", "--stop-at", LATER).exit_code == 0
    say(invoke, tmp_path, "n1", "I have a parrot called Coco.", LATER)
    assert ask("run")["failed"] == {}
    ask("publish", "--revert")
    reverted = ask("digest")
    assert ask("rebuild", "--yes")["sha256"] == reverted["sha256"], "as if the generation had never been live"


def test_a_late_outcome_is_worked_into_a_generation_at_its_time(
    remembered: dict[str, Any], ask: Ask, invoke: Invoke, tmp_path: Path
) -> None:
    ask("rebuild", "--shadow")
    late: dict[str, Any] = {"subject_id": "ana", "session_id": "ana-1", "source_id": "t2"}
    late |= {"type": "outcome", "metric": "saves", "value": 9, "positive": True}
    late["observed_at"] = (compact.START + timedelta(days=12)).isoformat()
    (tmp_path / "late.jsonl").write_text(json.dumps(late))
    assert invoke("import", str(tmp_path / "late.jsonl")).exit_code == 0
    ask("publish")
    published = ask("digest")
    assert published["sha256"] != remembered["sha256"]
    assert ask("rebuild", "--yes")["sha256"] == published["sha256"]


def test_what_was_replaced_is_kept_for_a_time(
    remembered: dict[str, Any], ask: Ask, invoke: Invoke, conn: psycopg.Connection[Any]
) -> None:
    ask("rebuild", "--shadow")
    (done,) = ask("publish")["switched"]
    assert done["rows"] == 0, "the same memory"
    assert invoke("generations", "--drop-ended").stdout == "Dropped: none.\n"
    conn.execute("update ops.generations set kept_until = now() - interval '1 hour'")
    refused = invoke("publish", "--revert")
    assert refused.exit_code == 6
    assert [each["state"] for each in ask("generations")["generations"]] == ["dropped"]


def test_a_source_left_out_is_not_published(remembered: dict[str, Any], ask: Ask, invoke: Invoke) -> None:
    ask("rebuild", "--shadow", "--without-source", "system_learned")
    refused = invoke("publish")
    assert refused.exit_code == 2 and "can be compared" in refused.output
    assert ask("digest") == remembered


def test_the_gate_refuses_what_changes_too_many_answers(
    remembered: dict[str, Any], ask: Ask, invoke: Invoke, tmp_path: Path
) -> None:
    strict, blind = tmp_path / "strict.toml", tmp_path / "blind.toml"
    strict.write_text('base = "reverie"\n[publish]\nfewest = 1\nmost_changed = 0.0\n')
    blind.write_text('base = "reverie"\n[recall]\ntoken_budget = 0\n')
    assert invoke("policy", "use", str(strict)).exit_code == 0
    assert invoke("recall", "What is my dog called?", "--subject", "ana").exit_code == 0
    ask("rebuild", "--shadow", "--policy", str(blind))
    refused = invoke("publish")
    assert refused.exit_code == 11 and "1 of 1 logged questions" in refused.output
    assert ask("digest") == remembered
    assert ask("publish", "--no-gate")["switched"][0]["number"] == 1


def test_every_tenant_with_a_generation_is_published_one_after_the_other(
    remembered: dict[str, Any], ask: Ask, conn: psycopg.Connection[Any]
) -> None:
    conn.execute("insert into ops.tenants (tenant_id, policy) values ('other', 'reverie')")
    ask("rebuild", "--shadow")
    share = "0" if in_canary(compact.TENANT, 1e-9) else "1e-9"
    assert ask("publish", "--all-tenants", "--canary", share) == {"switched": [], "failed": {}}
    assert [each["tenant_id"] for each in ask("publish", "--all-tenants")["switched"]] == [compact.TENANT]


def test_a_share_of_tenants_is_always_the_same_and_grows() -> None:
    names = [f"tenant-{number}" for number in range(1000)]
    tenth, half = ({name for name in names if in_canary(name, share)} for share in (0.1, 0.5))
    assert tenth < half and 60 < len(tenth) < 140 and 440 < len(half) < 560
    assert all(in_canary(name, 1.0) for name in names) and not any(in_canary(name, 0.0) for name in names)


@contextmanager
def serving(database_url: str) -> Iterator[str]:
    """The address of `reverie serve` over the database."""
    environment = {"DATABASE_URL": database_url, "REVERIE_THREADS": "1", "REVERIE_API_CONNECTIONS": "2"}
    with subprocess.Popen(
        [sys.executable, "-m", "reverie", "serve", "--port", "0", "--json"],
        env=os.environ | environment, stdout=subprocess.PIPE, text=True,
    ) as server:  # fmt: skip
        assert server.stdout is not None
        try:
            yield json.loads("".join(server.stdout.readline() for _ in range(5)))["url"]
        finally:
            server.terminate()


def test_no_request_fails_while_a_generation_is_published_and_reverted(
    remembered: dict[str, Any], ask: Ask, database_url: str, forgetful: str
) -> None:
    ask("rebuild", "--shadow", "--policy", forgetful)
    key = ask("keys", "add", "app")["key"]
    answers: list[tuple[int, int]] = []
    done = threading.Event()

    def ask_on(url: str) -> None:
        with httpx.Client(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=30) as client:
            question = {"subject_id": "ana", "question": "What is my dog called?", "as_of": AS_OF}
            while not done.is_set():
                answer = client.post("/v1/recalls", json=question)
                answers.append((answer.status_code, len(answer.json().get("hits", []))))

    with serving(database_url) as url:
        client = threading.Thread(target=ask_on, args=(url,))
        client.start()
        try:
            (published,) = ask("publish")["switched"]
            (reverted,) = ask("publish", "--revert")["switched"]
        finally:
            done.set()
            client.join()
    assert published["rows"] > 0 and reverted["rows"] > 0
    assert len(answers) > 20 and {status for status, _ in answers} == {200}
    assert all(hits for _, hits in answers), "there is a whole memory at any time"


def test_late_subjects_are_made_again_when_the_memory_in_which_they_are_late_returns(
    remembered: dict[str, Any], ask: Ask, invoke: Invoke, conn: psycopg.Connection[Any], forgetful: str, tmp_path: Path
) -> None:
    late, at = "select subject_id from ops.late_subjects", (compact.START + timedelta(days=1)).isoformat()
    ask("rebuild", "--shadow", "--policy", forgetful)
    say(invoke, tmp_path, "n1", "My dog Bruno loves the park.", at)
    ask("run")
    assert conn.execute(late).fetchall() == [("ana",)]
    ask("publish")
    assert conn.execute(late).fetchall() == [], "the generation has the turn in its place"
    say(invoke, tmp_path, "n2", "I live in Mumbai.", at, subject="ben")
    ask("run")
    assert conn.execute(late).fetchall() == [("ben",)]
    for switch in (("--revert",), ("--generation", "1")):
        ask("publish", *switch)
        assert conn.execute(late).fetchall() == []
        switched = ask("digest")
        assert ask("rebuild", "--yes")["sha256"] == switched["sha256"], "as in event order"


@pytest.mark.parametrize(("first", "second"), [("contact", "reverie"), ("reverie", "contact")])
@pytest.mark.parametrize("is_shadow", [True, False])
def test_corrections_hold_under_another_policy(
    ask: Ask, invoke: Invoke, conn: psycopg.Connection[Any], tmp_path: Path, first: str, second: str, *, is_shadow: bool
) -> None:
    say(invoke, tmp_path, "n1", "I hate cilantro.", at=compact.START.isoformat())
    assert invoke("clock", "--stop-at", AS_OF).exit_code == 0
    assert invoke("rebuild", "--yes", "--policy", first).exit_code == 0
    told = "select id from memory.memories where content ~ 'cilantro' and kind not in ('summary', 'pattern')"
    memories = [str(id_) for (id_,) in conn.execute(told)]
    assert memories
    for id_ in memories:
        assert invoke("correct", id_, "--wrong").exit_code == 0
    assert ask("run")["failed"] == {}
    if is_shadow:
        ask("rebuild", "--shadow", "--policy", second)
        ask("publish", "--no-gate")
    else:
        assert invoke("rebuild", "--yes", "--policy", second).exit_code == 0
    assert conn.execute(told).fetchall() == []
    assert conn.execute("select count(*) > 0 from memory.marks where item = 'turn'").fetchone() == (True,)
    assert "cilantro" not in invoke("recall", "cilantro", "--subject", "ana").stdout
    assert invoke("explain", memories[0]).exit_code == 0
    assert invoke("undo", memories[0]).exit_code == 0
