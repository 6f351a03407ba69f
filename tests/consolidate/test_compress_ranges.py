"""The range in a pattern is that of the turns that it counts, whatever became of their episodes."""

from datetime import timedelta

import psycopg
import pytest

from reverie.consolidate.compress.stage import compress
from reverie.model import Scope, stable_id
from reverie.policy import Policy, load_policy
from reverie.store.database import Store
from reverie.store.work import Work
from tests.consolidate.test_compress import MARCH, MODEL, TENANT, patterns, remember, say
from tests.promises.world import WordEmbedder


@pytest.fixture(scope="module")
def policy() -> Policy:
    ours = load_policy("reverie")
    numbers = {"pattern_episodes": 5, "theme_similarity": 0.0}
    return ours.model_copy(update={"compress": ours.compress.model_copy(update=numbers)})


def sell(conn: psycopg.Connection, day: int, number: int) -> tuple:
    turn = say(conn, f"Sold {number} lamps today.", MARCH + timedelta(days=day))
    return turn, remember(conn, turn, f"Sold {number} lamps today", "product:lamp")


def test_forgotten_episodes_give_numbers_and_withheld_turns_none(
    conn: psycopg.Connection, store: Store, policy: Policy
) -> None:
    def run(days: int) -> None:
        as_of = MARCH + timedelta(days=days)
        scope, embedder = Scope(tenant_id=TENANT), WordEmbedder(MODEL)
        compress(Work(store=store, scope=scope, policy=policy, as_of=as_of, embedder=embedder))

    sold = [sell(conn, day, 40 + 6 * day) for day in range(7)]
    run(10)
    assert "7 times" in patterns(conn)[0] and "lamps from 40 to 76, 58 on average" in patterns(conn)[0]
    conn.execute("delete from memory.memories where id = any(%s)", [[id_ for _, id_ in sold[:3]]])
    wrong, id_ = sold[6]
    conn.execute("delete from memory.memories where id = %s", [id_])
    mark = "insert into memory.marks values (%s,'arjun',%s,%s,'turn','corrected',false,false,%s)"
    conn.execute(mark, [TENANT, wrong.id, stable_id(MARCH, "correction"), stable_id(MARCH, "run")])
    sell(conn, 20, 46)
    run(30)
    assert "8 times" in patterns(conn)[0] and "lamps from 40 to 70, 53.7 on average" in patterns(conn)[0]
