"""`reverie policy`: policies are listed, shown, checked and chosen."""

from __future__ import annotations

from pathlib import Path

from reverie.policy import shipped_policies


def test_policies_are_listed_shown_copied_and_chosen(invoke, ask, conn, tmp_path: Path) -> None:
    assert [each["name"] for each in ask("policy", "list")["policies"]] == shipped_policies()
    assert invoke("policy").stdout == invoke("policy", "list").stdout
    copy = tmp_path / "mine.toml"
    copy.write_text(invoke("policy", "show", "brain").stdout)
    assert ask("policy", "check", str(copy))["hash"] == ask("policy", "show", "brain")["hash"]
    assert ask("policy", "use", str(copy))["policy"] == str(copy)
    assert conn.execute("select policy from ops.tenants where tenant_id = 'acme'").fetchone() == (str(copy),)
    broken = tmp_path / "broken.toml"
    broken.write_text(copy.read_text().replace("grace_days", "grace_weeks"))
    result = invoke("policy", "check", str(broken))
    assert result.exit_code == 5
    assert "decay.grace_weeks (line " in result.stderr
    assert "the nearest is 'grace_days'" in result.stderr
    assert "\n" not in result.stderr.strip()


def test_a_file_of_an_earlier_version_still_loads(invoke, tmp_path: Path) -> None:
    old = tmp_path / "old.toml"
    old.write_text('base = "reverie"\n[working_memory]\nkeep_verbatim = 10\n')
    result = invoke("policy", "check", str(old), "--json")
    assert result.exit_code == 0, result.output
    assert (
        "working_memory.keep_verbatim (line 3) is a key of an earlier version and ignored; its number is"
        in result.stderr
    )
