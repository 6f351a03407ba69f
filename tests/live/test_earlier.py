"""Running sessions (Chat flow 1): from the 21st turn a context has the summary of the oldest ten, before any flush.

What is stored in the end equals what an import of the same history gives.
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from reverie.drive.cycle import catch_up, ingest
from reverie.policy import Policy, load_policy
from reverie.recall.contexts.context import Context, assemble_context
from reverie.recall.contexts.request import Given, Message
from reverie.recall.query import RecallQuery
from reverie.store.database import Store
from reverie.store.digest import digest
from reverie.store.work import Work
from tests.conftest import Databases
from tests.live.conftest import TENANT, Talk, after
from tests.promises.world import WordEmbedder, live, scope

pytestmark = pytest.mark.timeout(120)

#: After two cycles.
END = after(24 * 60)


@pytest.fixture
def chat(store: Store) -> Talk:
    with store.transaction(TENANT) as conn:
        conn.execute("update ops.tenants set policy = 'chat'")
    return Talk(store, load_policy("chat"))


def said(number: int) -> dict[str, Any]:
    """A turn of a conversation about houses: every second one is the assistant's."""
    if number % 2:
        text = f"We visited the old house number {number} in Utrecht with my sister, and its garden was too small."
        return {"role": "user", "text": text, "source_id": f"t{number}"}
    text = f"House number {number - 1} in Utrecht costs 4{number:02}000 euros and has a heat pump."
    return {"role": "assistant", "text": text, "source_id": f"t{number}"}


def at(number: int) -> datetime:
    """When the turn of a number is said: seven a minute, so that nothing is quiet or waits long."""
    return after(number / 7)


def talk_until(talk: Talk, last: int, first: int = 1) -> None:
    for number in range(first, last + 1):
        talk.send(said(number), at=at(number))


def context(talk: Talk, number: int, *, policy: Policy | None = None, **given: Any) -> Context:
    """A context as of the turn of a number, with the conversation that working memory holds."""
    session = talk.read(at(number))
    assert session is not None
    history = [Message(role=turn.role, content=turn.text) for turn in session.turns]
    history[:1] = [replace(one, left_out=session.left_out) for one in history[:1]]
    return talk.do(
        lambda session, **place: assemble_context(
            session,
            RecallQuery(text="What about the garden?", subject_id=place["subject_id"], as_of=at(number)),
            policy=policy or talk.policy,
            embedder=WordEmbedder(),
            given=Given(**({"history": history, "session_id": talk.session} | given)),
        )
    )


def summaries(found: Context) -> list[tuple[str, str]]:
    lines = [line for one in found.sections if one.name == "history" for line in one.lines]
    return [(line.label, line.text) for line in lines if line.text.startswith("(earlier")]


def logged(talk: Talk) -> int:
    return int(talk.rows("select count(*) from log.turns")[0][0])


def test_a_context_has_the_summary_of_the_oldest_turns_before_any_flush(chat: Talk) -> None:
    talk_until(chat, 19)
    assert summaries(context(chat, 19)) == []
    talk_until(chat, 20, 20)
    assert summaries(context(chat, 20)) == [], "the window still holds each of the twenty"
    talk_until(chat, 25, 21)
    found = context(chat, 25)
    ((label, line),) = summaries(found)
    assert label == "summary of turns 1-10"
    assert line.startswith("(earlier, turns 1-10) 2 March 2026. User: We visited the old house number ")
    assert logged(chat) == 0
    assert "turns 1-10 are summarised for this context" in " ".join(found.notes)
    assert "left out" not in found.text and "leaves out" not in " ".join(found.notes)
    more = [Message(role="user", content="Hello again", left_out=15)]
    assert "(5 earlier turns left out)" in context(chat, 25, history=more).text, "ten of fifteen are summarised"
    ids = [row[0] for row in chat.rows("select id from ops.pending_turns order by arrival limit 10")]
    (made,) = [line for one in found.sections for line in one.lines if line.label == label]
    assert list(made.ids) == ids
    talk_until(chat, 45, 26)
    assert [label for label, _ in summaries(context(chat, 45))] == [
        "summary of turns 1-10", "summary of turns 11-20", "summary of turns 21-30",
    ]  # fmt: skip


def test_none_where_nothing_asks_for_it(chat: Talk) -> None:
    talk_until(chat, 25)
    assert summaries(context(chat, 25, mode="off")) == []
    assert summaries(context(chat, 25, session_id=None)) == []
    assert summaries(context(chat, 25, session_id="other")) == []
    without = context(chat, 25, policy=load_policy("reverie"))
    assert summaries(without) == [] and "(5 earlier turns left out)" in without.text
    every = [Message(role=said(n)["role"], content=said(n)["text"]) for n in range(1, 26)]
    assert summaries(context(chat, 25, history=every)) == [], "the conversation holds the turns themselves"
    other = replace(chat, subject="ben")
    other.send(said(1), at=at(1))
    assert summaries(context(other, 25)) == []


