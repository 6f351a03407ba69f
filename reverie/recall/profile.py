"""A subject in short: structured facts, recent episodes and the relationship (spec D6, D9, D10; Agent 1.1, Brain 6).

What stands here without a language model; a narrative that one wrote takes the place of `narrative`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from reverie.model import require_aware
from reverie.policy import Policy
from reverie.recall.facts import StructuredFact, facts_statement, read_facts
from reverie.recall.relationship import Relationship, read_relationship, relationship_statement
from reverie.recall.search import horizon
from reverie.store.queries import queries
from reverie.store.steps import Statement, Steps

#: Kinds that tell what happened.
_TELLING = ("episode", "pattern", "summary")


@dataclass(frozen=True, kw_only=True, slots=True)
class Recent:
    """A memory of what happened lately."""

    id: UUID
    kind: str
    content: str
    happened_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Moods:
    """The mood of the latest message, and how the subject usually is."""

    mood: str
    energy: str
    said_at: datetime
    #: None where there are too few messages to tell.
    usual_mood: str | None
    usual_energy: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Profile:
    """What is known of a subject as of a time."""

    subject_id: str
    #: In force, most important first.
    facts: tuple[StructuredFact, ...]
    #: Latest first.
    recent: tuple[Recent, ...]
    relationship: Relationship
    #: None before the first message whose mood was told.
    moods: Moods | None = None

    def scaffold(self) -> dict[str, dict[str, str | list[str]]]:
        """Return the facts as a nested object by category and key; of several values of one name a list."""
        found: dict[str, dict[str, str | list[str]]] = {}
        for fact in self.facts:
            values = found.setdefault(fact.category, {})
            before = values.get(fact.name)
            if before is None:
                values[fact.name] = fact.value
            else:
                values[fact.name] = [*([before] if isinstance(before, str) else before), fact.value]
        return found

    def narrative(self, words: int) -> str:
        """Return at most `words` words: the facts in order of importance, then what happened lately, latest first."""
        told = [("Known:", f"{one_line(fact.name)}: {one_line(fact.value)};") for fact in self.facts]
        told += [("Lately:", f"{one.happened_at:%Y-%m-%d}, {one_line(one.content)};") for one in self.recent]
        kept: list[str] = []
        for opening, sentence in told:
            new = sentence if opening in kept else f"{opening} {sentence}"
            if len(new.split()) > words:
                break
            words -= len(new.split())
            kept += [sentence] if new == sentence else [opening, sentence]
        return " ".join(kept)


def profile(*, tenant_id: str, subject_id: str, policy: Policy, as_of: datetime) -> Steps[Profile]:
    """Return the profile of a subject as of a time; an unknown one has an empty profile."""
    rows = yield profile_statements(tenant_id, subject_id, policy, as_of)
    return read_profile(rows, subject_id, policy, as_of)


def profile_statements(tenant_id: str, subject_id: str, policy: Policy, as_of: datetime) -> tuple[Statement, ...]:
    """Return the statements behind it, which go out together."""
    recent: dict[str, Any] = {
        "tenant": tenant_id,
        "subject": subject_id,
        "horizon": horizon(require_aware(as_of)),
        "kinds": list(_TELLING),
        "limit": policy.profile.recent,
    }
    mood = {"tenant": tenant_id, "subject": subject_id, "as_of": as_of, "limit": policy.mood.usual_messages}
    return (
        facts_statement(tenant_id, subject_id, as_of, least_importance=policy.structured_facts.recall_importance),
        relationship_statement(tenant_id, subject_id, as_of),
        Statement(queries("context")["moods"], mood),
        Statement(queries("context")["recent"], recent, last=True),
    )


def read_profile(
    rows: tuple[Sequence[tuple[Any, ...]], ...], subject_id: str, policy: Policy, as_of: datetime
) -> Profile:
    """Return the statements' rows as a value."""
    facts, known, moods, recent = rows
    return Profile(
        subject_id=subject_id,
        facts=tuple(read_facts(facts)),
        recent=tuple(Recent(id=id_, kind=kind, content=text, happened_at=at) for id_, kind, text, at in recent),
        relationship=read_relationship(known, policy.relationship, as_of),
        moods=_read_moods(moods, policy.mood.usual_least),
    )


def _read_moods(rows: Sequence[tuple[Any, ...]], least: int) -> Moods | None:
    mood, energy, said_at, messages, usual_mood, usual_energy = rows[0]
    if not messages:
        return None
    usual = {"usual_mood": usual_mood, "usual_energy": usual_energy} if messages >= least else {}
    return Moods(mood=mood, energy=energy, said_at=said_at, **({"usual_mood": None, "usual_energy": None} | usual))


def one_line(text: str) -> str:
    """Return the text on one line: nothing that was said can begin a line of a context, nor end a block."""
    return " ".join(text.split())
