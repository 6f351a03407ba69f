"""Filters of recall: by connection, context type, source, tool, attachment and session."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import orjson
import pytest

from reverie.model import stable_id
from reverie.policy import load_policy
from reverie.recall.contexts.context import assemble_context
from reverie.recall.contexts.request import Given
from reverie.recall.filters import Filters, read_admitted, read_attributes
from reverie.recall.query import RecallQuery
from reverie.recall.question import read_question
from reverie.recall.recall import recall
from reverie.recall.search import Search, search_params
from reverie.store.database import Store
from reverie.store.session import perform
from tests.recall.conftest import LATER, Corpus, FixedEmbedder, day, policy_with


def turn(corpus: Corpus, text: str, *, metadata: dict[str, Any] | None = None, **given: Any) -> UUID:
    id_ = corpus.turn(text, **given)
    if metadata:
        # the log is append-only for everybody but its owner
        corpus.conn.execute("update log.turns set metadata = %s where id = %s", [orjson.dumps(metadata).decode(), id_])
    return id_


def event(corpus: Corpus, type_: str, content: str, **given: Any) -> UUID:
    corpus.number += 1
    id_ = stable_id(day(corpus.number / 100), "event", str(corpus.number))
    metadata = given.get("metadata")
    corpus.conn.execute(
        "insert into log.events (tenant_id, id, subject_id, session_id, source_id, type, channel, connection_id, key,"
        " content, metadata, observed_at, content_hash) values (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, '')",
        [corpus.tenant, id_, corpus.subject, given.get("session"), str(corpus.number), type_,
         given.get("channel", "interactive"), given.get("connection"), given.get("key"), content,
         orjson.dumps(metadata).decode() if metadata else None, day(corpus.number / 100)],
    )  # fmt: skip
    return id_


def memory(corpus: Corpus, text: str, *sources: tuple[str, str, UUID], **given: Any) -> UUID:
    """A memory with its lineage: (relation, source, id)."""
    id_ = corpus.memory(text, **given)
    for relation, source, source_id in sources:
        corpus.conn.execute(
            "insert into memory.lineage (tenant_id, memory_id, relation, source, source_id, as_of, run_id)"
            " values (%s, %s, %s, %s, %s, %s, %s)",
            [corpus.tenant, id_, relation, source, source_id, day(1), UUID(int=0)],
        )
    return id_


def found(reader: Store, **filters: Any) -> set[UUID]:
    recalled = recall(
        reader.session("acme"),
        RecallQuery(text="quartz", subject_id="ann", as_of=LATER, filters=Filters(**filters)),
        policy=policy_with(top_k=50),
        embedder=FixedEmbedder(),
    )
    return {hit.id for hit in perform(recalled).hits}


def test_turns_are_filtered_by_each_attribute(corpus: Corpus, reader: Store) -> None:
    plain = turn(corpus, "quartz one")
    jira = turn(corpus, "quartz two", metadata={"connection_id": "jira-1", "source": "system_learned"}, session="s2")
    mail = turn(corpus, "quartz three", metadata={"connection_id": "mail-1", "context_type": "tool_persistent"})
    tool = turn(corpus, "quartz four", role="tool", speaker="search", session="s3")
    file_ = turn(corpus, "quartz five", metadata={"attachment_id": "a-7", "filename": "cv.pdf", "tool_id": "mail.read"})
    everything = {plain, jira, mail, tool, file_}
    assert found(reader) == everything
    assert found(reader, connections=["jira-1"]) == everything - {mail}
    assert found(reader, connections=[]) == everything - {mail, jira}
    assert found(reader, context_types=["tool_persistent", "tool_entity"]) == {mail, tool}
    assert found(reader, sources=["system_learned"]) == {jira}
    assert found(reader, sources=["tool_indexed"]) == {tool}
    assert found(reader, tools=["search", "mail.read"]) == {tool, file_}
    assert found(reader, attachments=["a-7"]) == found(reader, attachments=["cv.pdf"]) == {file_}
    assert found(reader, sessions=["s2", "s3"]) == {jira, tool}
    assert found(reader, sessions=["s2"], sources=["tool_indexed"]) == set()


def test_what_is_unknown_falls_back_to_role_and_type(corpus: Corpus, reader: Store) -> None:
    odd = turn(corpus, "quartz", metadata={"context_type": "of my own", "source": "somewhere"})
    ((attributes,),) = perform(read_attributes(reader.session("acme"), "ann", [odd])).values()
    assert (attributes.context_type, attributes.source) == ("user_profile", "user_provided")


@pytest.mark.parametrize(
    ("type_", "channel", "context_type", "source"),
    [
        ("preference", "interactive", "user_profile", "user_provided"),
        ("learned_fact", "autonomous", "user_persistent", "system_learned"),
        ("tool_output", "tool", "tool_entity", "tool_indexed"),
        ("attachment", "attachment", "tool_attachment_content", "tool_extracted_content"),
    ],
)
def test_a_memory_has_the_attributes_of_its_event(
    corpus: Corpus, reader: Store, type_: str, channel: str, context_type: str, source: str
) -> None:
    happened = event(corpus, type_, "quartz", channel=channel, connection="jira-1", key="k", session="s9")
    id_ = memory(corpus, "Found quartz", ("extracted", "event", happened))
    ((attributes,),) = perform(read_attributes(reader.session("acme"), "ann", [id_])).values()
    assert (attributes.context_type, attributes.source, attributes.session_id) == (context_type, source, "s9")
    assert attributes.connection_id == "jira-1"
    assert found(reader, context_types=[context_type], sources=[source], sessions=["s9"]) == {id_}
    assert found(reader, connections=["mail-1"]) == set()
    assert found(reader, connections=["jira-1"]) == {id_}


def test_any_source_admits_what_was_said_and_all_must_admit_what_sums_up(corpus: Corpus, reader: Store) -> None:
    secret = event(corpus, "fact", "quartz", connection="jira-1")
    told = event(corpus, "fact", "quartz")
    both = memory(corpus, "quartz of both", ("extracted", "event", secret), ("merged", "event", told))
    alone = memory(corpus, "quartz of jira", ("extracted", "event", secret))
    summary = memory(
        corpus, "quartz summed up", ("compressed", "memory", both), ("compressed", "memory", alone), kind="summary"
    )
    merged = memory(corpus, "quartz again", ("extracted", "event", told), ("merged", "memory", alone))
    written = memory(corpus, "quartz by hand")
    assert found(reader, connections=[]) == {both, merged, written}
    assert found(reader, connections=["jira-1"]) == {both, alone, summary, merged, written}
    assert written not in found(reader, sources=["system_learned"])


def test_filters_hold_with_words_kinds_and_compressed(corpus: Corpus, reader: Store) -> None:
    secret = event(corpus, "fact", "quartz", connection="jira-1")
    hidden = memory(corpus, "quartz of jira", ("extracted", "event", secret), kind="preference")
    seen = memory(corpus, "quartz for all", kind="preference")
    other = memory(corpus, "quartz fact", kind="fact")
    for embedder in (None, FixedEmbedder()):
        for kinds in (None, ["preference"]):
            recalled = recall(
                reader.session("acme"),
                RecallQuery(
                    text="quartz",
                    subject_id="ann",
                    as_of=LATER,
                    kinds=kinds,
                    include_compressed=True,
                    filters=Filters(connections=()),
                ),
                policy=policy_with(),
                embedder=embedder,
            )
            hits = {hit.id for hit in perform(recalled).hits}
            assert hidden not in hits
            assert hits == ({seen} if kinds else {seen, other})


def test_filters_stay_within_the_tenant_and_subject(corpus: Corpus, reader: Store) -> None:
    mine = turn(corpus, "quartz")
    Corpus(corpus.conn, tenant="other").turn("quartz", at=day(1) + timedelta(seconds=1))
    assert perform(read_admitted(reader.session("acme"), "ann", Filters(connections=()))) == [mine]
    assert perform(read_admitted(reader.session("acme"), "ann", Filters())) is None


def test_working_is_what_is_about_now_and_recent(corpus: Corpus, reader: Store) -> None:
    now = corpus.memory("Is currently looking for quartz", kind="episode", at=LATER - timedelta(hours=3))
    corpus.memory("Is currently selling quartz", kind="episode", at=LATER - timedelta(days=3))
    always = corpus.memory("Prefers quartz", kind="preference", at=LATER - timedelta(hours=2))

    def of(*kinds: str, **given: Any) -> set[UUID]:
        query = RecallQuery(text="quartz", subject_id="ann", as_of=LATER, kinds=kinds, **given)
        recalled = recall(reader.session("acme"), query, policy=policy_with(), embedder=FixedEmbedder())
        return {hit.id for hit in perform(recalled).hits}

    assert of("working") == of("working", filters=Filters(connections=())) == {now}
    assert of("working", "preference") == {now, always}
    assert of("preference") == {always}
    context = perform(
        assemble_context(
            reader.session("acme"),
            RecallQuery(text="quartz", subject_id="ann", as_of=LATER),
            policy=load_policy("logic"),
            embedder=FixedEmbedder(),
            given=Given(preferences=["Answer <in> Portuguese"]),
        )
    )
    assert "[WORKING] Is currently looking for quartz" in context.text
    assert ": Is currently selling quartz" in context.text
    assert "[WORKING] Answer &lt;in&gt; Portuguese" in context.text
    assert "[PROCEDURAL] Prefers quartz" in context.text


@pytest.mark.parametrize(
    ("name", "asked", "most"), [("logic", 5, 20), ("logic", 10, 40), ("reverie", 150, 150), ("chat", 10, 10)]
)
def test_candidates_grow_with_what_is_asked_for(name: str, asked: int, most: int) -> None:
    policy = load_policy(name)
    question = read_question("q", policy=policy.recall, speakers=(), asked_at=LATER)
    wanted = Search(tenant_id="t", subject_id="s", question=question, vector=None, model=None, as_of=LATER, top_k=asked)
    params = search_params(wanted, policy)
    assert params and params["candidates"] == most
    if name == "reverie":
        default = search_params(replace(wanted, top_k=None), policy)
        assert default and default["candidates"] == load_policy(name).recall.candidates
