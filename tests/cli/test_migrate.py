"""`reverie migrate`, and commands on a database without a schema."""

from __future__ import annotations

import json


def test_migrate(invoke, empty_database_url: str) -> None:
    there = {"DATABASE_URL": empty_database_url}
    first = invoke("migrate", "--json", env=there)
    assert first.exit_code == 0, first.output
    again = invoke("migrate", env=there)
    assert again.stdout == f"The database is at revision {json.loads(first.stdout)['revision']}.\n"


def test_a_database_without_schema_is_told_to_migrate(invoke, empty_database_url: str) -> None:
    for command in (["runs"], ["digest"], ["dead-letters"], ["show", "ana"], ["policy", "use", "brain"]):
        result = invoke(*command, env={"DATABASE_URL": empty_database_url})
        assert result.exit_code == 4, result.output
        assert "reverie migrate" in result.stderr
