"""A message that memory is to help with: its vector, and which memories it may bring up."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from reverie.inference import Embedder, Vectors
from reverie.policy import Policy
from reverie.recall.candidates import SMALL_TALK, embed_query
from reverie.recall.places.small_talk import is_small_talk
from reverie.recall.query import RecallQuery
from reverie.recall.question import read_question
from reverie.recall.recall import withheld_note
from reverie.recall.search import half_vector, horizon
from reverie.recall.subject_cache import KnownSubject, subject_statement
from reverie.store.session import TenantSession


@dataclass(frozen=True, kw_only=True, slots=True)
class ComparedMessage:
    """A message with its vector."""

    subject_id: str
    text: str
    as_of: datetime
    #: None: nothing can be compared, and `notes` say why.
    vector: Vectors | None
    model: str | None
    notes: list[str]

    def params(self, tenant_id: str) -> dict[str, Any]:
        """Return the parameters that all statements share."""
        assert self.vector is not None
        return {
            "tenant": tenant_id,
            "subject": self.subject_id,
            "model": self.model,
            "vector": half_vector(self.vector),
            "as_of": self.as_of,
            "horizon": horizon(self.as_of),
        }


async def compare_message(
    session: TenantSession,
    query: RecallQuery,
    *,
    policy: Policy,
    embedder: Embedder | None,
) -> ComparedMessage:
    """Return a message; it is embedded unless it is small talk, or memory knows or may tell nothing of the subject."""
    subject_id, text, as_of = query.subject_id, query.text, query.as_of
    notes: list[str] = []
    known = KnownSubject(rows=await session.run(subject_statement(session.tenant_id, subject_id)))
    vector = None
    if not known:
        notes.append(f"Nothing is remembered about {subject_id}.")
    elif known.is_withheld:
        notes.append(withheld_note(subject_id))
    elif is_small_talk(text, tuple(known.speakers)):
        notes.append(SMALL_TALK)
    else:
        question = read_question(text, policy=policy.recall, speakers=known.speakers, asked_at=as_of)
        vector = await embed_query(
            session, question, subject_id=subject_id, subject=known, embedder=embedder, notes=notes
        )
    return ComparedMessage(
        subject_id=subject_id,
        text=text,
        as_of=as_of,
        vector=vector,
        model=embedder.model if embedder else None,
        notes=notes,
    )
