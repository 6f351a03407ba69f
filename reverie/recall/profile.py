"""The profile of a subject: facts, recent episodes, scaffold and the relationship (spec D6, D9, D10; Agent 1.1).

The narrative is the language model's if there is one that is up to date; else it is made of facts and episodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from reverie.language.cues.worth import worth
from reverie.language.objects import read_object
from reverie.language.text import one_line
from reverie.model import require_aware
from reverie.model.ids import bound_after
from reverie.policy import Policy
from reverie.recall import scaffold
from reverie.recall.facts import StructuredFact, facts_statement
from reverie.recall.relationship import Relationship, read_relationship, relationship_statement
from reverie.recall.result import in_doubt
from reverie.recall.search import horizon
from reverie.recall.signals.life_events import DatedEvent, EventWindow, coming_up, life_events_statement
from reverie.recall.signals.zones import Zones, read_zones, zones_statement
from reverie.store.queries import queries
from reverie.store.session import Statement, TenantSession

#: Kinds of memory that tell what happened.
_TELLING = ("episode", "pattern", "summary")
#: Two preferences say the same if they share more than this part of the words of the shorter one.
_SHARED_WORDS = 0.6
#: Recent memories read for each one shown.
_READ_FOR_EACH = 2
#: Characters before the words of a summary of one sentence, for its days and the speaker: "2 April 2026. Ana: ".
_HEAD = 50
#: What a clause of the narrative does not end with, as a semicolon follows.
_ENDS = " .;"


@dataclass(frozen=True, kw_only=True, slots=True)
class Recent:
    """A memory of a recent event."""

    id: UUID
    kind: str
    content: str
    happened_at: datetime
    #: Other memories that say the same.
    same_ids: tuple[UUID, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ProfileStatement:
    """A preference in force, or a fact or rule that lasts, which no structured fact tells."""

    id: UUID
    #: preference, fact or instruction.
    kind: str
    #: "Doesn't like spicy food".
    content: str
    happened_at: datetime
    importance: float
    #: Below 0: disliked or refused.
    polarity: int
    #: A later message that may have ended it, and when it was said; None: no message has.
    doubted_at: datetime | None = None
    doubt: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Moods:
    """The mood of the latest message, and the subject's usual mood."""

    mood: str
    energy: str
    said_at: datetime
    #: None: too few messages to tell.
    usual_mood: str | None
    usual_energy: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Profile:
    """The profile of a subject as of a time."""

    subject_id: str
    #: In force, most important first.
    facts: tuple[StructuredFact, ...]
    #: Latest first.
    recent: tuple[Recent, ...]
    relationship: Relationship
    #: Preferences that no structured fact states: dislikes first, then the most important.
    preferences: tuple[ProfileStatement, ...] = ()
    #: Other lasting statements that no structured fact tells: those without a doubt first, then the most important.
    statements: tuple[ProfileStatement, ...] = ()
    #: None before the first message with a mood.
    moods: Moods | None = None
    #: The latest narrative of a language model, shown or not; None: there is none.
    written: scaffold.Narrative | None = None
    #: Why it is not shown, or how old it is; empty without one.
    note: str = ""
    #: Whether it is still shown.
    is_written: bool = False
    #: Entries in force, and entries that contradict them.
    entries: tuple[scaffold.ScaffoldEntry, ...] = ()
    #: Latest first.
    learned_facts: tuple[scaffold.LearnedFact, ...] = ()
    conflicts: tuple[scaffold.Conflict, ...] = ()
    as_of: datetime | None = None
    #: The next life events.
    upcoming: tuple[DatedEvent, ...] = ()
    #: In which its days are told.
    zones: Zones = field(default_factory=lambda: Zones(usual="UTC"))

    @property
    def active(self) -> tuple[scaffold.ScaffoldEntry, ...]:
        """The entries in force of the subject and its connections."""
        return tuple(one for one in self.entries if self.as_of and one.holds(self.as_of) and one.value is not None)

    def scaffold(self) -> dict[str, Any]:
        """Return entries as a nested object, and facts by category and key; several values of one name as a list."""
        found = scaffold.as_object(self.entries, self.as_of) if self.as_of else {}
        by_category: dict[str, dict[str, str | list[str]]] = {}
        for fact in self.facts:
            values = by_category.setdefault(fact.category, {})
            before = values.get(fact.name)
            if before is None:
                values[fact.name] = fact.value
            else:
                values[fact.name] = [*([before] if isinstance(before, str) else before), fact.value]
        for category, facts in by_category.items():
            named = found.get(category)
            # both an entry and a fact are given if both are in force; `conflicts` has those that contradict each other
            found[f"{category} (stated)" if category in found and not isinstance(named, dict) else category] = (
                {**named, **{key: value for key, value in facts.items() if key not in named}}
                if isinstance(named, dict)
                else facts
            )
        return found

    def learned(self) -> dict[str, Any]:
        """Return what agents learned, by connection (Agent 3.E)."""
        found: dict[str, Any] = {}
        if self.learned_facts:
            found["learned"] = [one.content for one in self.learned_facts]
        for name in sorted({one.connection_id for one in self.active if one.connection_id}):
            assert self.as_of is not None
            found[name] = scaffold.as_object(self.entries, self.as_of, name)
        return found

    def narrative(self, words: int) -> str:
        """Return at most `words` words: a model's narrative, else the most important facts and recent events."""
        return self.narrative_of(words)[0]

    def narrative_of(self, words: int) -> tuple[str, list[UUID]]:
        """Return the narrative and the ids of its sources: its own if a model wrote it, else of facts and memories."""
        if self.is_written and self.written:
            return " ".join(self.written.text.split()[:words]), [self.written.id]
        stated = [(one, one_line(one.content)) for one in self.preferences]
        stated += [(one, self._dated(one)) for one in self.statements]
        told = [(fact.id, "Known:", fact.in_words) for fact in self.facts]
        told += [(one.id, "Known:", in_doubt(text, one.doubted_at, one.doubt)) for one, text in stated]
        told += [(one.id, "Recently:", self._dated(one)) for one in self.recent]
        kept: list[str] = []
        ids: list[UUID] = []
        for id_, opening, text in told:
            sentence = f"{text.rstrip(_ENDS)};"
            if sentence in kept:  # a memory may state several facts
                continue
            new = sentence if opening in kept else f"{opening} {sentence}"
            if len(new.split()) > words:
                break
            words -= len(new.split())
            kept += [sentence] if new == sentence else [opening, sentence]
            ids.append(id_)
        return " ".join(kept), ids

    def _dated(self, one: ProfileStatement | Recent) -> str:
        return with_day(one.kind, one.content, self.zones.local(one.happened_at), joint=", ")


