"""The kept replies of a tenant's language models about turns, read in portions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg.rows import dict_row
from pydantic import ValidationError

from reverie.consolidate.extract.claims import ShownTurn, TurnNotes
from reverie.language.text import strip_invisible
from reverie.policy import Policy
from reverie.store.database import Store
from reverie.store.queries import queries

#: Number of turns read at a time.
_PORTION = 1_000
_SHOWN = (
    "id", "subject_id", "session_id", "author", "speaker", "said_at", "before_ids", "before_authors", "before_texts",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class RepliedTurn:
    """A turn with the latest kept reply about it."""

    turn: ShownTurn
    reply: TurnNotes
    model: str
    #: Row for the reader, with the columns `TURNS` of extract.
    row: tuple[Any, ...]


def count_replied(store: Store, tenant_id: str) -> int:
    """Return the number of turns with kept replies."""
    with store.transaction(tenant_id) as conn:
        row = conn.execute(queries("distill")["count_replies"], {"tenant": tenant_id}).fetchone()
    return int(row[0]) if row else 0


def replied_turns(store: Store, tenant_id: str, policy: Policy) -> Iterator[list[RepliedTurn]]:
    """Yield the turns with kept replies, in order of id; replies that no longer fit their schema are left out."""
    params = {
        "tenant": tenant_id,
        "limit": _PORTION,
        "reply_characters": policy.extract.asked_characters,
        "context_characters": policy.extract.model.context_characters,
    }
    after: UUID | None = UUID(int=0)
    while after is not None:
        with store.transaction(tenant_id) as conn, conn.cursor(row_factory=dict_row) as cursor:
            rows = cursor.execute(queries("distill")["read_replied"], params | {"after": after}).fetchall()
        after = rows[-1]["id"] if rows else None
        if rows:
            yield [turn for row in rows if (turn := _replied(row)) is not None]


def _replied(row: dict[str, Any]) -> RepliedTurn | None:
    with suppress(ValidationError):  # the error quotes the reply
        reply = TurnNotes.model_validate(row["reply"])
        shown = ShownTurn(**{name: row[name] for name in _SHOWN}, text=strip_invisible(row["text"]))
        of_log = (str(row["id"]), row["subject_id"], row["session_id"], row["role"], row["speaker"], row["said_at"])
        return RepliedTurn(turn=shown, reply=reply, model=row["model"], row=(*of_log, row["text"], None, row["asked"]))
    return None
