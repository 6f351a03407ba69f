"""The event bus: every observation is a row first, and becomes memory by rule, with the event as its source."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from datetime import timedelta
from typing import Any

import pytest

from reverie.capture.live.corrections import CorrectionAsked, correct_memory
from reverie.capture.live.observations import (
    Document,
    ObservationSource,
    record_document,
    record_observation,
    update_connection_context,
    update_user_context,
)
from reverie.drive.cycle import ingest, work_in
from reverie.drive.drain import Drainer
from reverie.errors import ConflictError, InputError
from reverie.language.cues.routing import route
from reverie.model import Scope
from reverie.policy import load_policy
from reverie.recall.contexts.context import assemble_context
from reverie.recall.inspect import explain
from reverie.recall.query import RecallQuery
from reverie.recall.recall import recall
from reverie.store.session import perform
from reverie.store.work import Work
from tests.live.conftest import AT, TENANT, Talk, after
from tests.promises.world import WordEmbedder

ANA = ObservationSource(tenant_id=TENANT, subject_id="ana", session_id="s1", source_id="e1")

DOCUMENT = """\
Invoice policy

The office is in Pune.

I prefer invoices as PDF, never as a picture.

ok

On Monday we met the supplier. Then we walked to the lake. Nobody was there. It rained all day and we went home.
"""


def do(talk: Talk, operation: Callable[..., Coroutine[Any, Any, Any]], *args: Any, **options: Any) -> Any:
    return perform(operation(talk.store.session(TENANT), *args, **options))


def observe(talk: Talk, content: str, category: Any = "fact", source: ObservationSource = ANA, **more: Any) -> Any:
    return do(talk, record_observation, source, content, category, policy=talk.policy, as_of=AT, **more)


def consolidate(talk: Talk) -> None:
    embedder = WordEmbedder()
    common: dict[str, Any] = {"scope": Scope(tenant_id=TENANT), "policy": talk.policy, "as_of": after(10)}
    for _ in ingest(Work(store=talk.store, embedder=embedder, **common)):
        pass
    for _ in work_in(Work(store=talk.store, embedder=embedder, **common)):
        pass


def test_an_observation_becomes_a_memory_that_names_it(talk: Talk) -> None:
    told = observe(talk, "User prefers short emails from Bruno", "preference")
    assert told.status == "added"
    assert talk.rows("select subject_id, session_id, due_at from ops.queue") == [("ana", "s1", after(5))]
    assert not talk.rows("select from memory.observations")  # not processed yet, and the log does not say so
    consolidate(talk)
    ((memory, *row),) = talk.rows("select id, kind, content, state, origin, session_id from memory.memories")
    assert row == ["preference", "User prefers short emails from Bruno", "active", "observation", "s1"]
    assert talk.rows("select memory_id, relation, source, source_id from memory.lineage") == [
        (memory, "extracted", "event", told.event_id)
    ]
    assert talk.rows("select event_id, candidates, discarded, reason from memory.observations") == [
        (told.event_id, 1, 0, None)
    ]
    (why,) = do(talk, explain, str(memory)).observed
    assert (why.id, why.source, why.type, why.channel, why.direct) == (
        told.event_id, "event", "preference", "interactive", True,
    )  # fmt: skip


def test_the_deferred_tier_hears_of_what_belongs_to_no_session(talk: Talk) -> None:
    source = ObservationSource(tenant_id=TENANT, subject_id="ana")
    observe(talk, "Has a golden retriever named Bruno", source=source)
    minutes = iter(range(6, 100))
    embedder = WordEmbedder()

    def drain_now() -> dict[str, Any]:
        at = after(next(minutes))
        return Drainer(store=talk.store, embedder=embedder, clock=lambda: at).drain(as_of=at).counts()

    assert drain_now()["sessions"] == 1
    ((dog, state),) = talk.rows("select id, state from memory.memories")
    assert state == "active"
    content = "Has a beagle named Bruno"
    do(talk, correct_memory, CorrectionAsked(memory_id=dog, content=content), policy=talk.policy, as_of=after(7))
    assert drain_now()["sessions"] == 1
    assert talk.rows("select content, state, origin from memory.memories") == [
        ("Has a beagle named Bruno", "active", "correction/observation")
    ]
    assert not talk.rows("select from ops.queue")


def test_twice_is_once_and_a_conflict_is_refused(talk: Talk) -> None:
    first = observe(talk, "Has a dog.")
    again = observe(talk, "Has a dog.")
    assert (again.status, again.event_id) == ("repeated", first.event_id)
    with pytest.raises(ConflictError, match="'e1'"):
        observe(talk, "Has a cat.")
    assert talk.rows("select content from log.events") == [("Has a dog.",)]


def test_what_an_autonomous_agent_learned(talk: Talk) -> None:
    told = do(
        talk,
        update_user_context,
        ANA,
        scaffold_updates={"Role": "Engineering Manager", "Projects": {"toolstream": "a project"}},
        persistent_info_additions=["Default Jira project is PROJ"],
        policy=talk.policy,
        as_of=AT,
    )
    assert len(told) == 3
    assert talk.rows("select type, channel, key, content from log.events order by observed_at") == [
        ("scaffold_update", "autonomous", "Role", "Engineering Manager"),
        ("scaffold_update", "autonomous", "Projects", '{"toolstream":"a project"}'),
        ("learned_fact", "autonomous", None, "Default Jira project is PROJ"),
    ]
    consolidate(talk)
    assert talk.rows("select kind, content from memory.memories") == [("fact", "Default Jira project is PROJ")]
    assert talk.rows("select count(*) from memory.observations") == [(1,)]  # the scaffold waits for the profile


def test_what_holds_for_a_connection(talk: Talk) -> None:
    source = ObservationSource(tenant_id=TENANT, subject_id="ana", connection_id="jira-1")
    do(talk, update_connection_context, source, {"default_project": "PROJ"}, policy=talk.policy, as_of=AT)
    assert talk.rows("select type, connection_id, key, content, session_id from log.events") == [
        ("connection_context", "jira-1", "default_project", "PROJ", None)
    ]
    with pytest.raises(InputError, match="connection_id"):
        do(talk, update_connection_context, ANA, {"a": 1}, policy=talk.policy, as_of=AT)


def test_a_document_in_chunks_each_of_its_kind(talk: Talk) -> None:
    numbers = talk.policy.chunk.model_copy(update={"min_tokens": 1, "max_tokens": 40})
    talk.policy = talk.policy.model_copy(update={"chunk": numbers})
    document = Document(text=DOCUMENT, channel="attachment", name="policy.md")
    event = do(talk, record_document, ANA, document, policy=talk.policy, as_of=AT).event_id
    consolidate(talk)
    kinds = dict(talk.rows("select content, kind from memory.memories"))
    assert kinds["The office is in Pune."] == "fact"
    assert kinds["I prefer invoices as PDF, never as a picture."] == "preference"
    assert kinds["Invoice policy"] == "episode"
    assert "ok" not in kinds
    assert talk.rows("select event_id, candidates, discarded from memory.observations") == [(event, 4, 1)]
    assert talk.rows("select report ->> 'discarded_low_content' from ops.runs where stage = 'extract'") == [("1",)]


def test_a_hint_is_obeyed() -> None:
    numbers = load_policy("logic").salience
    assert route("It rained.", numbers, hint="instruction") == "instruction"
    assert route("The office is in Pune.", numbers) == "fact"
    assert route("I prefer tea.", numbers) == "preference"
    assert route("Is the office in Pune?", numbers) == "episode"
    assert route("The office is in Pune.", numbers, hint="working") == "episode"
    assert route("We met. We talked. It is late. It was fun.", numbers) == "episode"


def test_what_is_hinted_to_be_working_is_told_for_a_day(talk: Talk) -> None:
    """Logic 1.6: a memory of the type working, whatever its words."""
    talk.policy = load_policy("logic")
    models: dict[str, Any] = {"policy": talk.policy, "embedder": WordEmbedder()}
    document = Document(text="Deploys the billing service to Pune.", channel="tool", hint="working")
    do(talk, record_document, ANA, document, policy=talk.policy, as_of=AT)
    consolidate(talk)
    assert talk.rows("select kind, origin, expires_at from memory.memories") == [("episode", "working", after(24 * 60))]

    def query(hours: float, kinds: tuple[str, ...] = ()) -> RecallQuery:
        return RecallQuery(text="billing service", subject_id="ana", as_of=after(60 * hours), kinds=kinds or None)

    def found(hours: float, *kinds: str) -> list[str]:
        return [hit.kind for hit in do(talk, recall, query(hours, kinds), **models).hits]

    assert found(2) == found(2, "working") == ["working"]
    assert found(2, "fact") == found(25) == found(25, "working") == []
    context = do(talk, assemble_context, query(2), **models)
    assert "[WORKING] Deploys the billing service to Pune." in context.text


@pytest.mark.parametrize(
    ("operation", "arguments", "options", "named"),
    [
        (record_observation, (ANA, " ", "fact"), {}, "blank"),
        (record_observation, (ANA, "x", "secret"), {}, "category"),
        (update_user_context, (ANA,), {}, "1 to 100 observations"),
        (record_observation, (ANA, "x", "fact"), {"observed_at": AT + timedelta(days=2)}, "observed_at"),
        (record_observation, (ObservationSource(tenant_id=TENANT, subject_id="a\0b"), "x", "fact"), {}, "subject_id"),
        (record_document, (ANA, Document(text="x" * (1 << 21), channel="tool")), {}, "1 MiB"),
        (record_document, (ANA, Document(text="x", channel="tool", hint="summary")), {}, "hint"),  # type: ignore[arg-type],
    ],
)
def test_what_cannot_be_kept_is_refused_by_name(
    talk: Talk, operation: Any, arguments: Any, options: Any, named: str
) -> None:
    with pytest.raises(InputError, match=named):
        do(talk, operation, *arguments, **options, policy=talk.policy, as_of=AT)
    assert not talk.rows("select from log.events")