async def load_profile(session: TenantSession, *, subject_id: str, policy: Policy, as_of: datetime) -> Profile:
    """Return the profile of a subject as of a time; empty for an unknown subject."""
    rows = await session.run_all(*profile_statements(session.tenant_id, subject_id, policy, as_of))
    return read_profile(rows, subject_id, policy, as_of)


def profile_statements(tenant_id: str, subject_id: str, policy: Policy, as_of: datetime) -> tuple[Statement[Any], ...]:
    """Return the statements that read a profile, to be sent together."""
    recent: dict[str, Any] = {
        "tenant": tenant_id,
        "subject": subject_id,
        "horizon": horizon(require_aware(as_of)),
        "kinds": list(_TELLING),
        "limit": _READ_FOR_EACH * policy.profile.recent,
        "since": _recent_since(policy, as_of),
    }
    mood = {"tenant": tenant_id, "subject": subject_id, "as_of": as_of, "limit": policy.mood.usual_messages}
    return (
        facts_statement(tenant_id, subject_id, as_of, least_importance=policy.structured_facts.recall_importance),
        relationship_statement(tenant_id, subject_id, as_of),
        Statement(queries("context")["moods"], mood),
        *scaffold.statements(tenant_id, subject_id, policy, as_of),
        Statement(queries("context")["recent"], recent),
        Statement(
            queries("context")["statements"],
            recent
            | {
                "as_of": as_of,
                "preferences": policy.profile.preferences,
                "statements": policy.profile.statements,
                "confidence": policy.extract.reader.confidence,
            },
            row=ProfileStatement,
        ),
        life_events_statement(tenant_id, subject_id, as_of, _events_around(policy, as_of)),
        zones_statement(tenant_id, subject_id, as_of),
    )


