"""Contexts explained: which memory was used for which line, now and from the log."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import psycopg
import pytest

from reverie.errors import NotFoundError
from reverie.policy import shipped_policies
from reverie.recall.contexts.context import context_entries
from reverie.recall.contexts.explained import explain_context, explain_lines
from reverie.recall.contexts.request import Given
from reverie.store.database import Store
from reverie.store.entries import write_entries
from reverie.store.session import perform
from tests.recall.conftest import LATER, Corpus
from tests.recall.test_context import assemble, know


@pytest.mark.parametrize("name", shipped_policies())
def test_each_line_names_what_it_tells(corpus: Corpus, reader: Store, name: str) -> None:
    for number in range(4):
        corpus.turn("hello", session=f"s{number}", at=LATER - timedelta(days=9 - number))
    alex = know(corpus, "name", "Alex")
    quartz = corpus.memory("Found quartz", kind="summary" if name == "chat" else "episode")
    found = assemble(reader, name, given=Given(mood="sad", system="Be of use."))
    lines = explain_lines(found)
    assert "\n".join(line.text for line in lines if line.label == "system text") == "Be of use."
    assert [line.ids for line in lines if line.label == "system text"] == [()]
    for id_, word in ((alex, "Alex"), (quartz, "quartz")):
        telling = [line for line in lines if word in line.text]
        assert all(id_ in line.ids for line in telling)
        assert telling or (name == "logic" and id_ == alex)
    perform(write_entries(reader.session("acme"), context_entries(found)))
    logged = perform(explain_context(reader.session("acme"), found.id))
    assert [tuple(item.id for item in line.items) for line in logged.lines] == [line.ids for line in lines if line.ids]
    contents = {item.id: (item.item, item.content) for line in logged.lines for item in line.items}
    assert contents[quartz] == ("memory", "Found quartz")
    assert contents.get(alex, ("structured_fact", "Alex")) == ("structured_fact", "Alex")


def test_a_context_explains_what_was_forgotten_since(
    corpus: Corpus, reader: Store, conn: psycopg.Connection[Any]
) -> None:
    quartz = corpus.memory("Found quartz")
    found = assemble(reader)
    perform(write_entries(reader.session("acme"), context_entries(found)))
    conn.execute("delete from memory.memories where id = %s", [quartz])
    (line,) = perform(explain_context(reader.session("acme"), found.id)).lines
    assert [(item.id, item.item, item.content) for item in line.items] == [(quartz, "forgotten", None)]
    with pytest.raises(NotFoundError):
        perform(explain_context(reader.session("other"), found.id))
