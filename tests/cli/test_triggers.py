"""`reverie triggers`."""

from __future__ import annotations

from uuid import uuid4

import pytest

from tests.cli.conftest import RUN, day, insert


@pytest.fixture
def trigger(conn, world) -> str:
    """A trigger of ana that is due."""
    id_ = uuid4()
    insert(
        conn, "memory.triggers", id=id_, subject_id="ana", kind="check_in", audience="caller", happened_at=day(1),
        due_at=day(2), until_at=day(3), why='{"negative_in_a_row": 3}', run_id=RUN,
    )  # fmt: skip
    return str(id_)


def test_triggers_are_listed_and_acknowledged(invoke, ask, world, trigger) -> None:
    at = day(2).isoformat()
    (listed,) = ask("triggers", "ana", "--as-of", at)["triggers"]
    assert (listed["id"], listed["kind"]) == (trigger, "check_in")
    assert "negative in a row 3" in invoke("triggers", "--as-of", at).stdout
    assert invoke("triggers", "--as-of", day(1).isoformat()).stdout == "Nothing is due.\n"
    assert invoke("triggers", "ana", "--as-of", day(1).isoformat()).stdout == "Nothing is due.\n"
    unknown = invoke("triggers", "ben")
    assert (unknown.exit_code, "There is no subject 'ben'" in unknown.stderr) == (6, True)
    assert ask("triggers", "--ack", trigger, "--actor", "dana", "--as-of", at)["triggers"] == []
    (done,) = ask("triggers", "--all", "--as-of", at)["triggers"]
    assert (done["action"], done["actor"]) == ("done", "dana")
    assert invoke("triggers", "--dismiss", str(uuid4())).exit_code != 0


def test_the_listed_id_of_a_trigger_acknowledges_it(invoke, ask, world, trigger) -> None:
    at = day(2).isoformat()
    listed = invoke("triggers", "--as-of", at).stdout.split()[-1]
    assert ask("triggers", "--ack", listed, "--as-of", at)["triggers"] == []


def test_triggers_are_read_from_the_primary(invoke, world, trigger) -> None:
    listed = invoke(
        "triggers", "--as-of", day(2).isoformat(), env={"REVERIE_READ_URL": "postgresql://nobody@127.0.0.1:1/none"}
    )
    assert listed.exit_code == 0 and "check_in" in listed.stdout, listed.output