def _recent_since(policy: Policy, as_of: datetime) -> UUID:
    """Return the id from which an episode or a summary is recent: ids begin with the time of the event."""
    days = policy.profile.recent_days
    return bound_after(as_of - timedelta(days=days)) if days else UUID(int=0)


def _events_around(policy: Policy, as_of: datetime) -> EventWindow:
    """Return the days, in any time zone, whose events are shown."""
    day = timedelta(days=1)
    return EventWindow(
        since=(as_of - day).date(), until=(as_of + timedelta(days=policy.life_events.ahead_days) + day).date()
    )


def read_profile(rows: tuple[Sequence[Any], ...], subject_id: str, policy: Policy, as_of: datetime) -> Profile:
    """Return the profile from the rows of its statements."""
    facts, known, moods, narratives, entries, learned, recent, statements, events, zones = rows
    written = _read_narrative(narratives)
    stated = distinct(statements, facts)
    is_written, note = _still_told(written, policy, as_of)
    return Profile(
        subject_id=subject_id,
        written=written,
        is_written=is_written,
        note=note,
        entries=tuple(entries),
        learned_facts=tuple(learned),
        conflicts=scaffold.conflicts(entries, facts, as_of),
        as_of=as_of,
        upcoming=tuple(coming_up(events, as_of, days=policy.life_events.ahead_days, most=policy.life_events.most)),
        facts=tuple(latest_rules_first(one_a_thing(named_as_said(facts)))),
        preferences=tuple(one for one in stated if one.kind == "preference"),
        statements=tuple(one for one in stated if one.kind != "preference"),
        recent=most_telling(_untold(_said_once(recent), stated), policy.profile.recent),
        relationship=read_relationship(known, policy.relationship, as_of),
        moods=_read_moods(moods, policy.mood.usual_least),
        zones=read_zones(zones, policy.signals.zone),
    )


def _said_once(rows: Sequence[tuple[Any, ...]]) -> list[Recent]:
    """Return recent memories without repeats; the first of each stands for all."""
    found: dict[str, list[Recent]] = {}
    for id_, kind, text, at in rows:
        found.setdefault(said_alike(text), []).append(Recent(id=id_, kind=kind, content=text, happened_at=at))
    return [replace(first, same_ids=tuple(one.id for one in others)) for first, *others in found.values()]


def _untold(recent: Sequence[Recent], stated: Sequence[ProfileStatement]) -> list[Recent]:
    """Return recent memories without those that only repeat a statement, a summary of it with its day among them."""
    told = tuple(said_alike(one.content) for one in stated)
    kept = []
    for one in recent:
        said = said_alike(one.content)
        heads = [said.removesuffix(text) for text in told if said.endswith(text)]
        if not any(not head or (len(head) <= _HEAD and head.endswith((". ", ": "))) for head in heads):
            kept.append(one)
    return kept


def most_telling(recent: Sequence[Recent], limit: int) -> tuple[Recent, ...]:
    """Return the `limit` most telling memories, in their order: events worth keeping, not "I've ironed a shirt".

    Patterns and summaries stand for many turns and are chosen first.
    """
    if len(recent) <= limit:
        return tuple(recent)
    chances = worth().probabilities([one.content for one in recent])
    told = [1.0 if one.kind != "episode" else float(chance) for one, chance in zip(recent, chances, strict=True)]
    kept = set(sorted(range(len(recent)), key=lambda place: (-told[place], place))[:limit])
    return tuple(one for place, one in enumerate(recent) if place in kept)