def test_a_small_budget_drops_the_oldest_summary(chat: Talk) -> None:
    talk_until(chat, 45)
    policy = chat.policy.model_copy(update={"context": chat.policy.context.model_copy(update={"history": 200})})
    found = context(chat, 45, policy=policy)
    (section,) = [one for one in found.sections if one.name == "history"]
    assert 0 < section.tokens <= 200
    assert "summary of turns 1-10" in [one.label for one in section.dropped if one.reason == "budget"]
    bare = context(chat, 45, history=[])
    assert next(label for label, _ in summaries(bare)) == "summary of turns 1-10"
    tight = chat.policy.model_copy(update={"context": chat.policy.context.model_copy(update={"history": 5})})
    (none,) = [one for one in context(chat, 45, policy=tight, history=[]).sections if one.name == "history"]
    assert (none.text, len(none.dropped)) == ("", 3)


def cycles(store: Store, policy: Policy, as_of: datetime) -> None:
    work = Work(store=store, scope=scope(TENANT), policy=policy, as_of=as_of, embedder=WordEmbedder())
    for _ in (*ingest(work), *catch_up(work)):
        pass


def test_what_is_stored_is_what_the_context_had_and_what_an_import_gives(
    chat: Talk, databases: Databases, tmp_path: Path
) -> None:
    talk_until(chat, 25)
    ((_, line),) = summaries(context(chat, 25))
    chat.flush(after(30))
    assert logged(chat) == 25
    ((_, between),) = summaries(context(chat, 25))
    assert between == line, "in the log, and no cycle yet"
    cycles(chat.store, chat.policy, END)
    ((id_, start, end, content),) = chat.rows(
        "select id, turn_start, turn_end, content from memory.memories where origin = 'range'"
    )
    assert line == f"(earlier, turns {start}-{end}) {content}"
    stored = context(chat, 25)
    assert [text for _, text in summaries(stored)] in ([line], []), "given by its id, here or as near the question"
    assert UUID(str(id_)) in [id_ for one in stored.sections for each in one.lines for id_ in each.ids]
    file = tmp_path / "history.jsonl"
    place = {"tenant_id": TENANT, "subject_id": chat.subject, "session_id": chat.session}
    records = [place | said(n) | {"said_at": at(n).isoformat()} for n in range(1, 26)]
    file.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    with databases() as url, Store.open(url, size=2) as imported:
        live(imported, TENANT, chat.policy, file, END)
        assert digest(imported, TENANT).tables == digest(chat.store, TENANT).tables


def test_a_withdrawn_turn_is_not_summarised(chat: Talk) -> None:
    for number in range(1, 11):
        text = f"We visited the secret house number {number} in Utrecht with my sister, its garden was too small."
        chat.send(said(number) | {"text": text}, at=at(number))
    talk_until(chat, 25, 11)
    ((_, line),) = summaries(context(chat, 25))
    assert "secret" in line
    chat.flush(after(30))
    with chat.store.transaction(TENANT) as conn:
        conn.execute(
            "insert into memory.marks (tenant_id, subject_id, item, item_id, mark, correction_id, pending)"
            " select tenant_id, subject_id, 'turn', id, 'forgotten', id, false from log.turns"
            " where text like '%secret%'"
        )
    assert summaries(context(chat, 25)) == []


def test_the_cycle_of_the_deferred_tier_takes_over(chat: Talk) -> None:
    """Turns after the stored range are due only with twenty that no summary tells."""
    talk_until(chat, 25)
    chat.flush(after(30))
    cycles(chat.store, chat.policy, after(60))
    later = after(61)
    for number in range(26, 32):
        chat.send(said(number), at=later + timedelta(seconds=number))
    session = chat.read(later + timedelta(minutes=1))
    assert session is not None
    history = [Message(role=turn.role, content=turn.text) for turn in session.turns]
    found = chat.do(
        lambda session, **place: assemble_context(
            session,
            RecallQuery(subject_id=place["subject_id"], as_of=later + timedelta(minutes=1)),
            policy=chat.policy,
            embedder=None,
            given=Given(history=history, session_id=chat.session),
        )
    )
    assert [label for label, _ in summaries(found)] == ["summary of turns 1-10", "summary of turns 11-20"]
