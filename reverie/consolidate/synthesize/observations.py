"""Observations that wait for a subject's profile, and the stored profile. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from reverie.model.scaffold import Basis, EntryRecord, ProfileEntry


@dataclass(frozen=True, slots=True)
class Observation:
    """An event or a memory that the profile does not include yet."""

    #: `event` or `memory`.
    item: str
    id: UUID
    at: datetime
    #: Type of the event, or kind of the memory.
    type: str
    channel: str
    connection_id: str | None
    key: str | None
    content: str

    @property
    def basis(self) -> Basis:
        """The basis of entries made from the observation; a document counts as inferred, not as said."""
        if self.type == "correction":
            return "correction"
        return {"interactive": "said", "autonomous": "autonomous"}.get(self.channel, "inferred")  # type: ignore[return-value]

    def excerpt(self, letters: int) -> str:
        """Return the observation as one line of at most `letters` characters."""
        prefix = (self.connection_id if self.type == "connection_context" else None, self.key)
        line = " ".join(": ".join(part for part in (*prefix, self.content) if part).split())
        return line if len(line) <= letters else f"{line[: letters - 1].rstrip()}…"


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredProfile:
    """A subject's stored profile, with the observations that wait for it."""

    subject_id: str
    #: In event order; at least one.
    observations: tuple[Observation, ...]
    #: All entries except those that a person found wrong.
    records: tuple[EntryRecord, ...] = ()
    #: Entries that a person found wrong and that are not marked as wrong yet.
    wrong: tuple[UUID, ...] = ()
    narrative: str = ""
    #: Event time of the latest observation in the narrative.
    told_until: datetime | None = None
    made_at: datetime | None = None
    #: Unusable replies in a row.
    failures: int = 0

    @property
    def active(self) -> list[ProfileEntry]:
        """Entries in force."""
        return [record.entry for record in self.records if record.state == "active"]


@dataclass(frozen=True, kw_only=True, slots=True)
class SynthesizedFact:
    """A fact that a language model concluded from observations."""

    content: str
    sources: tuple[Observation, ...]

    @property
    def happened_at(self) -> datetime:
        """Event time of the latest source."""
        return max(source.at for source in self.sources)


@dataclass(kw_only=True, slots=True)
class ProfileFindings:
    """Entries, narrative and facts that follow from observations."""

    entries: list[ProfileEntry] = field(default_factory=list)
    narrative: str = ""
    facts: list[SynthesizedFact] = field(default_factory=list)
    #: Discarded entries and facts, by reason.
    discarded: dict[str, int] = field(default_factory=dict)

    def discard(self, reason: str) -> None:
        """Count a discarded entry or fact by its reason."""
        self.discarded[reason] = self.discarded.get(reason, 0) + 1
