"""Answers of Reverie's own small models for turns, kept so that a rebuild does not ask the models again.

A turn has the last answer of each model, with the model's version and a hash of the texts that it was shown. They are
kept where calls to models are booked, so a generation uses the tenant's answers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from typing import Any, Literal, NamedTuple
from uuid import UUID

import orjson
from psycopg import Connection

from reverie.store.locks import hold_off_erasures
from reverie.store.queries import queries
from reverie.store.work import Work

AskedModel = Literal["reader", "judge"]
#: Bytes of a hash of the shown texts.
_HASH_BYTES = 16


class KeptAnswer(NamedTuple):
    """A model's answer for a turn, as a JSON value, and the hash of the texts that it was shown."""

    shown: bytes
    answer: Any


def shown_hash(*texts: str) -> bytes:
    """Return the hash of the texts that a model is shown: 16 bytes."""
    return hashlib.sha256(orjson.dumps(texts)).digest()[:_HASH_BYTES]


def read_answers(work: Work, asked: AskedModel, model: str, turn_ids: Collection[UUID]) -> dict[UUID, KeptAnswer]:
    """Return the kept answers of a version of a model, by turn."""
    params = {"tenant": work.tenant_id, "asked": asked, "model": model, "turn_ids": list(turn_ids)}
    with work.ledger_of_calls.transaction(work.tenant_id) as conn:
        rows = conn.execute(queries("answers")["read_answers"], params, binary=True).fetchall()
    return {turn_id: KeptAnswer(shown, orjson.loads(answer)) for turn_id, shown, answer in rows}


def keep_answers(work: Work, asked: AskedModel, model: str, answers: Mapping[UUID, KeptAnswer]) -> None:
    """Keep new answers in a transaction of their own, without those of turns that were erased meanwhile.

    A dry run keeps nothing.
    """
    if answers and not work.dry_run:
        with work.ledger_of_calls.transaction(work.tenant_id) as conn:
            hold_off_erasures(conn, work.tenant_id)
            write_answers(conn, work.tenant_id, asked, model, answers)


def write_answers(
    conn: Connection[Any], tenant_id: str, asked: AskedModel, model: str, answers: Mapping[UUID, KeptAnswer]
) -> None:
    """Keep new answers about turns that the caller's transaction sees."""
    params = {
        "tenant": tenant_id,
        "asked": asked,
        "model": model,
        "turn_ids": list(answers),
        "shown": [kept.shown for kept in answers.values()],
        "answers": [orjson.dumps(kept.answer).decode() for kept in answers.values()],
    }
    conn.execute(queries("answers")["keep_answers"], params)
