"""Tools for a message: those used for similar earlier messages of the person, by their outcomes.

A use counts for its tool by the similarity of its situation to the message, halved every so many days: fully if its
outcome was good, by half if nobody measured it, and against it if the outcome was bad. That is a kernel estimate
(Nadaraya-Watson) of the outcome, pulled towards 0 if there is little evidence.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from reverie.inference import Embedder
from reverie.language.text import strip_invisible
from reverie.model import rounded
from reverie.policy import Policy
from reverie.policy.assist import ToolPolicy
from reverie.recall.assist.asking import compare_message
from reverie.recall.places.sensitive import may_be_told
from reverie.recall.query import RecallQuery
from reverie.store.queries import queries
from reverie.store.session import Statement, TenantSession

#: Most tools suggested by default, and most situations listed for each.
_SUGGESTED, _TOLD = 3, 3
_DAY = 86_400


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolUse:
    """A tool that was used after a message."""

    tool: str
    #: The message, with its author and time.
    turn_id: UUID
    session_id: str
    text: str
    speaker: str | None
    said_at: datetime
    #: The turns that used it.
    call_ids: list[UUID]
    #: Cosine similarity of this message to the query's.
    similarity: float
    #: Numbers of good and of bad outcomes.
    good: int
    bad: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolSuggestion:
    """A tool, with the evidence for it or against it."""

    tool: str
    #: From -1 (advises against it) to 1.
    score: float
    #: Numbers of its uses in similar situations, and of their good and bad outcomes.
    uses: int
    good: int
    bad: int
    #: The weightiest uses.
    why: Sequence[ToolUse]


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolSuggestions:
    """Tools for a message."""

    #: Best first.
    suggested: Sequence[ToolSuggestion]
    #: Tools that served badly in similar situations, worst first.
    discouraged: Sequence[ToolSuggestion]
    notes: Sequence[str]


async def suggest_tools(
    session: TenantSession,
    query: RecallQuery,
    *,
    policy: Policy,
    embedder: Embedder | None,
    tools: Sequence[str] | None = None,
) -> ToolSuggestions:
    """Return at most `top_k` (3) tools that served the subject well in similar situations, and those that did not.

    `tools`: the only ones that may be suggested.
    """
    asked = await compare_message(session, query, policy=policy, embedder=embedder)
    limit = query.top_k or _SUGGESTED
    if asked.vector is None:
        return ToolSuggestions(suggested=(), discouraged=(), notes=asked.notes)
    numbers = policy.assist.tools
    params = asked.params(session.tenant_id) | {
        "tools": None if tools is None else list(tools),
        "calls": numbers.calls,
        "nearest": numbers.nearest,
        "least_similarity": numbers.least_similarity,
    }
    uses = await session.run(Statement(queries("assist")["tool_uses"], params, row=ToolUse))
    told = may_be_told(query.text, [(use.text, use.similarity) for use in uses], policy.sensitivity)
    found = weighed([use for use, may in zip(uses, told, strict=True) if may], as_of=asked.as_of, numbers=numbers)
    if not found:
        asked.notes.append("No tool was used in a situation like this.")
    return ToolSuggestions(
        suggested=[each for each in found if each.score >= numbers.least_score][:limit],
        discouraged=[each for each in reversed(found) if each.score <= -numbers.least_score][:limit],
        notes=asked.notes,
    )


def weighed(uses: Sequence[ToolUse], *, as_of: datetime, numbers: ToolPolicy) -> list[ToolSuggestion]:
    """Return tools by the outcomes of their uses, best first; pure."""
    by_tool: dict[str, list[tuple[float, float, ToolUse]]] = defaultdict(list)
    for use in uses:
        by_tool[use.tool].append(
            (weight_of_use(use, as_of=as_of, numbers=numbers), value_of_use(use, numbers=numbers), use)
        )
    evidence = sum(part for each in by_tool.values() for part, _, _ in each)
    found = [
        ToolSuggestion(
            tool=tool,
            score=rounded(sum(part * value for part, value, _ in each) / (evidence + numbers.doubt)),
            uses=len(each),
            good=sum(use.good for _, _, use in each),
            bad=sum(use.bad for _, _, use in each),
            why=[_seen(use) for _, _, use in sorted(each, key=lambda one: -one[0])[:_TOLD]],
        )
        for tool, each in by_tool.items()
    ]
    return sorted(found, key=lambda each: (-each.score, each.tool))


def weight_of_use(use: ToolUse, *, as_of: datetime, numbers: ToolPolicy) -> float:
    """Return the weight of a use, from 0 to 1: by similarity and age."""
    likeness = max(use.similarity - numbers.least_similarity, 0.0) / max(1 - numbers.least_similarity, 1e-9)
    days = max((as_of - use.said_at).total_seconds() / _DAY, 0.0)
    return float(likeness * 0.5 ** (days / numbers.half_life_days))


def value_of_use(use: ToolUse, *, numbers: ToolPolicy) -> float:
    """Return the value of a use for its tool, from -1 to 1."""
    measured = use.good + use.bad
    return (use.good - use.bad) / measured if measured else numbers.unmeasured


def _seen(use: ToolUse) -> ToolUse:
    return replace(use, text=strip_invisible(use.text), similarity=rounded(use.similarity))
