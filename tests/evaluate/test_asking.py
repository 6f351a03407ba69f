"""An answer counts by the value that is true when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from reverie.capture.append import insert_turns
from reverie.drive.advance import advance
from reverie.evaluate.simulation.asking import MemoryUser
from reverie.evaluate.simulation.material import fact_plans
from reverie.evaluate.simulation.people import PlantedFact, PlantedValue, make_person
from reverie.evaluate.simulation.simulate import START
from reverie.inference import load_embedder
from reverie.model import Scope, Turn
from reverie.policy import load_policy
from reverie.store.database import Store
from reverie.store.tenants import ensure_tenant
from reverie.store.work import Work
from reverie.testing import DatabaseFactory


@pytest.fixture
def store(database_factory: DatabaseFactory) -> Iterator[Store]:
    with database_factory.migrated() as url, Store.open(url) as opened:
        yield opened


def said(text: str, at: datetime) -> Turn:
    return Turn(
        tenant_id="t", subject_id="person-1", session_id=f"s{at:%d}", source_id="1", role="user", speaker=None,
        said_at=at, text=text,
    )  # fmt: skip


def test_the_value_of_the_day_is_asked_for_and_use_is_logged(store: Store) -> None:
    (home,) = (plan for plan in fact_plans() if plan.name == "home")
    values = (
        PlantedValue(value="Ghent", from_day=1, to_day=8, again=()),
        PlantedValue(value="Porto", from_day=8, to_day=None, again=()),
    )
    person = replace(make_person(0, 1, 30), facts=(PlantedFact(plan=home, values=values),))
    policy, embedder = load_policy("reverie"), load_embedder("minilm", threads=1)
    turns = [said("I live in Ghent.", START + timedelta(days=1)), said("I moved to Porto.", START + timedelta(days=8))]
    with store.transaction("t") as conn:
        ensure_tenant(conn, "t", "reverie")
        insert_turns(conn, "t", turns)
    until = START + timedelta(days=14)
    work = Work(store=store, scope=Scope(tenant_id="t"), policy=policy, as_of=until, embedder=embedder)
    assert [*advance(work)]
    user = MemoryUser(store=store, tenant_id="t", policy=policy, embedder=embedder, person=person, day=14, at=until)
    (answer,) = user.ask()
    assert answer.is_answered and answer.is_held and answer.is_current_first and not answer.is_durable
    assert [*replace(user, day=1).ask()] == [], "nothing was told yet"
    user.use(2)  # there is one fact to ask about
    with store.transaction("t") as conn:
        assert conn.execute("select count(*) from log.recalls").fetchone() == (1,), "only use is logged"


@pytest.mark.parametrize(
    ("text", "is_answered"), [("I was making tea.", False), ("Aki's drill", True), ("my brother is AKI", True)]
)
def test_an_answer_has_the_whole_word(monkeypatch: pytest.MonkeyPatch, text: str, is_answered: bool) -> None:
    (brother,) = (plan for plan in fact_plans() if plan.name == "brother")
    fact = PlantedFact(plan=brother, values=(PlantedValue(value="Aki", from_day=0, to_day=None, again=()),))
    hit = SimpleNamespace(content=text)
    monkeypatch.setattr(MemoryUser, "_hits", lambda *_: [hit])
    person = replace(make_person(0, 1, 30), facts=(fact,))
    user = MemoryUser(store=Mock(), tenant_id="t", policy=Mock(), embedder=Mock(), person=person, day=1, at=START)
    (answer,) = user.ask()
    assert (answer.is_answered, answer.is_held) == (is_answered, is_answered)
