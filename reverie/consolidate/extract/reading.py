"""What the reader finds in the messages of a batch of turns, as statements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from reverie.inference.reader import AskedMessage, MessageReading, TextPlace, shared_reader
from reverie.language.cues.immediate import compiled
from reverie.language.cues.speech import low_content_expr
from reverie.language.statements.stated import MessageStatement
from reverie.language.text import strip_invisible
from reverie.policy import Policy


def read_messages(turns: pl.DataFrame, policy: Policy, *, threads: int = 2) -> dict[str, list[MessageStatement]]:
    """Return the statements of turns (a frame of the columns `decide.TURNS`) by turn, where there are some.

    Turns of other roles than those that are read, and those of low content, are not looked at. A short reply is read
    with the question before it.
    """
    if not policy.extract.reader.read:
        return {}
    rules = compiled(policy)
    messages = turns.filter(
        pl.col("role").is_in(list(policy.extract.roles)), ~low_content_expr(pl.col("text"), rules), pl.col("text") != ""
    ).select("id", "text", "asked")
    asked = [
        AskedMessage(strip_invisible(text), strip_invisible(question or ""))
        for text, question in messages["text", "asked"].iter_rows()
    ]
    read = shared_reader(threads).read(asked)
    least = policy.extract.reader.confidence
    statements = {
        turn_id: [statement_of(reading, message) for reading in readings if reading.confidence >= least]
        for turn_id, message, readings in zip(messages["id"], asked, read, strict=True)
        if readings
    }
    return {turn_id: found for turn_id, found in statements.items() if found}


def threads_of(embedder: Any) -> int:
    """Return on how many threads an embedder works, so that the reader takes no more."""
    threads: int = getattr(embedder, "__dict__", {}).get("threads", 1)  # one that stands for none has no attributes
    return threads


def statement_of(reading: MessageReading, message: AskedMessage) -> MessageStatement:
    """Return a reading with its spans as words."""

    def words(place: TextPlace | None) -> str | None:
        if place is None:
            return None
        return (message.question if place.of_question else message.text)[place.start : place.end]

    return MessageStatement(
        relation=reading.relation,
        object=words(reading.object) or "",
        holder=words(reading.holder),
        topic=words(reading.topic),
        replaced=words(reading.replaced),
        phase=reading.phase,  # type: ignore[arg-type]
        polarity=reading.polarity,
        duration=reading.duration,  # type: ignore[arg-type]
        until=words(reading.until),
        clause=words(reading.clause),
        confidence=reading.confidence,
    )


def own_statements(statements: Sequence[MessageStatement], stated: frozenset[str]) -> list[MessageStatement]:
    """Return the statements that no pattern has read; `stated` has the relations of those that match the turn."""
    return [statement for statement in statements if statement.holder is not None or statement.relation not in stated]
