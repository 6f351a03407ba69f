"""Reads the scaffold, the narrative and learned facts (spec C8, D10; Agent 1.1, 3.E)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from reverie.errors import NotFoundError
from reverie.model import require_aware
from reverie.model.scaffold import entry_text, folded_key, nested_values
from reverie.policy import Policy
from reverie.recall.facts import StructuredFact
from reverie.store.queries import queries
from reverie.store.session import Statement, TenantSession


@dataclass(frozen=True, kw_only=True, slots=True)
class Narrative:
    """A language model's narrative about a subject."""

    id: UUID
    #: Empty if something that it may contain was marked as wrong since.
    text: str
    #: Event time of the latest observation in it.
    told_until: datetime
    made_at: datetime
    model: str
    #: Number of later observations, which are not in it.
    waiting: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ScaffoldEntry:
    """One value of one path, and its state."""

    id: UUID
    #: The connection that it was learned about; empty for the subject itself.
    connection_id: str
    path: list[str]
    #: None: the path has no value any more.
    value: Any
    confidence: float
    #: correction, said, autonomous or inferred.
    basis: str
    #: active, replaced, outweighed, repeated or wrong.
    state: str
    valid_from: datetime
    valid_to: datetime | None
    replaced_by: UUID | None
    #: Events and memories that it is based on.
    sources: list[UUID]
    #: Language model that stated it; None for rules.
    model: str | None
    run_id: UUID
    policy_hash: str
    #: Basis of the entry that replaced or outweighs it.
    against: str | None

    def holds(self, as_of: datetime) -> bool:
        """Return whether the entry is in force at a time."""
        return self.state == "active" or (self.valid_to is not None and self.valid_to > as_of)

    @property
    def text(self) -> str:
        """The keys and the value on one line."""
        return entry_text(self.path, self.value)


@dataclass(frozen=True, kw_only=True, slots=True)
class Conflict:
    """Two contradicting values for one path: the one in force, and the other."""

    path: list[str]
    #: The entry that is not in force; if both are in force, the scaffold's.
    entry: ScaffoldEntry
    #: The entry or structured fact that it contradicts.
    against_id: UUID | None
    #: Basis of that, or structured_fact.
    against: str


@dataclass(frozen=True, kw_only=True, slots=True)
class LearnedFact:
    """A fact that an agent learned on its own."""

    id: UUID
    content: str
    learned_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class EntrySource:
    """A source of an entry."""

    id: UUID
    #: event, memory, or tombstone of a memory that is forgotten.
    source: str
    kind: str
    #: Channel of the event, state of the memory, or why it was forgotten.
    channel: str
    at: datetime
    content: str


@dataclass(frozen=True, kw_only=True, slots=True)
class EntryExplained:
    """An entry, its sources, and other values of its path."""

    subject_id: str
    entry: ScaffoldEntry
    sources: list[EntrySource]
    others: list[ScaffoldEntry]


def statements(tenant_id: str, subject_id: str, policy: Policy, as_of: datetime) -> tuple[Statement[Any], ...]:
    """Return the statements that read narrative, entries and learned facts, to be sent with others."""
    who = {"tenant": tenant_id, "subject": subject_id, "as_of": require_aware(as_of)}
    sql = queries("profile")
    return (
        Statement(sql["narrative"], who | {"from_memories": policy.profile.from_memories}),
        entries_statement(tenant_id, subject_id, as_of),
        Statement(sql["learned"], who | {"limit": policy.profile.learned}, row=LearnedFact),
    )


def entries_statement(
    tenant_id: str, subject_id: str, as_of: datetime, *, history: bool = False
) -> Statement[ScaffoldEntry]:
    """Return the statement that reads the entries in force and those that contradict them, or with `history` all."""
    params = {"tenant": tenant_id, "subject": subject_id, "as_of": require_aware(as_of), "history": history}
    return Statement(queries("profile")["entries"], params, row=ScaffoldEntry)


async def scaffold_history(session: TenantSession, *, subject_id: str, as_of: datetime) -> list[ScaffoldEntry]:
    """Return every entry of a subject, past ones included, by path and time."""
    return await session.run(entries_statement(session.tenant_id, subject_id, as_of, history=True))


def conflicts(
    entries: Sequence[ScaffoldEntry], facts: Iterable[StructuredFact], as_of: datetime
) -> tuple[Conflict, ...]:
    """Return contradictions: between entries of different bases, and between entries in force and structured facts.

    An entry and a structured fact both stay in force until a person corrects one.
    """
    found = [
        Conflict(path=one.path, entry=one, against_id=one.replaced_by, against=one.against or "")
        for one in entries
        if not one.holds(as_of) and one.state in ("outweighed", "replaced") and one.against
    ]
    by_name: dict[str, list[StructuredFact]] = {}
    for fact in facts:
        if not fact.speaker:
            by_name.setdefault(folded_key(fact.key), []).append(fact)
    for one in entries:
        if not one.holds(as_of) or one.connection_id or not isinstance(one.value, str | int | float):
            continue
        found += [
            Conflict(path=one.path, entry=one, against_id=fact.id, against="structured_fact")
            for fact in by_name.get(folded_key(one.path[-1]), ())
            if folded_key(str(one.value)) != folded_key(fact.value)
        ]
    return tuple(found)


def as_object(entries: Iterable[ScaffoldEntry], as_of: datetime, connection_id: str = "") -> dict[str, Any]:
    """Return the entries in force of the subject, or of a connection, as a nested object."""
    return nested_values(
        (one.path, one.value) for one in entries if one.connection_id == connection_id and one.holds(as_of)
    )


async def explain_entry(session: TenantSession, prefix: str, as_of: datetime) -> EntryExplained:
    """Return the explanation of the entry with this id or unique prefix of an id.

    Raises:
        NotFoundError: no entry's id has this prefix, or several have it.
    """
    digits = prefix.strip().lower().replace("-", "")
    ends = {"first": UUID(digits.ljust(32, "0")[:32]), "last": UUID(digits.ljust(32, "f")[:32])}
    rows = await session.run(Statement(queries("profile")["find_entry"], {"tenant": session.tenant_id} | ends))
    if len(rows) != 1:
        raise NotFoundError(f"Tenant {session.tenant_id} has no single entry {prefix}.")
    id_, subject_id = rows[0]
    entries = await session.run(entries_statement(session.tenant_id, subject_id, as_of, history=True))
    entry = next((each for each in entries if each.id == id_), None)
    if entry is None:
        raise NotFoundError(f"Entry {id_} depends on a memory that a person marked as wrong.")
    params = {"tenant": session.tenant_id, "sources": entry.sources}
    sources = await session.run(Statement(queries("profile")["sources"], params, row=EntrySource))
    path = [folded_key(key) for key in entry.path]
    others = [
        other
        for other in entries
        if other is not entry
        and [folded_key(key) for key in other.path] == path
        and other.connection_id == entry.connection_id
    ]
    return EntryExplained(subject_id=subject_id, entry=entry, sources=sources, others=others)
