"""The statement that reads waiting turns: which it reads, and when."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from reverie.drive.drain import Drainer
from reverie.recall.fresh.read import WaitingTurn, fresh_statement
from reverie.recall.query import RecallQuery
from reverie.recall.question import read_question
from reverie.recall.recall import recall
from reverie.recall.search import Search, search_params
from reverie.store.session import Statement, TenantSession, perform
from reverie.store.session.piggyback import Piggyback
from tests.live.conftest import Talk, after
from tests.promises.world import WordEmbedder


def read(talk: Talk, question: str = "tea", **given: Any) -> list[WaitingTurn]:
    numbers = talk.policy.recall
    asked = read_question(question, policy=numbers, speakers=(), asked_at=after(90))
    wanted = Search(
        tenant_id=talk.tenant, subject_id=talk.subject, question=asked, vector=None, model=None,
        as_of=given.pop("as_of", after(90)), **given,
    )  # fmt: skip
    params = search_params(wanted, talk.policy)
    assert params
    rows = perform(talk.store.session(talk.tenant).run(fresh_statement(params, talk.policy)))
    return [WaitingTurn(*row) for row in rows]


def drain(talk: Talk, at: datetime) -> None:
    Drainer(store=talk.store, embedder=WordEmbedder(), clock=lambda: datetime.now(UTC)).drain(as_of=at)


def test_the_latest_come_first_wherever_they_wait(talk: Talk) -> None:
    talk.say("I like tea.")
    talk.flush(after(6))
    talk.say("I like coffee.", at=after(7))
    replace(talk, session="s2").say("I like milk.", at=after(8))
    assert [turn.text for turn in read(talk)] == ["I like milk.", "I like coffee.", "I like tea."]
    drain(talk, after(9))
    assert [turn.text for turn in read(talk)] == ["I like milk.", "I like coffee."]
    assert [turn.text for turn in read(talk, as_of=after(7))] == ["I like coffee."]
    assert read(talk, among=[]) == []


def test_a_turn_sent_again_while_it_is_flushed_is_read_once(talk: Talk) -> None:
    talk.say("I like tea.", source_id="1")
    columns = "tenant_id, subject_id, session_id, source_id, id, role, said_at, text, content_hash"
    with talk.store.transaction(talk.tenant) as conn:
        row = conn.execute(f"select {columns} from ops.pending_turns").fetchone()  # type: ignore[call-overload]  # noqa: S608
    talk.flush(after(6))
    with talk.store.transaction(talk.tenant) as conn:
        conn.execute(
            f"insert into ops.pending_turns ({columns}) values (%s, %s, %s, %s, %s, %s, %s, %s, %s)",  # type: ignore[call-overload]  # noqa: S608
            row,
        )
    assert len(read(talk)) == 1


def test_it_tells_what_bm25_needs(talk: Talk) -> None:
    talk.say("I like tea with milk, tea.", "Tea is fine.", speaker="Ana")
    talk.flush(after(6))
    drain(talk, after(7))
    talk.say("Green tea, black tea.", "Rain.", at=after(8), speaker="Ana")
    rain, tea = read(talk, "Does Ana like green tea?")
    assert dict(zip(tea.words or (), tea.counts or (), strict=True)) == {"green": 1, "tea": 2}
    assert (rain.words, rain.counts) == (None, None)
    assert (tea.length, rain.length) == (5, 2)
    items = talk.rows("select items, terms from memory.subjects")[0]
    assert (rain.items, rain.terms) == items
    ((with_tea,),) = talk.rows("select count(*) from memory.postings where term = 'tea'")
    assert (list(rain.asked_words or ()), list(rain.having or ())[::2]) == (["green", "like", "tea"], [0, with_tea])
    assert with_tea >= 2


def test_the_turn_before_counts_if_it_asked(talk: Talk) -> None:
    talk.say("What do you drink?", speaker="Bo")
    talk.flush(after(6))
    drain(talk, after(7))
    talk.say("Tea.", "With milk?", "Yes.", at=after(8), speaker="Ana")
    assert [turn.asked_text for turn in read(talk)] == ["With milk?", None, "What do you drink?"]


class Between(Piggyback):
    """A session in which something happens between the first two statements of a round trip."""

    def __init__(self, session: TenantSession, happens: Any) -> None:
        super().__init__(session, ())
        self.happens = happens

    async def execute(self, statements: tuple[Statement[Any], ...]) -> tuple[list[Any], ...]:
        if len(statements) < 2:
            return await super().execute(statements)
        first = await super().execute(statements[:1])
        self.happens()
        return first + await super().execute(statements[1:])


def test_a_turn_that_becomes_searchable_meanwhile_is_found_once(talk: Talk) -> None:
    def work_in() -> None:
        talk.flush(after(6))
        drain(talk, after(7))

    talk.say("My tea has no name.")  # nothing is remembered of it but the turn
    happened = list[None]()
    session = Between(talk.store.session(talk.tenant), lambda: happened.append(work_in()))
    found = perform(
        recall(
            session,
            RecallQuery(text="tea", subject_id="ana", as_of=after(8)),
            policy=talk.policy,
            embedder=WordEmbedder(),
        )
    )
    assert [hit.content for hit in found.hits] == ["My tea has no name."]
    assert happened == [None]
