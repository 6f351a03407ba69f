"""Moving in from mem0 and out again by the commands that docs/moving.md names."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.cli.conftest import command
from tests.conftest import Databases

Ask = Callable[..., dict[str, Any]]

MEMORIES = [
    {"id": "m1", "memory": "Has a dog named Rex", "user_id": "ana", "created_at": "2026-01-01T00:00:00Z"},
    {"id": "m2", "memory": "Lives in Porto", "user_id": "ana", "created_at": "2026-01-02T00:00:00Z"},
    {"id": "m3", "memory": "Works at Infosys", "user_id": "ana", "created_at": "2026-01-02T00:00:00Z",
     "expiration_date": "2026-01-20"},
    {"id": "m4", "memory": "Plays the violin", "user_id": "ben", "created_at": "2026-01-03T00:00:00Z"},
    {"id": "m5", "memory": "Plays the harp", "user_id": "cem", "created_at": "2026-01-03T00:00:00Z"},
    {"id": "m6", "memory": "I was diagnosed with diabetes", "user_id": "cem", "created_at": "2026-01-03T00:00:00Z"},
]  # fmt: skip
AS_OF = ("--as-of", "2026-02-01")


def test_what_moved_in_is_memory_and_moves_out(ask: Ask, tmp_path: Path) -> None:
    (path := tmp_path / "memories.json").write_text(json.dumps({"results": MEMORIES}))
    (taken,) = ask("import", str(path), "--format", "mem0")["files"]
    assert (taken["statements"], taken["imported"], taken["dead"]) == (6, 0, 0)
    ask("run", *AS_OF)
    first = ask("digest")
    known = {each["content"] for each in ask("show", "ana", *AS_OF)["subject"]["memories"]}
    assert known == {"Has a dog named Rex", "Lives in Porto", "Works at Infosys"}
    ask("rebuild", "--yes", *AS_OF)
    ask("run", *AS_OF)
    assert ask("digest") == first

    hits = ask("recall", "What dog does she have, and where does she work?", "--subject", "ana", *AS_OF)["hits"]
    told = " ".join(hit["content"] for hit in hits)
    assert "Rex" in told and "Infosys" not in told  # that ended on January 20

    made = ask("export", "ana", "--format", "mem0", "--output", str(tmp_path / "out"))
    items = json.loads((tmp_path / "out" / "mem0.json").read_text())["results"]
    assert sorted(items, key=lambda item: item["id"]) == MEMORIES[:3] and made["counts"] == {"statement": 3}

    strict = tmp_path / "strict.toml"
    strict.write_text('base = "reverie"\n[sensitivity]\nnot_exported = ["health"]\n')
    ask("policy", "use", str(strict))
    made = ask("export", "cem", "--format", "jsonl", "--output", str(tmp_path / "strict"))
    assert (made["counts"], made["left_out"]) == ({"statement": 1}, 1)

    ask("erase", "ben", "--yes")
    (again,) = ask("import", str(path), "--format", "mem0")["files"]
    assert (again["statements"], again["repeated"], again["dead_erased"]) == (0, 5, 1)
    ask("consent", "kim", "--capture", "off")
    path.write_text(json.dumps([MEMORIES[0] | {"user_id": "kim"}]))
    (refused,) = ask("import", str(path), "--format", "mem0")["files"]
    assert refused["dead_capture_off"] == 1


def test_a_new_tenant_gets_the_clock_of_the_export(ask: Ask, databases: Databases, tmp_path: Path) -> None:
    (path := tmp_path / "memories.json").write_text(json.dumps({"results": MEMORIES}))
    ask("import", str(path), "--format", "mem0")
    ask("clock", "--stop-at", "2026-02-01")
    ask("run")
    ask("export", "--output", str(tmp_path / "out"))
    with databases() as url:
        taken = command(url, "import", str(tmp_path / "out" / "log.jsonl"))
        assert "The clock of tenant acme is stopped at 2026-02-01 00:00 UTC" in taken.stderr, taken.output
        assert command(url, "run").exit_code == 0
        assert json.loads(command(url, "digest", "--json").stdout) == ask("digest")
        command(url, "clock", "--stop-at", "2026-02-02")
        command(url, "import", str(tmp_path / "out" / "log.jsonl"))
        at = json.loads(command(url, "clock", "--json").stdout)["clock_at"]
        assert at.startswith("2026-02-02"), "a known tenant keeps its own"
