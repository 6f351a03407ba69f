"""The memory processor keeps the promises: each observation worked in once, whoever runs, wherever it is killed."""

from __future__ import annotations

import json
import os
import random
import signal
from collections import Counter
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from psycopg.sql import SQL, Identifier

from reverie.inference.completions import LanguageModel
from reverie.store.connect import connect
from reverie.store.database import Store
from reverie.store.digest import TableDigest, digest
from tests.conftest import Databases
from tests.promises.forks import FORKS
from tests.promises.profiling import START, TENANT, UNTIL, Scribe, policy, record, remember, retold, say, work

pytestmark = pytest.mark.timeout(2400 if os.environ.get("REVERIE_KILL_EVERY") else 240)

#: Of the moments of the stage; `make kills` has all of them.
KILLS = 3

Rows = list[tuple[Any, ...]]


def rows(store: Store, sql: Any, *params: Any) -> Rows:
    with store.transaction(TENANT) as conn:
        return conn.execute(sql, params).fetchall()


def model_of(name: str) -> LanguageModel | None:
    return Scribe() if name == "model" else None


def process(url: str, **more: Any) -> int:
    one = FORKS.Process(target=work, args=(url,), kwargs=more)
    one.start()
    one.join(60)
    assert one.exitcode is not None
    return one.exitcode


def whole(store: Store, folder: Path) -> None:
    say(store, folder)
    record(store, policy())


def state(store: Store) -> tuple[dict[str, TableDigest], Counter[str]]:
    """The digest, and what the ledger says was done."""
    counts: Counter[str] = Counter()
    for (report,) in rows(store, "select report from ops.runs where stage = 'synthesize'"):
        names = ("observations", "entries", "replaced", "conflicts", "facts", "narratives")
        counts += Counter({name: report[name] for name in names})
    return digest(store, TENANT).tables, counts


def test_killed_anywhere_and_repeated_it_is_the_same(databases: Databases, tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    with databases() as url, Store.open(url, size=1) as store:
        whole(store, tmp_path)
        assert process(url, trace=trace) == 0
        clean = state(store)
        assert len(clean[1]) == 6 and clean[1]["observations"] == 17
        once = rows(store, "select count(*), count(distinct item_id), count(model) from memory.synthesized")
        assert once == [(17, 17, 17)]
    stages = json.loads(trace.read_text())
    # dying after a statement is dying before the next one, the database has seen the same; and once a run is done
    of_stage = [n for n, (stage, kind) in enumerate(stages, 1) if stage == "synthesize" and kind.startswith("before")]
    done = [n for n, (one, other) in enumerate(pairwise([*stages, ("", "")]), 1) if one[0] == "synthesize" != other[0]]
    assert len(of_stage) > 100
    chance = random.Random("synthesize")
    some = [*chance.sample(of_stage, KILLS), chance.choice(done)]
    picked = of_stage + done if os.environ.get("REVERIE_KILL_EVERY") else some
    for moment in picked:
        with databases() as url, Store.open(url, size=1) as store:
            whole(store, tmp_path)
            assert process(url, kill_at=moment) == -signal.SIGKILL
            assert process(url) == 0
            assert state(store) == clean, f"moment {moment} of {len(stages)}"


@pytest.mark.parametrize("name", ["model", "rules"])
def test_lived_through_it_is_what_a_backfill_gives(name: str, databases: Databases, tmp_path: Path) -> None:
    found = []
    for cuts in ([], [0.5, 3.2, 4.5, 15.5, 25.2, 29.5, 31, 50, 61]):
        with databases() as url, Store.open(url, size=1) as store:
            after = -1.0
            for cut in cuts:
                say(store, tmp_path, until=cut, after=after)
                record(store, policy(), until=cut, after=after)
                remember(store, policy(), START + timedelta(hours=cut), model_of(name))
                after = cut
            say(store, tmp_path, after=after)
            record(store, policy(), after=after)
            remember(store, policy(), UNTIL, model_of(name))
            found.append(digest(store, TENANT).tables)
    assert found[0] == found[1]
    assert found[0]["synthesized"].rows == (17 if name == "model" else 14)


@pytest.mark.parametrize("name", ["model", "rules"])
def test_run_again_nothing_changes_and_made_anew_it_is_the_same(
    name: str, store: Store, conn: Any, tmp_path: Path
) -> None:
    whole(store, tmp_path)
    remember(store, policy(), UNTIL, model_of(name))
    before = digest(store, TENANT).tables
    again = remember(store, policy(), UNTIL, model_of(name))
    assert digest(store, TENANT).tables == before
    assert sum(one["observations"] for one in again if one.stage == "synthesize") == 0
    names = [row[0] for row in conn.execute("select relname from pg_class where relnamespace = 'memory'::regnamespace "
                                            "and relkind = 'r'")]  # fmt: skip
    conn.execute(SQL("truncate {}").format(SQL(", ").join(Identifier("memory", each) for each in names)))
    model = model_of(name)
    remember(store, policy(), UNTIL, model)
    assert digest(store, TENANT).tables == before
    assert not isinstance(model, Scribe) or not model.shown, "asked once"


def test_no_connection_waits_for_the_model(database_url: str, tmp_path: Path) -> None:
    busy: list[Rows] = []

    def look(item: dict[str, Any]) -> dict[str, Any]:
        with connect(database_url) as other:
            busy.append(
                other.execute(
                    """select state, query from pg_stat_activity where datname = current_database()
                       and pid <> pg_backend_pid() and backend_type = 'client backend' and state <> 'idle'"""
                ).fetchall()
            )
        return retold(item)

    with Store.open(database_url, size=1) as store:
        whole(store, tmp_path)
        remember(store, policy(), UNTIL, Scribe(look))
    assert len(busy) > 4 and not any(busy)


def test_what_changes_while_the_model_thinks_is_asked_about_anew(store: Store, tmp_path: Path) -> None:
    record(store, policy(), until=2)
    late = iter([True])

    def interrupted(item: dict[str, Any]) -> dict[str, Any]:
        if next(late, False):  # another observation of the same time comes in
            record(store, policy(), until=4, after=2)
        return retold(item)

    scribe = Scribe(interrupted)
    remember(store, policy(), UNTIL, scribe)
    first, second = ([one["text"] for one in item["new_observations"]] for item in scribe.shown[:2])
    assert first == ["prefers short emails"] and len(second) == 3 and second[0] == first[0]
    assert rows(store, "select count(*), count(distinct item_id) from memory.synthesized") == [(4, 4)], (
        "Ben's turn comes"
    )
