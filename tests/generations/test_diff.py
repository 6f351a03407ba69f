"""`reverie diff`: counts for a gate, examples for a person, and no word of a user unless asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg

from tests.generations.conftest import Ask, Invoke


def test_a_shadow_of_the_same_policy_differs_in_nothing_and_one_of_another_in_what_it_forgets(
    remembered: dict[str, Any], ask: Ask, invoke: Invoke, tmp_path: Path, conn: psycopg.Connection[Any]
) -> None:
    for question in ("Where does my sister live?", "What is my dog called?"):
        assert invoke("recall", question, "--subject", "ana").exit_code == 0
    logged = conn.execute("select count(*) from log.recalls").fetchone()
    ask("rebuild", "--shadow")
    same = ask("diff", "live", "1")
    assert same["questions"] == 2 and same["memories_before"] == remembered["memories_rows"]
    assert not any(number for name, number in same.items() if name.startswith(("facts", "hits", "first_answers")))
    assert not any(same[f"memories_{change}"] for change in ("added", "gone", "reworded", "restated"))

    forgetful = tmp_path / "forgetful.toml"
    forgetful.write_text('base = "reverie"\n[prune]\nbelow = 1.0\nunaccessed_days = 0\nactive_days = 0\n')
    ask("rebuild", "--shadow", "--policy", str(forgetful))
    changed = ask("diff", "live", "2", "--examples", "3")
    assert changed["memories_gone"] > 0 and changed["subjects_changed"] > 0
    assert 0 < len([each for each in changed["memories"] if each["change"] == "gone"]) <= 3
    assert all(each["before"] for each in changed["memories"] if each["change"] == "gone")
    assert "Bruno" not in invoke("diff", "1", "2").output
    assert "memories gone" in invoke("diff", "1", "2", "--questions", "0").output
    assert conn.execute("select count(*) from log.recalls").fetchone() == logged, "nothing is logged"


def test_a_reverted_generation_differs_by_what_publishing_it_would_change(
    remembered: dict[str, Any], ask: Ask, tmp_path: Path
) -> None:
    forgetful = tmp_path / "forgetful.toml"
    forgetful.write_text('base = "reverie"\n[prune]\nbelow = 1.0\nunaccessed_days = 0\nactive_days = 0\n')
    ask("rebuild", "--shadow", "--policy", str(forgetful))
    before = ask("diff", "live", "1")
    assert before["memories_gone"] > 0
    ask("publish")
    ((published,), live) = ask("generations")["generations"], ask("digest")
    ask("publish", "--revert")
    (reverted,) = ask("generations")["generations"]
    same = ("turns", "memories", "sha256", "as_of")
    assert [reverted[name] for name in same] == [published[name] for name in same]
    assert ask("diff", "live", "1") == ask("diff", "live", "1") == before
    ask("publish", "--generation", "1")
    assert ask("digest") == live


def test_mistakes_are_told_in_a_sentence(remembered: dict[str, Any], invoke: Invoke) -> None:
    assert invoke("diff", "live", "5").exit_code == 6
    assert "neither 'live' nor" in invoke("diff", "live", "latest").output