def one_a_thing(facts: Sequence[StructuredFact]) -> list[StructuredFact]:
    """Return facts with each thing in its fullest wording: "a golden retriever named Bruno", not "dog named Bruno" too.

    A key that names no thing keeps all its values (two jobs).
    """
    fullest: dict[tuple[str, str, str], StructuredFact] = {}
    for fact in facts:
        place = (fact.speaker, fact.category, fact.key)
        if ":" in fact.key and (place not in fullest or len(fact.value) > len(fullest[place].value)):
            fullest[place] = fact
    kept = {fact.id for fact in fullest.values()}
    return [fact for fact in facts if ":" not in fact.key or fact.id in kept]


def named_as_said(facts: Sequence[StructuredFact]) -> list[StructuredFact]:
    """Return facts with people named as another fact spells them: "brother Karan", not "brother karan"."""
    people = {fact.value.casefold(): fact.value for fact in facts if fact.key.startswith("person:")}
    return [replace(fact, speaker=people.get(fact.speaker, fact.speaker)) for fact in facts]


def distinct(statements: Sequence[ProfileStatement], facts: Sequence[StructuredFact]) -> list[ProfileStatement]:
    """Return statements without those that share most of their words with an earlier one or with a fact.

    A dislike is never left out because of a fact, which has no polarity.
    """
    told = [words for fact in facts if fact.category != "identity" if (words := read_object(fact.value).words)]
    kept: list[ProfileStatement] = []
    known: list[tuple[int, tuple[str, ...]]] = [(1, words) for words in told]
    for one in statements:
        words = read_object(one.content).words
        sign = -1 if one.polarity < 0 else 1
        if not any(sign == other and _mostly_shared(words, others) for other, others in known):
            kept.append(one)
            known.append((sign, words))
    return kept


def _mostly_shared(one: Sequence[str], other: Sequence[str]) -> bool:
    return len(set(one) & set(other)) > _SHARED_WORDS * min(len(set(one)), len(set(other)))


def latest_rules_first(facts: Sequence[StructuredFact]) -> list[StructuredFact]:
    """Return facts with the instructions among them latest first: if two disagree, the later one counts."""
    rules = iter(
        sorted((fact for fact in facts if fact.category == "instruction"), key=lambda fact: fact.valid_from)[::-1]
    )
    return [next(rules) if fact.category == "instruction" else fact for fact in facts]


def _read_narrative(rows: Sequence[tuple[Any, ...]]) -> scaffold.Narrative | None:
    names = ("id", "text", "told_until", "made_at", "model", "waiting")
    return scaffold.Narrative(**dict(zip(names, rows[0], strict=True))) if rows else None


def _still_told(written: scaffold.Narrative | None, policy: Policy, as_of: datetime) -> tuple[bool, str]:
    """Return whether a narrative is shown, and the note about it."""
    if written is None:
        return False, ""
    if not written.text:
        return False, "The narrative may contain a corrected statement: it is not returned until it is rewritten."
    age = (as_of - written.made_at).days
    if as_of - written.made_at > timedelta(days=policy.profile.stale_days):
        return False, f"The narrative is {age:,} days old and no longer given."
    since = f"; {written.waiting:,} observations have come since" if written.waiting else ""
    return True, f"The narrative is by {written.model}, {age:,} days old{since}."


def _read_moods(rows: Sequence[tuple[Any, ...]], least: int) -> Moods | None:
    mood, energy, said_at, messages, usual_mood, usual_energy = rows[0]
    if not messages:
        return None
    usual = {"usual_mood": usual_mood, "usual_energy": usual_energy} if messages >= least else {}
    return Moods(mood=mood, energy=energy, said_at=said_at, **({"usual_mood": None, "usual_energy": None} | usual))


def said_alike(text: str) -> str:
    """Return a text without differences in spaces, case and final punctuation ("Good night!"), for comparison."""
    return one_line(text).casefold().rstrip(" .!…")


def with_day(kind: str, content: str, at: datetime, *, joint: str = ": ") -> str:
    """Return a memory on one line with its day: `2026-04-03: Went to the lake`; a summary already has its day.

    `at` is when it happened, in the subject's time zone.
    """
    told = one_line(content)
    return told if kind == "summary" else f"{at:%Y-%m-%d}{joint}{told}"
