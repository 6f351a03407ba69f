"""A language model that answers after its cycle and agrees with own words: they make the same facts as at once."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from reverie.consolidate.extract.stage import extract
from reverie.model import Scope
from reverie.policy import load_policy
from reverie.store.database import Store
from reverie.store.digest import digest
from reverie.store.work import Work
from tests.consolidate.test_compress import TENANT, say
from tests.models.conftest import Conn, Server
from tests.models.test_extract_language_model import BERGEN, START, forget_all, reply, work_in
from tests.promises.world import WordEmbedder

pytestmark = pytest.mark.filterwarnings("ignore:Item 'summary' on TypedDict:UserWarning")


def test_own_words_with_which_a_model_agrees_late_make_a_fact(
    store: Store, server: Server, load: Any, conn: Conn, tmp_path: Path
) -> None:
    path = tmp_path / "own_words.toml"
    path.write_text('name = "own_words"\nbase = "reverie"\n[extract.reader]\nconfidence = 1.0\n', encoding="utf-8")
    facts = "select key, value from memory.structured_facts"

    def cycle(days: float) -> None:
        extract(
            Work(
                store=store, scope=Scope(tenant_id=TENANT), policy=load_policy(str(path)),
                as_of=START + timedelta(days=days), embedder=WordEmbedder(), language_model=load(concurrency=1),
            )
        )  # fmt: skip
        work_in(store, days, str(path))

    say(conn, "I live in Bergen", START)
    say(conn, "My phone number is 0151 2345678.", START + timedelta(minutes=1), session="b")
    server.script({"status": 401}, reply(), reply(BERGEN))
    cycle(1)
    origins = "select origin, scored, agreed is null from memory.memories where relation = 'lives_in'"
    assert conn.execute(origins).fetchall() == [("said", True, True)]
    assert ("location", "Bergen") not in conn.execute(facts).fetchall()
    cycle(1)
    assert ("location", "Bergen") in conn.execute(facts).fetchall()
    late = digest(store, TENANT)
    forget_all(conn)
    cycle(1)
    assert digest(store, TENANT) == late
