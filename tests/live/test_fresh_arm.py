"""What was said a moment ago is recalled: before it is in the log, before it is embedded, and once at every step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from reverie.capture.live.acknowledge import Acknowledged, TurnBatch, TurnReaders, append_turns
from reverie.capture.live.corrections import CorrectionAsked, correct_memory
from reverie.drive.drain import Drainer
from reverie.drive.flush import flush_turns_of
from reverie.errors import NotFoundError
from reverie.inference import Embedder, Vectors
from reverie.policy import Policy, load_policy
from reverie.recall.contexts.context import Context, assemble_context
from reverie.recall.contexts.request import Given, Message
from reverie.recall.filters import Filters, read_attributes
from reverie.recall.query import RecallQuery
from reverie.recall.recall import recall, recall_at_once
from reverie.recall.result import Hit, RecallResult
from reverie.recall.subject_cache import SubjectCache
from reverie.store.session import perform
from reverie.store.tenants import ensure_tenant
from tests.asking import asking
from tests.live.conftest import AT, Talk, after
from tests.promises.world import WordEmbedder

WORDS = WordEmbedder()


class Hosted(WordEmbedder):
    price_per_token = 1e-6


class NotAsked(WordEmbedder):
    def encode(self, texts: Any) -> Vectors:
        raise AssertionError("nothing is to be embedded")


def say(talk: Talk, *texts: str, at: datetime = AT, embedder: Embedder | None = WORDS, **more: Any) -> Acknowledged:
    """Turns of Ana, embedded as they are acknowledged."""
    records = [{"role": "user", "speaker": "Ana", "text": text} | more for text in texts]
    return perform(
        append_turns(
            talk.store.session(talk.tenant), TurnBatch(records=records, **talk.place), policy=talk.policy, as_of=at,
            readers=TurnReaders(count_tokens=WORDS.count_tokens, embedder=embedder),
        )
    )  # fmt: skip


def ask(talk: Talk, question: str, *, at: datetime | None = None, **given: Any) -> RecallResult:
    """Ask in no session at all."""
    options: dict[str, Any] = {"subject_id": talk.subject, "policy": talk.policy, "embedder": WORDS} | given
    query, others = asking(question, as_of=at or after(1), **options)
    return perform(recall(talk.store.session(talk.tenant), query, **others))


def assemble(talk: Talk, question: str, **given: Any) -> Context:
    return perform(
        assemble_context(
            talk.store.session(talk.tenant),
            RecallQuery(text=question, subject_id=talk.subject, as_of=after(1)),
            policy=talk.policy,
            embedder=WORDS,
            given=Given(**given),
        )
    )


def drain(talk: Talk, at: datetime) -> None:
    Drainer(store=talk.store, embedder=WORDS, clock=lambda: datetime.now(UTC)).drain(as_of=at)


def turns(found: RecallResult) -> dict[UUID, Hit]:
    """The hits by the turn that each is or was made of: every turn once."""
    assert len({hit.turn_id for hit in found.hits}) == len(found.hits)
    return {hit.turn_id: hit for hit in found.hits if hit.turn_id}


def remember(talk: Talk) -> None:
    """An earlier session that became memory."""
    earlier = replace(talk, session="earlier")
    say(earlier, "I went to the market yesterday.", "My brother plays the cello.", "I like rain.", at=AT)
    say(earlier, "Rain is fine.", at=after(1), role="assistant", speaker="Bo")
    talk.flush(after(10))
    drain(talk, after(11))


QUESTION = "What is the name of the ferret that Ana adopted?"
SAID = "I adopted a ferret named Ziggy last week."
#: Nothing is remembered of it but the turn.
PLAIN = "The ferret of ours, what a name Ziggy is."


def test_a_turn_is_recalled_at_once_and_scores_as_it_will_later(talk: Talk) -> None:
    remember(talk)
    (heard,) = say(talk, PLAIN, at=after(20)).turns
    assert not heard.noticed.candidates
    scores = []
    steps: list[tuple[bool, Callable[[], object]]] = [
        (True, lambda: None),
        (True, lambda: talk.flush(after(26))),
        (False, lambda: drain(talk, after(27))),
    ]
    for is_fresh, step in steps:
        step()
        found = ask(talk, QUESTION, at=after(30))
        hit = turns(found)[heard.turn_id]
        assert hit == found.hits[0]
        assert (hit.fresh, hit.session_id, hit.happened_at) == (is_fresh, "s1", after(20))
        assert hit.content == f"Ana: {PLAIN}"
        assert hit.told.endswith("(said just now)") == is_fresh
        scores.append(hit.score)
    assert scores == pytest.approx([scores[0]] * 3, rel=0.02)


def test_every_signal_is_measured_as_the_search_does(talk: Talk) -> None:
    remember(talk)
    say(talk, "Did you see the ferret on Sunday?", at=after(20), role="assistant", speaker="Bo")
    say(talk, "Yes, what a ferret, 2020 all over, my word.", "The market was full.", at=after(21))
    names = {"similarity", "lexical", "answers", "session_similarity", "speaker", "date", "first_person", "names_time",
             "asks", "assistant", "asked_assistant", "memory", "recency", "importance", "access", "entity", "standing",
             "length"}  # fmt: skip
    policy = with_recall(weights=dict.fromkeys(names, 0.1), query_weights={})
    question = "What did you tell Ana of her ferret on March 2nd, 2026?"
    before = turns(ask(talk, question, policy=policy, at=after(60)))
    talk.flush(after(30))
    drain(talk, after(31))
    later = turns(ask(talk, question, policy=policy, at=after(60)))
    assert sum(hit.fresh for hit in before.values()) == 3
    for id_, hit in before.items():
        assert later[id_].reply_to == hit.reply_to
        for name in names:
            allowed = 0.1 if name == "length" else 0.02  # the memories made meanwhile are shorter
            assert hit.signals[name].value == pytest.approx(later[id_].signals[name].value, abs=allowed), name
    assert not any(hit.fresh for hit in later.values())
    assert any(hit.reply_to for hit in before.values())


def with_recall(**numbers: Any) -> Policy:
    policy = load_policy("reverie")
    return policy.model_copy(update={"recall": policy.recall.model_copy(update=numbers)})


def test_the_first_turn_of_a_subject_is_recalled(talk: Talk) -> None:
    assert ask(talk, QUESTION, embedder=NotAsked()).notes == ("Nothing is remembered about ana.",)
    (heard,) = say(talk, SAID).turns
    cache = SubjectCache()
    for step in (lambda: None, lambda: talk.flush(after(6)), lambda: drain(talk, after(7))):
        step()
        for _ in range(2):
            found = perform(
                recall_at_once(
                    talk.store.session(talk.tenant),
                    RecallQuery(text=QUESTION, subject_id="ana", as_of=after(9)),
                    cache,
                    policy=talk.policy,
                    embedder=WORDS,
                )
            )
            assert found.hits[0].turn_id == heard.turn_id
            assert len(found.hits) == 1
            assert found.notes == ()


@pytest.mark.parametrize("embedder", [None, Hosted()])
def test_words_find_what_has_no_vector_yet(talk: Talk, embedder: Embedder | None) -> None:
    remember(talk)
    say(talk, SAID, "My sister knits.", at=after(20), embedder=embedder)
    found = ask(talk, QUESTION, at=after(21))
    (fresh,) = [hit for hit in found.hits if hit.fresh]
    assert (fresh, fresh.content) == (found.hits[0], f"Ana: {SAID}")
    (fresh,) = [hit for hit in ask(talk, QUESTION, at=after(21), embedder=None).hits if hit.fresh]
    assert fresh.content == f"Ana: {SAID}"


def test_vectors_find_what_no_word_does(talk: Talk) -> None:
    class Alike(WordEmbedder):
        def encode(self, texts: Any) -> Vectors:
            return super().encode([text.replace("ferret", "polecat") for text in texts])

    (heard,) = say(talk, "Zoe bought a ferret.", embedder=Alike()).turns
    found = ask(talk, "polecat", embedder=Alike())
    assert found.hits[0].id == heard.turn_id
    assert found.hits[0].signals["lexical"].value == 0
    assert not ask(talk, "polecat", embedder=None).hits


def test_long_turns_are_found_by_words_alone(talk: Talk) -> None:
    talk.policy = with_recall(fresh_characters=60)
    say(talk, SAID, "A ferret " * 20, "Ferret.")
    assert len(talk.rows("select from ops.embeddings where content_hash in (select sha256(convert_to('Ana: ' || text,"
                         " 'UTF8')) from ops.pending_turns)")) == 1  # fmt: skip
    assert len(ask(talk, "ferret").hits) == 3


def test_the_stage_embeds_nothing_again(talk: Talk) -> None:
    say(talk, SAID, "Hello.", "Ana\u200b is here.")
    talk.flush(after(6))
    drain(talk, after(7))
    ((saved,),) = talk.rows("select sum((report ->> 'calls_saved')::int) from ops.runs where stage = 'embed'")
    assert saved >= 2


def test_only_what_had_been_said_is_given(talk: Talk) -> None:
    say(talk, SAID, said_at="2026-03-02T09:00:30Z", at=after(1))
    assert not ask(talk, QUESTION, at=after(0.4)).hits
    assert ask(talk, QUESTION, at=after(0.5)).hits
    talk.flush(after(7))
    assert not ask(talk, QUESTION, at=after(0.4)).hits
    assert ask(talk, QUESTION, at=after(0.5)).hits


def test_only_the_subjects_own_turns_are_given(talk: Talk) -> None:
    say(talk, SAID)
    say(replace(talk, subject="bob"), "I have a hamster.")
    other = replace(talk, tenant="other")
    with talk.store.transaction("other") as conn:
        ensure_tenant(conn, "other", "reverie")
    say(other, "I have a cat.")
    assert [hit.content for hit in ask(replace(talk, subject="bob"), QUESTION).hits] == ["Ana: I have a hamster."]
    assert [hit.content for hit in ask(other, QUESTION).hits] == ["Ana: I have a cat."]
    assert not ask(replace(talk, subject="zoe"), QUESTION).hits


def test_filters_hold(talk: Talk) -> None:
    mail = say(talk, SAID, metadata={"connection_id": "mail-1", "context_type": "tool_entity"}).turns[0].turn_id
    plain = say(replace(talk, session="s2"), "The ferret sleeps.").turns[0].turn_id
    for step in (lambda: None, lambda: talk.flush(after(6)), lambda: drain(talk, after(7))):
        step()

        def found(**filters: Any) -> set[UUID]:
            return set(turns(ask(talk, QUESTION, at=after(9), filters=Filters(**filters))))

        assert found() == {mail, plain}
        assert found(connections=[]) == {plain}
        assert found(connections=["mail-1"]) == {mail, plain}
        assert found(context_types=["tool_entity"]) == found(sessions=["s1"]) == {mail}
        assert found(sessions=["s3"]) == set()
        assert not any(hit.fresh for hit in ask(talk, QUESTION, at=after(9), kinds=["fact"]).hits)
        (seen,) = perform(read_attributes(talk.store.session(talk.tenant), "ana", [mail]))[mail]
        assert (seen.connection_id, seen.context_type, seen.source) == ("mail-1", "tool_entity", "user_provided")


def test_a_policy_says_how_many(talk: Talk) -> None:
    say(talk, "I have a ferret.", "I had a ferret.", "I want a ferret.")
    assert len(ask(talk, "ferret").hits) == 3
    (latest,) = ask(talk, "ferret", policy=with_recall(fresh=1)).hits
    assert latest.content == "Ana: I want a ferret."
    assert not ask(talk, "ferret", policy=with_recall(fresh=0)).hits
    assert not ask(talk, "ferret", policy=load_policy("brain")).hits


def test_a_least_similarity_holds(talk: Talk) -> None:
    say(talk, "Nothing alike.", SAID)
    found = ask(talk, "ferret", policy=with_recall(min_similarity=0.9))
    assert [hit.content for hit in found.hits] == [f"Ana: {SAID}"]
    assert [drop.reason for drop in found.dropped] == ["similarity"]


def test_a_turn_that_is_gone_is_not_given(talk: Talk) -> None:
    say(talk, SAID)
    with talk.store.transaction(talk.tenant) as conn:
        conn.execute("delete from ops.pending_turns")
        conn.execute("delete from ops.sessions")
    found = ask(talk, QUESTION)
    assert (found.hits, found.notes) == ((), ("Nothing is remembered about ana.",))


def correct(talk: Talk, memory_id: UUID, **given: Any) -> None:
    asked = CorrectionAsked(memory_id=memory_id, **given)
    operation = correct_memory(talk.store.session(talk.tenant), asked, policy=talk.policy, as_of=after(2))
    perform(operation)


@pytest.mark.parametrize("given", [{"asked": "wrong"}, {"asked": "forget"}, {"content": "Has a stoat named Ziggy"}])
def test_what_was_said_a_moment_ago_can_be_corrected(talk: Talk, given: dict[str, str]) -> None:
    (heard,) = say(talk, "Always ask about the ferret before dinner.").turns
    say(talk, "The ferret sleeps.", at=after(1))
    memory_id = heard.noticed.candidates[0].id
    with pytest.raises(NotFoundError):
        correct(talk, memory_id, **given)
    flushed = {"tenant_id": talk.tenant, "policy": talk.policy, "as_of": after(2), "count_tokens": WORDS.count_tokens}
    assert flush_turns_of(talk.store, memory_id, **flushed) == memory_id
    correct(talk, memory_id, **given)
    assert [hit.content for hit in ask(talk, QUESTION, at=after(3)).hits if hit.fresh] == ["Ana: The ferret sleeps."]
    drain(talk, after(4))
    assert not any("before dinner" in hit.content for hit in ask(talk, QUESTION, at=after(5)).hits)
    assert flush_turns_of(talk.store, memory_id, **flushed) is None
    assert say(talk, "I am back.", at=after(6)).turns[0].status == "added"


@pytest.mark.parametrize("is_flushed", [False, True])
def test_words_that_the_reader_keeps_are_corrected_by_the_id_of_the_acknowledgement(
    talk: Talk, *, is_flushed: bool
) -> None:
    talk.policy = load_policy("reverie")
    (heard,) = say(talk, "I bought a trombone").turns
    (named,) = heard.noticed.candidates
    if is_flushed:
        talk.flush(after(10))
    flushed = {"tenant_id": talk.tenant, "policy": talk.policy, "as_of": after(11), "count_tokens": WORDS.count_tokens}
    memory_id = flush_turns_of(talk.store, named.id, **flushed)
    assert talk.rows("select id, origin, content from memory.memories") == [(memory_id, "said", named.content)]
    assert memory_id is not None
    correct(talk, memory_id, asked="wrong")
    drain(talk, after(12))
    assert ask(talk, "Did I buy a trombone?", at=after(13)).hits == ()


def test_a_context_gives_it_and_repeats_nothing(talk: Talk) -> None:
    remember(talk)
    talk.policy = load_policy("reverie")
    say(talk, SAID, "Ziggy is a rascal.", at=AT)
    told = assemble(talk, QUESTION).text
    assert f"Ana: {SAID} (said just now)" in told
    told = assemble(talk, "Ziggy is a rascal.", history=[Message(role="user", content=SAID)]).text
    assert "said just now" not in told
    assert told.count("rascal") <= 1


def test_the_question_said_as_a_turn_lifts_no_session(talk: Talk) -> None:
    remember(talk)
    say(talk, "It rains.", QUESTION, at=after(20))
    plain = next(hit for hit in ask(talk, QUESTION, at=after(21)).hits if hit.content == "Ana: It rains.")
    assert plain.signals["session_similarity"].value == plain.signals["similarity"].value


def test_a_correction_withholds_it_while_it_is_embedded_nowhere(talk: Talk) -> None:
    (heard,) = say(talk, "Always ask about the ferret before dinner.").turns
    talk.flush(after(6))
    assert ask(talk, QUESTION, at=after(7)).hits
    correct(talk, heard.noticed.candidates[0].id, asked="forget")
    assert not turns(ask(talk, QUESTION, at=after(7)))


def test_a_candidate_repeats_one_that_still_waits(talk: Talk) -> None:
    other = replace(talk, session="s2")
    (first,) = say(talk, "This is my brother Bruno.").turns
    (memory_id,) = [one.id for one in first.noticed.candidates if one.kind == "fact"]
    for minute, step in ((1, lambda: None), (12, lambda: talk.flush(after(11))), (25, lambda: drain(talk, after(24)))):
        step()
        heard = say(other, "This is my brother Bruno!", "My phone number is 0151 2345678.", at=after(minute)).turns
        (near,) = heard[0].near.values()
        assert near.similarity == pytest.approx(1, abs=1e-3)
        assert near.memory_id == memory_id or minute > 1
        assert not heard[1].near or minute > 1
    assert say(talk, "This is my brother Bruno.", said_at=AT, source_id="x").turns[0].near
    again = {"said_at": after(40).isoformat(), "source_id": "y"}
    say(replace(talk, subject="new"), "Always suggest cello music.", at=after(40), **again)
    assert say(replace(talk, subject="new"), "Always suggest cello music.", at=after(41), **again).turns[0].near == {}
