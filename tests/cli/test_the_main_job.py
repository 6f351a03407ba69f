"""A history in, memory out, asked a question: the whole of it by commands, with the real embedder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

SAID = [
    ("2026-03-01T09:00:00Z", "s1", "My favorite food is spicy ramen."),
    ("2026-03-01T09:01:00Z", "s1", "I live in Lisbon."),
    ("2026-03-01T09:02:00Z", "s1", "lol"),
    ("2026-03-09T09:00:00Z", "s2", "I can't stand cilantro."),
    ("2026-03-10T18:30:00Z", "s3", "I went to Porto last weekend with my sister."),
]


@pytest.fixture
def history(tmp_path: Path) -> str:
    path = tmp_path / "history.jsonl"
    with path.open("w") as file:
        for subject in ("ana", "ben"):
            for at, session, text in SAID:
                record = {"subject_id": subject, "session_id": session, "role": "user", "said_at": at, "text": text}
                file.write(json.dumps(record) + "\n")
    return str(path)


def test_from_a_log_to_an_answer(invoke, ask, conn, history: str) -> None:
    assert ask("import", history)["files"][0]["imported"] == 10
    dry = ask("run", "--as-of", "2026-03-20", "--dry-run")
    assert dry["stages"][0]["turns"] == 10
    assert ask("digest")["extractions_rows"] == 0

    made = ask("run", "--as-of", "2026-03-20")["stages"]
    assert {each["stage"] for each in made} >= {"extract", "embed", "merge", "link", "score", "decay"}
    assert next(each for each in made if each["stage"] == "extract")["discarded_low_content"] == 2
    digest = ask("digest")["sha256"]
    text = invoke("run", "--as-of", "2026-03-20").stdout
    assert text.startswith("stage")
    assert ask("digest")["sha256"] == digest

    question = ("recall", "which food does she love?", "--subject", "ana", "--as-of", "2026-03-21")
    found = ask(*question, "--top-k", "3")
    assert len(found["hits"]) == 3
    best = found["hits"][0]
    assert "ramen" in best["content"]
    assert best["place"] == 1
    assert {name for name in best if name.startswith("rank_")}
    names = {name.removeprefix("signal_") for name in best if name.startswith("signal_")}
    assert sum(best[f"gave_{name}"] for name in names) == pytest.approx(best["score"], abs=1e-4)
    assert conn.execute("select count(*) from log.recalls where subject_id = 'ana'").fetchone() == (1,)

    assert "ramen" in invoke(*question).stdout
    why = invoke(*question, "--why").stdout
    assert "similarity" in why
    assert "dropped (" in why
    only = ask(*question, "--kinds", "preference")["hits"]
    assert {each["kind"] for each in only} == {"preference"}
    assert {each["session_id"] for each in ask(*question, "--sessions", "s1")["hits"]} == {"s1"}
    assert ask(*question, "--sources", "tool_indexed,system_learned")["hits"] == []
    assert invoke(*question, "--context-types", "mine").exit_code == 2
    assert "ramen" in invoke(*question, "--why", "--connections", "jira-1").stdout
    conn.execute(
        "with gone as (update memory.memories set state = 'compressed', into_id = gen_random_uuid()"
        " where subject_id = 'ana' and kind = 'preference' returning id)"
        " update memory.vectors v set live = false from gone where v.item_id = gone.id"
    )
    assert ask(*question, "--kinds", "preference")["hits"] == []
    assert ask(*question, "--kinds", "preference", "--include-compressed")["hits"]
    conn.execute(
        "update memory.memories set state = 'active', into_id = null where subject_id = 'ana' and state = 'compressed'"
    )

    memory = next(each for each in ask("show", "ana")["subject"]["memories"] if "ramen" in each["content"])
    assert "“My favorite food is spicy ramen.”" in invoke("explain", memory["id"][:23]).stdout


def test_a_part_of_it(ask, history: str) -> None:
    ask("import", history)
    assert ask("run", "--stage", "extract", "--subject", "ana", "--as-of", "2026-03-20")["stages"][0]["turns"] == 5
    shards = ask("run", "--stage", "extract", "--shards", "0-1023", "--as-of", "2026-03-20")["stages"]
    assert (len(shards), shards[0]["turns"]) == (1, 5)


def test_all_tenants_though_one_fails(invoke, ask, history: str) -> None:
    ask("import", history)
    ask("import", history, "--tenant", "beta")
    ask("policy", "use", "brain", "--tenant", "beta")
    assert invoke("run", "--tenant", "gamma").exit_code == 6
    result = invoke("run", "--all-tenants", "--stage", "extract", "--as-of", "2026-03-20", "--json")
    assert {each["tenant_id"] for each in json.loads(result.stdout)["stages"]} == {"acme", "beta"}


def test_a_tenant_that_fails_does_not_keep_the_others(invoke, ask, conn, history: str) -> None:
    ask("import", history)
    ask("import", history, "--tenant", "beta")
    conn.execute("update ops.tenants set policy = 'nowhere.toml' where tenant_id = 'acme'")
    result = invoke("run", "--all-tenants", "--stage", "extract", "--as-of", "2026-03-20")
    assert result.exit_code == 8
    assert "extract" in result.stdout
    assert "Error: tenant acme: There is no policy" in result.stderr
    assert "1 of 2 tenants failed; the others are complete." in result.stderr
    conn.execute("update ops.tenants set policy = 'nowhere.toml'")
    result = invoke("run", "--all-tenants", "--stage", "extract", "--as-of", "2026-03-20")
    assert result.exit_code == 8 and "no tenants yet" not in result.stdout


def test_recall_without_its_model_says_so(invoke, ask, history: str) -> None:
    ask("import", history)
    ask("run", "--as-of", "2026-03-20")
    result = invoke("recall", "ramen", "--subject", "ana", env={"REVERIE_EMBEDDING_MODEL": "nothing"})
    assert result.exit_code == 0, result.output
    assert "ramen" in result.stdout
    assert "found by words and entities alone" in result.stderr


def test_recall_without_its_reranker_says_so(invoke, ask, history: str) -> None:
    ask("import", history)
    ask("run", "--as-of", "2026-03-20")
    absent = {"REVERIE_RERANKER": "sentence-transformers/nobody/nothing", "HF_HUB_OFFLINE": "1"}
    result = invoke("recall", "ramen", "--subject", "ana", "--why", env=absent)
    assert result.exit_code == 0, result.output
    assert "reranker none" in result.stdout
    assert "ranked by weighed signals alone" in result.stderr
    wrong = invoke("recall", "ramen", "--subject", "ana", env={"REVERIE_RERANKER": "words"})
    assert (wrong.exit_code, "REVERIE_RERANKER cannot be used" in wrong.stderr) == (3, True)


def test_memory_is_rebuilt_from_the_log(invoke, ask, history: str) -> None:
    ask("import", history)
    ask("run", "--as-of", "2026-03-20")
    memory = ask("digest")["sha256"]
    refused = invoke("rebuild", "--as-of", "2026-03-20")
    assert refused.exit_code == 1 and "Empty" in refused.stderr
    made = ask("rebuild", "--as-of", "2026-03-20", "--yes")
    assert (made["sha256"], made["changed"]) == (memory, [])
    assert made["memories"] == made["memories_before"] > 0
    assert "the same as before" in invoke("rebuild", "--as-of", "2026-03-20", "--yes").stdout
    assert ask("rebuild", "--as-of", "2026-03-02", "--yes")["changed"]
    assert invoke("rebuild", "--tenant", "nobody", "--yes").exit_code != 0


def test_a_tenant_that_fails_keeps_no_other_from_its_memory(
    invoke, ask, conn, history: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from reverie.drive import advance

    for tenant in ("a", "b", "c"):
        ask("import", history, "--tenant", tenant)
    ingest = advance.ingest

    def failing(work):
        if work.tenant_id == "b":
            raise LookupError("what somebody said")
        return ingest(work)

    monkeypatch.setattr(advance, "ingest", failing)
    result = invoke("run", "--all-tenants", "--as-of", "2026-03-20")
    assert result.exit_code == 8
    assert "tenant b: LookupError" in result.stderr and "1 of 3 tenants failed" in result.stderr
    assert "what somebody said" not in result.output + result.stderr
    remembered = conn.execute("select distinct tenant_id from memory.memories order by 1").fetchall()
    assert remembered == [("a",), ("c",)]
