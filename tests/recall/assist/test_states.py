"""The feed of states: a version a change, in order, with a cursor that passes over nothing; erasure and refusal."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from reverie.drive.erase.erasing import Eraser
from reverie.drive.erase.targets import subject_target
from reverie.policy import load_policy
from reverie.policy.sensitivity import SensitivityPolicy
from reverie.recall.assist.states import SubjectState, poll_states
from reverie.store.database import Store
from reverie.store.privacy.consents import ConsentChange, change_consent
from reverie.store.session import perform
from tests.recall.assist.conftest import NOW
from tests.recall.conftest import Corpus


def poll(store: Store, tenant: str = "acme", **given: Any) -> list[SubjectState]:
    options = {"now": NOW, "limit": 50, "sensitivity": load_policy("reverie").sensitivity} | given
    return perform(poll_states(store.session(tenant), **options))


def test_a_state_has_what_is_in_force_with_its_sources(nora: Store) -> None:
    (found,) = poll(nora)
    assert (found.subject_id, found.version, found.position) == ("nora", 1, 1)
    assert found.state is not None
    (rule,) = [each for each in found.state["rules"] if "Swedish" in each["content"]]
    assert rule["turn_id"] and rule["id"]
    assert found.state["mood"]["mood"] and found.state["relationship"]["stage"]
    assert "Sven" not in str(found.state)
    assert poll(nora, after=found.position) == []


def test_sensitive_parts_are_left_out(nora: Store) -> None:
    (everything,) = poll(nora, sensitivity=SensitivityPolicy())
    (found,) = poll(nora, sensitivity=SensitivityPolicy(not_exported=("third_parties", "health")))
    assert "asthma" in str(everything.state) and "asthma" not in str(found.state)
    assert found.left_out > 0


def test_each_change_is_a_version_in_the_order_of_changes(corpus: Corpus, worker: Store) -> None:
    corpus.memory("Loves tea", kind="preference")
    bob = Corpus(corpus.conn, subject="bob")
    bob.memory("Loves coffee", kind="preference")
    first = poll(worker, limit=1)
    rest = poll(worker, after=first[-1].position)
    assert [(each.subject_id, each.version) for each in (*first, *rest)] == [("ann", 1), ("bob", 1)]
    corpus.memory("Loves cake", kind="preference")
    (changed,) = poll(worker, after=rest[-1].position)
    assert (changed.subject_id, changed.version, changed.position) == ("ann", 2, 3)
    assert changed.state is not None and len(changed.state["rules"]) == 2
    assert [each.subject_id for each in poll(worker, subjects=["bob"])] == ["bob"]
    assert poll(worker, "other") == []


def test_who_refuses_recall_or_is_erased_has_no_state(corpus: Corpus, worker: Store) -> None:
    corpus.memory("Loves tea", kind="preference", turn=corpus.turn("I love tea."))
    (seen,) = poll(worker)
    perform(change_consent(worker.session("acme"), "ann", ConsentChange(recall=False), at=NOW))
    (refused,) = poll(worker, after=seen.position)
    assert (refused.id, refused.version, refused.state) == (seen.id, 2, None)
    perform(change_consent(worker.session("acme"), "ann", ConsentChange(recall=True), at=NOW))
    (agreed,) = poll(worker, after=refused.position)
    assert agreed.state is not None
    later = NOW + timedelta(days=1)
    eraser = Eraser(store=worker, tenant_id="acme", policy=load_policy("reverie"), count_tokens=len, at=later)
    eraser.erase(subject_target("ann"))
    (gone,) = poll(worker, after=agreed.position)
    assert (gone.id, gone.subject_id, gone.state, gone.version) == (seen.id, None, None, 4)


def test_who_polls_some_subjects_learns_of_erasures_by_ids_alone(corpus: Corpus, worker: Store) -> None:
    corpus.memory("Loves tea", kind="preference", turn=corpus.turn("I love tea."))
    (seen,) = poll(worker, subjects=["ann"])
    eraser = Eraser(store=worker, tenant_id="acme", policy=load_policy("reverie"), count_tokens=len, at=NOW)
    eraser.erase(subject_target("ann"))
    (gone,) = poll(worker, subjects=["ann"], after=seen.position)
    assert (gone.id, gone.subject_id, gone.state) == (seen.id, None, None)
    assert poll(worker, subjects=["bob"]) == [], "who begins has nothing to drop"
