"""The pattern of a theme, the summary of a part of a session, and the memories that each replaces. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from reverie.consolidate.compress.themes import Theme, ThemeEvidence
from reverie.model import Lineage, Memory, stable_id
from reverie.model.session_part import SessionPart
from reverie.policy import Policy


@dataclass(frozen=True, slots=True)
class SessionMemory:
    """A memory that comes from a session."""

    id: UUID
    kind: str
    #: Whether a summary of the whole session may replace it.
    replaceable: bool
    turn_id: UUID | None


@dataclass(frozen=True, slots=True)
class FoldedSummary:
    """A summary that becomes part of that of its week, month or year."""

    id: UUID
    happened_at: datetime
    accessed_at: datetime
    access_count: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Compression:
    """A new pattern or summary, and the memories that it replaces."""

    memory: Memory
    #: Episodes that it replaces.
    episodes: Sequence[UUID]
    #: Summaries that it replaces: of ranges of turns, sessions, weeks or months.
    ranges: Sequence[UUID] = ()
    #: The older pattern of the same theme.
    pattern_id: UUID | None = None
    lineage: Sequence[Lineage]
    #: Memories to whose entities it is linked.
    linked_like: Sequence[UUID]


@dataclass(frozen=True, kw_only=True, slots=True)
class Untold:
    """A part of a session without anything worth a summary; its lineage keeps it from being read again."""

    #: Id that its summary would have.
    id: UUID
    subject_id: str
    happened_at: datetime
    lineage: Sequence[Lineage]


def pattern_of(
    theme: Theme, evidence: ThemeEvidence, content: str, policy: Policy, *, tenant_id: str, as_of: datetime
) -> Compression:
    """Return the pattern of a theme with this content; it takes over the accesses of the theme's older pattern."""
    happened_at = evidence.latest
    held, outcomes = sorted(theme.held), sorted(evidence.outcomes)
    older = [theme.pattern_id] if theme.pattern_id else []
    memory = Memory(
        id=stable_id(happened_at, "pattern", tenant_id, theme.subject_id, theme.key, *map(str, [*held, *outcomes])),
        subject_id=theme.subject_id,
        kind="pattern",
        content=content,
        importance=policy.compress.pattern_importance,
        happened_at=happened_at,
        accessed_at=max(happened_at, evidence.accessed_at or happened_at),
        access_count=evidence.access_count,
        origin=f"theme:{theme.key}",
    )
    sources = [
        *(("mentioned", "turn", id_) if id_ in theme.turns else ("compressed", "memory", id_) for id_ in held),
        *(("outcome", "outcome", id_) for id_ in outcomes),
        *(("merged", "memory", id_) for id_ in older),
    ]
    return Compression(
        memory=memory,
        episodes=sorted(theme.joined - theme.turns),
        pattern_id=theme.pattern_id,
        lineage=_lineage(memory.id, sources, as_of),
        linked_like=[*(theme.joined - theme.turns), *older],
    )


def summary_of(
    part: SessionPart,
    content: str,
    model: str | None,
    memories: Sequence[SessionMemory],
    policy: Policy,
    *,
    tenant_id: str,
    as_of: datetime,
) -> Compression:
    """Return the summary of a part of a session with these `memories`, written by `model` or (None) by the rules.

    The summary of a range replaces nothing and is itself replaced by the summary of the whole session.
    """
    happened_at = part.ends_at
    turn_ids = {turn.id for turn in part.turns}
    replaced = [memory for memory in memories if memory.replaceable and part.whole]
    summary = Memory(
        id=part.summary_id(tenant_id),
        subject_id=part.subject_id,
        kind="summary",
        content=content,
        model=model,
        importance=policy.compress.summary_importance,
        happened_at=happened_at,
        accessed_at=happened_at,
        session_id=part.session_id,
        turn_start=part.start,
        turn_end=part.end,
        origin="session" if part.whole else "range",
    )
    sources = [*_told_turns(part), *(("compressed", "memory", memory.id) for memory in replaced)]
    return Compression(
        memory=summary,
        episodes=[memory.id for memory in replaced if memory.kind == "episode"],
        ranges=[memory.id for memory in replaced if memory.kind == "summary"],
        lineage=_lineage(summary.id, sources, _made_at(part, as_of)),
        linked_like=[memory.id for memory in memories if part.whole or memory.turn_id in turn_ids],
    )


def fold_of(
    subject_id: str,
    period: str,
    summaries: Sequence[FoldedSummary],
    content: str,
    policy: Policy,
    *,
    tenant_id: str,
    as_of: datetime,
) -> Compression:
    """Return the summary of a `period` (week, month or year); it replaces these summaries, with their accesses."""
    happened_at = max(each.happened_at for each in summaries)
    ids = sorted(each.id for each in summaries)
    memory = Memory(
        id=stable_id(happened_at, "summary", tenant_id, subject_id, period, *map(str, ids)),
        subject_id=subject_id,
        kind="summary",
        content=content,
        importance=policy.compress.summary_importance,
        happened_at=happened_at,
        accessed_at=max(each.accessed_at for each in summaries),
        access_count=sum(each.access_count for each in summaries),
        origin=period,
    )
    return Compression(
        memory=memory,
        episodes=(),
        ranges=ids,
        lineage=_lineage(memory.id, [("compressed", "memory", id_) for id_ in ids], as_of),
        linked_like=ids,
    )


def untold_of(part: SessionPart, *, tenant_id: str, as_of: datetime) -> Untold:
    """Return the record of a part of a session that gets no summary; it replaces nothing."""
    id_ = part.summary_id(tenant_id)
    return Untold(
        id=id_,
        subject_id=part.subject_id,
        happened_at=part.ends_at,
        lineage=_lineage(id_, list(_told_turns(part)), _made_at(part, as_of)),
    )


def _made_at(part: SessionPart, as_of: datetime) -> datetime:
    """Return when a part counts as made: a range at its last turn, so that it does not depend on tier and time."""
    return as_of if part.whole else part.ends_at


def _told_turns(part: SessionPart) -> Iterator[tuple[str, str, UUID]]:
    relation = "compressed" if part.whole else "summarised"
    return ((relation, "turn", turn.id) for turn in part.turns)


def _lineage(memory_id: UUID, sources: Sequence[tuple[str, str, UUID]], at: datetime) -> list[Lineage]:
    return [
        Lineage(memory_id=memory_id, relation=relation, source=source, source_id=source_id, at=at)
        for relation, source, source_id in sources
    ]
