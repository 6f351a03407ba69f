"""`reverie doctor`, and commands on another schema."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reverie.store.revisions import START_ANEW
from tests.logins import login


def checks(invoke, **options) -> dict[str, list[dict[str, str]]]:
    result = invoke("doctor", "--json", **options)
    found = json.loads(result.stdout)
    assert result.exit_code == (1 if found["fail"] else 0)
    by_name: dict[str, list[dict[str, str]]] = {}
    for check in found["checks"]:
        by_name.setdefault(check["name"], []).append(check)
    return by_name


def test_doctor_finds_all_well(invoke, world) -> None:
    found = checks(invoke)
    assert {name for name, lines in found.items() if lines[0]["status"] != "ok"} <= {"tenant acme"}
    assert {"versions", "database", "pgvector", "roles", "migrations", "row security", "embedder", "policy"} <= set(
        found
    )
    assert found["roles"][0]["found"] == "owner, worker, reader, analyst and eraser"
    text = invoke("doctor").stdout
    assert "\nok   migrations" in text
    assert "\nok   tenant acme" in text, "what was recorded just now waits for its cycle"


def test_doctor_names_what_waits(invoke, world, conn) -> None:
    conn.execute("insert into ops.dead_letters (tenant_id, id, source, reason, detail) "
                 "values ('acme', gen_random_uuid(), 'x', 'y', 'z')")  # fmt: skip
    conn.execute("update ops.runs set status = 'failed'")
    conn.execute("update log.turns set recorded_at = recorded_at - interval '2 days'")
    found = {check["found"]: check["todo"] for check in checks(invoke)["tenant acme"]}
    assert any("wait to be consolidated" in each for each in found)
    assert any("have no vector" in each for each in found)
    assert found["1 dead letters"] == "reverie dead-letters list --tenant acme"
    assert "1 runs failed and were not repeated" in found


def test_doctor_counts_all_turns_that_wait_for_a_model(invoke, world, conn) -> None:
    conn.execute("delete from memory.extractions")
    write = """insert into memory.extractions
                   (tenant_id, turn_id, subject_id, candidates, run_id, unread, waits, ends_wait)
               select 'acme', gen_random_uuid(), 'ana', 0, gen_random_uuid(), %s, %s::text is not null, %s
               from generate_series(1, %s)"""

    def waiting() -> list[tuple[str, str]]:
        checked = checks(invoke)["tenant acme"]
        return [(each["status"], each["found"]) for each in checked if "wait for the language model" in each["found"]]

    conn.execute(write, ["unasked", "unasked", False, 4])
    said = "turns wait for the language model: {}; rules have read them"
    assert waiting() == [("ok", said.format("not yet asked 4"))], "turns captured live wait for the next run"
    conn.execute(write, ["credit", "credit", False, 2])
    conn.execute(write, [None, None, True, 3])
    assert waiting() == [("warn", said.format("not yet asked 4, not told what they end 3, credit 2"))]


def test_doctor_finds_what_is_broken(invoke, world, conn) -> None:
    conn.execute("alter table memory.links no force row level security")
    conn.execute("create index on memory.vectors using hnsw ((vec::halfvec(384)) halfvec_cosine_ops)")
    conn.execute("update ops.migrations set version_num = '0001_log'")
    conn.execute("update ops.tenants set policy = 'nowhere.toml'")
    found = checks(invoke)
    assert found["row security"][0]["found"] == "not forced on memory.links"
    assert found["indexes"][0]["status"] == "warn"
    assert found["migrations"][0]["todo"] == "reverie migrate"
    assert found["row security"][0]["status"] == "fail"


def test_doctor_accepts_a_plain_user_whose_schema_others_migrate(invoke, world, conn, database_url: str) -> None:
    with login(database_url, "worker", "reader", "eraser") as url:
        found = checks(invoke, env={"DATABASE_URL": url})
        assert (found["roles"][0]["status"], "tenant acme" in found) == ("warn", True)
        assert found["roles"][0]["found"].endswith(" may not act as reverie_analyst, reverie_owner")
        assert "grant reverie_analyst" in found["roles"][0]["todo"]
        conn.execute("update ops.migrations set version_num = '0001_log'")
        assert checks(invoke, env={"DATABASE_URL": url})["roles"][0]["status"] == "fail", "it has to migrate first"


@pytest.mark.parametrize("lacking", ["worker", "eraser"])
def test_doctor_needs_the_roles_of_every_run(invoke, database_url: str, lacking: str) -> None:
    with login(database_url, *{"worker", "reader", "eraser"} - {lacking}) as url:
        (found,) = checks(invoke, env={"DATABASE_URL": url})["roles"]
    assert found["status"] == "fail" and f"reverie_{lacking}" in found["found"] and "grant them" in found["todo"]


@pytest.mark.parametrize("url", ["postgresql://nobody@127.0.0.1:1/none", "mysql://x"])
def test_doctor_without_a_database(invoke, url: str) -> None:
    found = checks(invoke, env={"DATABASE_URL": url})
    assert [check["status"] for lines in found.values() for check in lines].count("fail") >= 1


def test_doctor_before_migrating(invoke, empty_database_url: str) -> None:
    found = checks(invoke, env={"DATABASE_URL": empty_database_url})
    assert found["pgvector"][0]["todo"] == "reverie migrate"


@pytest.mark.parametrize(
    ("revision", "todo"),
    [("9999_later", "upgrade Reverie"), ("0001_log", "run `reverie migrate`"), ("0021", START_ANEW)],
)
def test_every_command_refuses_another_schema(invoke, conn, tmp_path: Path, revision: str, todo: str) -> None:
    conn.execute("update ops.migrations set version_num = %s", [revision])
    file = tmp_path / "a.jsonl"
    file.write_text("{}\n")
    commands = [
        ["run"],
        ["import", str(file)],
        ["worker"],
        ["serve", "--port", "0"],
        ["show", "ana"],
        ["runs"],
        ["dead-letters"],
    ]
    for command in [*commands, *([["migrate"]] if revision != "0001_log" else [])]:
        result = invoke(*command)
        assert result.exit_code == 4, (command, result.output)
        assert result.stderr.startswith("Error: Th"), (command, result.stderr)
        assert result.stderr.count("\n") == 1
        assert todo in result.stderr
    found = checks(invoke)["migrations"][0]
    assert (found["status"], found["todo"] in todo) == ("fail", True)
