"""Structured facts of a subject: values by key, looked up and never searched (spec B5, D6; Chat flow 3, stage 1)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from reverie.language.cues.keeping import OWN_WORDS, REST
from reverie.language.cues.wording import slug
from reverie.language.text import one_line, plain_name
from reverie.model import require_aware
from reverie.recall.result import in_doubt
from reverie.store.queries import queries
from reverie.store.session import Statement, TenantSession


@dataclass(frozen=True, kw_only=True, slots=True)
class StructuredFact:
    """One value of one key, and when it was in force."""

    id: UUID
    #: The person it is about; empty for the subject itself.
    speaker: str
    #: identity, preference, constraint or instruction.
    category: str
    key: str
    value: str
    confidence: float
    importance: float
    valid_from: datetime
    #: None while it holds.
    valid_to: datetime | None
    replaced_by: UUID | None
    #: The memory and the turn that state it.
    memory_id: UUID
    turn_id: UUID | None
    #: Rule or method that made it.
    origin: str
    run_id: UUID
    policy_hash: str
    #: A later message that may have ended it, and when it was said; None: no message has.
    doubted_at: datetime | None = None
    doubt: str | None = None
    #: What the value is of, in the memory that states it: "accountant" of the contact "Annick".
    topic: str | None = None
    #: The memory that states it, in words; None: it is forgotten, or was corrected.
    content: str | None = None

    @property
    def name(self) -> str:
        """The key as people read it."""
        return fact_name(self.key, self.speaker, self.category)

    @property
    def label(self) -> str:
        """The name with the topic if neither it nor the value says that: "contact (accountant)"."""
        is_told = not self.topic or slug(self.topic) in f"{slug(self.name)}-{slug(self.value)}"
        return self.name if is_told else f"{self.name} ({self.topic})"

    @property
    def in_words(self) -> str:
        """The fact in the words of its memory, and the message that may have ended it: "Nomvula's birthday is 6 March".

        By its key if the memory is forgotten, or is in somebody's own words, which may say more than the fact.
        """
        own = not self.content or self.origin in (OWN_WORDS, REST)
        told = f"{one_line(self.label)}: {one_line(self.value)}" if own else one_line(self.content or "")
        return in_doubt(told, self.doubted_at, self.doubt)


def fact_name(key: str, speaker: str, category: str) -> str:
    """Return a key as people read it: without its suffix, and with the person's name unless it is the subject.

    An instruction of another speaker is marked as theirs.
    """
    stem = key.partition(":")[0].replace("_", " ").replace("-", " ")
    if not speaker:
        return stem
    name = plain_name(speaker)
    return f"{stem} (from {name})" if category == "instruction" else f"{name}, {stem}"


async def load_facts(
    session: TenantSession, *, subject_id: str, as_of: datetime, history: bool = False, least_importance: float = 0.0
) -> list[StructuredFact]:
    """Return the facts in force at a time, most important first; with `history` also earlier values, by key."""
    return await session.run(
        facts_statement(session.tenant_id, subject_id, as_of, history=history, least_importance=least_importance)
    )


def facts_statement(
    tenant_id: str, subject_id: str, as_of: datetime, *, history: bool = False, least_importance: float = 0.0
) -> Statement[StructuredFact]:
    """Return the statement that reads facts, to be sent with others."""
    params = {
        "tenant": tenant_id,
        "subject": subject_id,
        "as_of": require_aware(as_of),
        "history": history,
        "least": least_importance,
    }
    return Statement(queries("context")["structured_facts"], params, row=StructuredFact)
