"""“Did you mean ...?” for every kind of name, from one place."""

from __future__ import annotations

import pytest

from reverie.cli.suggestions import similar


def test_similar_names() -> None:
    assert similar("anna", ["ana", "bob", "Anne"]) == ["ana", "Anne"]
    assert similar("bakery", ["mumbai-bakery", "delhi"]) == ["mumbai-bakery"]
    assert similar("ANA", ["ana"]) == ["ana"]
    assert similar("ana", ["ana", "anna"]) == []
    assert similar("zzz", ["ana"]) == []


@pytest.mark.parametrize(
    ("command", "code", "meant"),
    [
        (("shwo", "ana"), 2, "'show'"),
        (("dead-letters", "lst"), 2, "'list'"),
        (("show", "ana", "--tennant", "acme"), 2, "'--tenant'"),
        (("run", "--stage", "mrege"), 2, "'merge'"),
        (("runs", "--stage", "mrege"), 6, "'merge'"),
        (("show", "ana", "--kind", "prefernce"), 2, "'preference'"),
        (("recall", "dogs", "-s", "ana", "--kinds", "fact,prefernce"), 2, "'preference'"),
        (("show", "anna"), 6, "'ana'"),
        (("replay", "anna", "s1"), 6, "'ana'"),
        (("show", "ana", "--tenant", "acne"), 6, "'acme'"),
        (("clock", "--tenant", "acne", "--run"), 6, "'acme'"),
        (("policy", "use", "brian"), 5, "'brain'"),
        (("policy", "show", "brian"), 5, "'brain'"),
        (("show", "ana", "--policy", "brian"), 5, "'brain'"),
    ],
)
def test_it_is_asked(invoke, world, command: tuple[str, ...], code: int, meant: str) -> None:
    result = invoke(*command)
    assert result.exit_code == code, result.output
    last = result.stderr.strip().splitlines()[-1]
    assert last.startswith("Error: ")
    assert last.endswith(f"Did you mean {meant}?"), last


def test_nothing_alike_asks_nothing(invoke, world) -> None:
    for command in (("xyzzy",), ("show", "zzzzzz"), ("policy", "show", "zzzzzz"), ("replay", "ana", "nowhere")):
        assert "Did you mean" not in invoke(*command).stderr


def test_a_recall_of_nobody_asks(invoke, world) -> None:
    result = invoke("recall", "what does she like?", "--subject", "anna")
    assert result.exit_code == 6
    assert result.stderr.endswith("Did you mean 'ana'?\n")
    assert "Did you mean" not in invoke("recall", "zebras?", "--subject", "ana").stderr


def test_other_tenants_subjects_are_not_proposed(invoke, world, conn) -> None:
    conn.execute("insert into ops.tenants (tenant_id, policy) values ('globex', 'reverie')")
    result = invoke("show", "anna", "--tenant", "globex")
    assert result.exit_code == 6
    assert "Did you mean" not in result.stderr


def test_looking_around_is_bounded(invoke, world, conn) -> None:
    conn.execute(
        """insert into log.turns (tenant_id, id, subject_id, session_id, source_id, turn_index, role, said_at, text,
                                  content_hash)
           select 'acme', gen_random_uuid(), 'subject-' || lpad((i / 3)::text, 6, '0'), 's', i::text, 0, 'user', now(),
                  'x', 'x'
           from generate_series(1, 9000) i"""
    )
    from reverie.store.queries import queries

    params = {"tenant": "acme", "subject": "subject-001500x", "limit": 500}
    found = [row[0] for row in conn.execute(queries("roster")["subjects_around"], params)]
    assert len(found) == len(set(found)) == 1000
    assert {"subject-001500", "subject-001501", "subject-001999", "subject-001002"} <= set(found)
    assert "Did you mean 'subject-001500'" in invoke("show", "subject-001500x").stderr
