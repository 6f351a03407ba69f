"""`reverie show`: show the memories of a subject."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING, Any

import click

from reverie.cli.options import as_of_option, json_option, policy_option, tenant_option
from reverie.cli.output import bar, heading, pairs, print_json, say, single_line, table
from reverie.cli.session import CommandSession
from reverie.language.text import plain_name

if TYPE_CHECKING:
    from reverie.model import State
    from reverie.recall.facts import StructuredFact
    from reverie.recall.inspect import Entity, ShownMemory, SubjectMemory
    from reverie.recall.profile import Profile
    from reverie.recall.relationship import Relationship
    from reverie.recall.scaffold import ScaffoldEntry

_KINDS = ("fact", "preference", "instruction", "episode", "pattern", "summary")
#: Maximum number of entities shown to people. JSON has them all.
_ENTITIES = 40
_STATES: tuple[State, ...] = ("active", "candidate", "superseded", "merged", "compressed")


@click.command("show", short_help="Show the memories of a subject.")
@click.argument("subject")
@tenant_option
@as_of_option("Show facts, memories and entities as they stood at this time, with importance as of then.")
@click.option("--kind", "kinds", multiple=True, type=click.Choice(_KINDS), help="Only memories of this kind.")
@click.option("--all", "everything", is_flag=True, help="Include memories that others replaced or superseded.")
@click.option(
    "--limit", default=15, show_default=True, type=click.IntRange(min=1), help="Maximum number of memories per kind."
)
@policy_option
@json_option
def command(
    subject: str,
    tenant: str | None,
    as_of: datetime | None,
    kinds: tuple[str, ...],
    everything: bool,
    limit: int,
    policy: str | None,
    as_json: bool,
) -> None:
    """Show the memory of SUBJECT: facts by key, memories by kind with their importance, last use and time of
    forgetting, the entities they name, and forgotten memories. With --all, include memories and facts that others
    replaced.

    The counts and the forgotten memories are always those of now: what was forgotten since --as-of is not shown.

    Showing a memory does not count as an access. JSON has every memory, regardless of --limit.

    \b
    Examples:
      reverie show mumbai-bakery --tenant demo
      reverie show ana --kind preference --all
      reverie show ana --json | jq '.subject.memories[] | select(.importance > 0.5) | .content'
    """
    with CommandSession(tenant, policy) as session:
        session.require_tenant()
        as_of = session.time(as_of)
        view = _load(session, subject, as_of, kinds or _KINDS, everything)
        words = session.policy.profile.narrative_words
    if as_json:
        print_json({"tenant_id": session.tenant_id, "as_of": as_of} | _flat(view, words))
    else:
        _print(view, limit, as_of)


@dataclass(frozen=True, kw_only=True, slots=True)
class _SubjectView:
    """The data that the command shows about a subject."""

    memory: SubjectMemory
    facts: list[StructuredFact]
    bond: Relationship
    profile: Profile
    entries: list[ScaffoldEntry]


def _load(
    session: CommandSession, subject: str, as_of: datetime, kinds: tuple[str, ...], everything: bool
) -> _SubjectView:
    from reverie.recall.facts import load_facts
    from reverie.recall.inspect import show_subject
    from reverie.recall.profile import load_profile
    from reverie.recall.relationship import load_relationship
    from reverie.recall.scaffold import scaffold_history
    from reverie.store.session import perform

    memory = show_subject(
        session.reader,
        tenant_id=session.tenant_id,
        subject_id=subject,
        policy=session.policy,
        as_of=as_of,
        states=_STATES if everything else None,
        kinds=kinds,  # type: ignore[arg-type]
    )
    tenant_session = session.reader.session(session.tenant_id)
    about: dict[str, Any] = {"subject_id": subject, "as_of": as_of}
    profile = perform(load_profile(tenant_session, **about, policy=session.policy))
    return _SubjectView(
        memory=memory,
        facts=perform(load_facts(tenant_session, **about, history=everything)),
        bond=perform(load_relationship(tenant_session, **about, numbers=session.policy.relationship)),
        profile=profile,
        entries=perform(scaffold_history(tenant_session, **about)) if everything else list(profile.entries),
    )


def _flat(view: _SubjectView, narrative_words: int) -> dict[str, Any]:
    profile = view.profile
    return {
        "subject": view.memory,
        "structured_facts": view.facts,
        "relationship": view.bond,
        "narrative": profile.narrative(narrative_words),
        "narrative_by": profile.written.model if profile.is_written and profile.written else "rules",
        "scaffold": view.entries,
        "conflicts": profile.conflicts,
        "learned": profile.learned(),
    }


def _print(view: _SubjectView, limit: int, as_of: datetime) -> None:
    memory, profile = view.memory, view.profile
    _print_summary(memory, view.bond)
    if profile.is_written and profile.written:
        heading("narrative")
        say(single_line(profile.written.text, 10_000))
    if profile.note:
        say(profile.note)
    _print_entries(view.entries)
    _print_facts(view.facts)
    _print_memories(memory, limit, as_of)
    if entities := [entity for entity in memory.entities if entity.memories]:
        heading(f"entities ({len(entities):,})")
        say(single_line("  ".join(_entity(entity) for entity in entities[:_ENTITIES])))
    if memory.forgotten:
        heading(f"forgotten ({memory.forgotten_total:,})")
        rows = [(stone.forgotten_at, stone.kind, stone.reason, stone.memory_id) for stone in memory.forgotten]
        table(("when", "kind", "why", "id"), rows)


def _entity(entity: Entity) -> str:
    """Return an entity with the number of memories that name it, and whether none of them holds any more."""
    past = " (superseded)" if entity.superseded == entity.memories else ""
    return f"{entity.id} ×{entity.memories}{past}"


def _print_summary(memory: SubjectMemory, bond: Relationship) -> None:
    first, last = memory.first_said, memory.last_said
    period = f", {first:%Y-%m-%d} to {last:%Y-%m-%d}" if first and last else ""
    states = [f"{memory.states[state]:,} {state}" for state in _STATES if state in memory.states]
    if memory.forgotten_total:
        states.append(f"{memory.forgotten_total:,} forgotten")
    say(f"{memory.subject_id}: {memory.turns:,} turns in {memory.sessions:,} sessions{period}")
    relationship = f"{bond.stage}: {bond.sessions:,} sessions in {bond.days:,} days, streak {bond.streak:,}"
    pairs([("memories", " · ".join(states) or "none yet: reverie run"), ("relationship", relationship)])


def _print_facts(facts: list[StructuredFact]) -> None:
    from reverie.recall.result import in_doubt

    if not facts:
        return
    heading(f"facts by key ({len(facts):,})")
    rows = [
        (
            fact.category,
            f"{plain_name(fact.speaker)}, {fact.key}" if fact.speaker else fact.key,
            in_doubt(fact.value, fact.doubted_at, fact.doubt),
            f"{fact.confidence:.2f}",
            f"{fact.valid_from:%Y-%m-%d}" + (f" to {fact.valid_to:%Y-%m-%d}" if fact.valid_to else ""),
            fact.memory_id,
        )
        for fact in facts
    ]
    table(("category", "key", "value", "confidence", "valid since", "memory"), rows, ids=("memory",))


def _print_memories(memory: SubjectMemory, limit: int, as_of: datetime) -> None:
    for kind, group in groupby(memory.memories, key=lambda remembered: remembered.kind):
        of_kind = list(group)
        heading(f"{kind} ({len(of_kind):,})")
        rows = [
            (
                f"{bar(remembered.importance)} {remembered.importance:.2f}",
                f"{remembered.accessed_at:%Y-%m-%d}",
                _future(remembered, as_of),
                remembered.id,
                _content(remembered),
                " ".join(remembered.entities),
            )
            for remembered in of_kind[:limit]
        ]
        table(("importance", "last used", "kept until", "id", "memory", "about"), rows, ids=("id",))
        if len(of_kind) > limit:
            say(f"and {len(of_kind) - limit:,} more: --limit {len(of_kind)}")


def _content(memory: ShownMemory) -> str:
    """Return the content of a memory, with its state, whether it is in doubt, and the turns that a summary covers."""
    state = "" if memory.state == "active" else f"[{memory.state}] "
    if memory.valid_to is not None:
        state = f"[until {memory.valid_to:%Y-%m-%d}] "
    elif memory.doubt_chance is not None:
        state += "[may be over] "
    turns = f"(turns {memory.turn_start}-{memory.turn_end}) " if memory.turn_start else ""
    return f"{state}{turns}{memory.content}"


def _print_entries(entries: list[ScaffoldEntry]) -> None:
    """Print the scaffold with the values against each entry; `reverie explain` prints an entry's sources."""
    if not entries:
        return
    heading(f"scaffold ({sum(entry.state == 'active' for entry in entries):,})")
    rows = [
        (
            f"{entry.connection_id}, {entry.text}" if entry.connection_id else entry.text,
            f"{entry.confidence:.2f}",
            entry.basis,
            entry.state + (f" by {entry.against}" if entry.against else ""),
            f"{entry.valid_from:%Y-%m-%d}" + (f" to {entry.valid_to:%Y-%m-%d}" if entry.valid_to else ""),
            entry.id,
        )
        for entry in entries
    ]
    table(("entry", "confidence", "based on", "state", "since", "id"), rows, ids=("id",))


def _future(memory: ShownMemory, as_of: datetime) -> str:
    """Return the first day on which a memory may be forgotten; `held`: as long as the one that replaced it is kept."""
    if memory.into_id is not None:
        return "held"
    if memory.forget_at is None:
        return "never"
    # a faded memory is forgotten only after its subject is active again
    return f"{memory.forget_at:%Y-%m-%d}" if memory.forget_at >= as_of else "next activity"
