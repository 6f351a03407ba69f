"""A generation is made by its own policy, and one that was interrupted goes on."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

import psycopg
import pytest

from reverie.errors import ConflictError
from reverie.generations.building import begin, build
from reverie.generations.catalog import LiveMemory, drop_generation, find_generation
from reverie.inference.reader import shared_reader
from reverie.store.connect import connect
from reverie.store.queries import queries
from reverie.store.small_models.reader_heads import KeptHead, adopt_head
from tests.generations.conftest import NOW, Ask, Invoke, plan
from tests.inference.test_head import head
from tests.promises.compact import TENANT


def test_another_policy_makes_another_memory(remembered: dict[str, Any], ask: Ask, tmp_path: Any) -> None:
    eager = tmp_path / "eager.toml"
    eager.write_text('base = "reverie"\n[prune]\nbelow = 0.9\nunaccessed_days = 1\n')
    built = ask("rebuild", "--shadow", "--policy", str(eager))
    assert built["sha256"] != remembered["sha256"] and built["policy"] == str(eager)
    assert ask("digest") == remembered


def test_what_was_interrupted_goes_on(
    remembered: dict[str, Any], ask: Ask, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    from reverie.generations import building

    def stops(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(building, "maintain", stops)
        assert invoke("rebuild", "--shadow").exit_code != 0
    assert [(each["number"], each["state"]) for each in ask("generations")["generations"]] == [(1, "building")]
    built = ask("rebuild", "--shadow")
    assert built["number"] == 1 and built["sha256"] == remembered["sha256"]


def test_a_generation_is_read_with_the_tenants_head(
    remembered: dict[str, Any], ask: Ask, conn: psycopg.Connection[Any]
) -> None:
    kept = {"version": "r+1", "reader": shared_reader(1).model, "head": head(2.0).numbers(), "made_at": NOW}
    adopt_head(conn, TENANT, KeptHead(models=["m"], replies=1000, figures={}, **kept))
    rebuilt = ask("rebuild", "--yes")
    assert conn.execute("select distinct reader from memory.extractions where reader <> 'r+1'").fetchall() == []
    assert rebuilt["sha256"] != remembered["sha256"]
    assert ask("rebuild", "--shadow")["sha256"] == rebuilt["sha256"]


def test_two_that_begin_at_once_get_two_generations(live: LiveMemory) -> None:
    """Each counts, adds and creates only when the other has done so."""
    with ThreadPoolExecutor(2) as both:
        with connect(live.url) as held:
            held.execute(queries("generations")["lock_begin"], {"tenant": "acme"})
            begun = [both.submit(begin, live, plan(), anew=True) for _ in range(2)]
            assert not wait(begun, timeout=0.5).done
        made = [each.result() for each in begun]
    assert {each.number for each in made} == {1, 2}
    for each in made:
        drop_generation(live, each)


def test_a_generation_is_built_by_one_at_a_time(live: LiveMemory) -> None:
    generation = begin(live, plan())
    building = build(live, plan(), generation)
    next(building)
    assert begin(live, plan()) == generation
    with pytest.raises(ConflictError, match="Another process builds generation 1 of tenant acme"):
        next(build(live, plan(), generation))
    building.close()
    list(build(live, plan(), generation))
    assert find_generation(live.work.store, "acme", 1, "ready")
    drop_generation(live, generation)
