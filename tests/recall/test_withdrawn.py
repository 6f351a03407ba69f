"""A conversation against the log, whose turns may begin and end in blanks: what is withdrawn, what is summarised."""

from __future__ import annotations

from uuid import UUID

import pytest

from reverie.policy import load_policy
from reverie.recall.contexts.context import assemble_context
from reverie.recall.contexts.earlier import WITHDRAWN, earlier_statements
from reverie.recall.contexts.request import Given, Message
from reverie.recall.query import RecallQuery
from reverie.store.database import Store
from reverie.store.session import perform
from tests.recall.conftest import LATER, Corpus, FixedEmbedder, day

POLICY = load_policy("chat")
BLANKS = "\t{} \n\u3000"


def withdraw(corpus: Corpus, turn: UUID) -> None:
    corpus.conn.execute(
        "insert into memory.marks (tenant_id, subject_id, item_id, item, mark, correction_id, pending)"
        " values ('acme', 'ann', %s, 'turn', 'forgotten', %s, false)", [turn, turn],
    )  # fmt: skip


def test_a_withdrawn_turn_is_not_told_whatever_blanks_are_around_it(corpus: Corpus, reader: Store) -> None:
    withdraw(corpus, corpus.turn(BLANKS.format("I live in Oslo.")))
    said = [Message(role="user", content=text) for text in ("I live in Oslo.\n", "It rains.")]
    query = RecallQuery(text="What is the weather?", subject_id="ann", as_of=LATER)
    session = reader.session("acme")
    made = assemble_context(session, query, policy=POLICY, embedder=FixedEmbedder(), given=Given(history=said))
    text = perform(made).text
    assert "Oslo" not in text and WITHDRAWN in text and "It rains." in text


@pytest.mark.parametrize(("session_id", "is_withdrawn"), [("s1", True), ("s2", False), (None, True)])
def test_a_short_reply_is_withdrawn_in_its_own_session(
    corpus: Corpus, reader: Store, session_id: str | None, is_withdrawn: bool
) -> None:
    long = "I live in Oslo with my two dogs, my cat, my parrot and my sister, who works at the harbour on weekdays."
    withdraw(corpus, corpus.turn("Yes.", session="s1"))
    withdraw(corpus, corpus.turn(long, session="s1"))
    said = [Message(role="assistant", content="Shall I book Friday?")]
    said += [Message(role="user", content=text) for text in ("Yes.", long)]
    query = RecallQuery(text="What is booked?", subject_id="ann", as_of=LATER)
    given = Given(history=said, session_id=session_id)
    made = assemble_context(
        reader.session("acme"), query, policy=load_policy("reverie"), embedder=FixedEmbedder(), given=given
    )
    text = perform(made).text
    assert (text.count(WITHDRAWN), "Yes." in text) == (1 + is_withdrawn, not is_withdrawn)
    assert "harbour" not in text


def test_a_summary_covers_turns_whatever_blanks_are_around_them(corpus: Corpus, reader: Store) -> None:
    texts = [f"number {number}" for number in range(3)]
    turns = [corpus.turn(BLANKS.format(text)) for text in texts]
    summary = corpus.memory("They counted.", kind="summary", at=day(1))
    corpus.conn.execute("update memory.memories set session_id = 's1', turn_start = 1, turn_end = 3")
    for turn in turns:
        corpus.conn.execute(
            "insert into memory.lineage (tenant_id, memory_id, relation, source, source_id, as_of, run_id)"
            " values ('acme', %s, 'compressed', 'turn', %s, %s, %s)", [summary, turn, day(1), UUID(int=0)],
        )  # fmt: skip

    def told(*contents: str) -> list[tuple[set[str], bool]]:
        given = Given(session_id="s1", history=[Message(role="user", content=text) for text in contents])
        statement = earlier_statements(given, "acme", "ann", POLICY, LATER)["told"]
        rows = perform(reader.session("acme").run(statement))
        return [(set(covered), others) for *_, covered, others in rows]

    assert told(*texts) == [({*texts}, False)]
    assert told(*texts[1:]) == [({*texts[1:]}, True)], "it tells of another turn too"
    withdraw(corpus, turns[0])
    assert told(WITHDRAWN, *texts[1:]) == [({*texts[1:]}, False)], "the conversation has a placeholder for it"
