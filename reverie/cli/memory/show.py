"""`reverie show`: what is remembered about a subject."""

from __future__ import annotations

from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING, Any

import click

from reverie.cli.options import as_of_option, json_option, policy_option, tenant_option
from reverie.cli.output import bar, heading, pairs, print_json, say, single_line, table
from reverie.cli.session import Session
from reverie.language.text import plain_name

if TYPE_CHECKING:
    from reverie.recall.facts import StructuredFact
    from reverie.recall.inspect import Remembered, SubjectMemory
    from reverie.recall.profile import Profile
    from reverie.recall.relationship import Relationship
    from reverie.recall.scaffold import ScaffoldEntry

_KINDS = ("fact", "preference", "instruction", "episode", "pattern", "summary")
#: Entities shown to people; JSON has them all.
_ENTITIES = 40
_STATES = ("active", "candidate", "merged", "compressed")


@click.command("show", short_help="Show what is remembered about a subject.")
@click.argument("subject")
@tenant_option
@as_of_option("Importance as of then.")
@click.option("--kind", "kinds", multiple=True, type=click.Choice(_KINDS), help="Only memories of this kind.")
@click.option("--all", "everything", is_flag=True, help="Also memories that others replaced.")
@click.option("--limit", default=15, show_default=True, type=click.IntRange(min=1), help="Memories a kind.")
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
    """Show what is remembered about SUBJECT: what is known by key, memories by kind with importance, when each was last
    said or recalled and when it will be forgotten, the people and things they speak of, and what is forgotten
    already. With --all also what others replaced, by key too.

    Looking does not count as an access. JSON has every memory, whatever --limit says.

    \b
    Examples:
      reverie show mumbai-bakery --tenant demo
      reverie show ana --kind preference --all
      reverie show ana --json | jq '.subject.memories[] | select(.importance > 0.5) | .content'
    """
    from reverie.recall.facts import structured_facts
    from reverie.recall.inspect import show_subject
    from reverie.recall.profile import profile
    from reverie.recall.relationship import relationship
    from reverie.recall.scaffold import scaffold_history
    from reverie.store.steps import perform

    with Session(tenant, policy) as session:
        session.require_tenant()
        as_of = session.time(as_of)
        found = show_subject(
            session.reader,
            tenant_id=session.tenant_id,
            subject_id=subject,
            policy=session.policy,
            as_of=as_of,
            states=("active", "candidate", "merged", "compressed") if everything else ("active", "candidate"),
            kinds=kinds or _KINDS,  # type: ignore[arg-type]
        )
        who: dict[str, Any] = {"tenant_id": session.tenant_id, "subject_id": subject, "as_of": as_of}
        facts = perform(session.reader, session.tenant_id, structured_facts(**who, history=everything))
        short = perform(session.reader, session.tenant_id, profile(**who, policy=session.policy))
        entries = list(short.entries)
        if everything:
            entries = perform(session.reader, session.tenant_id, scaffold_history(**who))
        numbers = session.policy.relationship
        known = perform(session.reader, session.tenant_id, relationship(**who, numbers=numbers))
    if as_json:
        print_json(
            {
                "tenant_id": session.tenant_id,
                "as_of": as_of,
                "subject": found,
                "structured_facts": facts,
                "relationship": known,
                "narrative": short.narrative(session.policy.profile.narrative_words),
                "narrative_by": short.written.model if short.is_written and short.written else "rules",
                "scaffold": entries,
                "conflicts": short.conflicts,
                "learned": short.learned(),
            }
        )
    else:
        _print(found, facts, known, limit, as_of, short, entries)


def _print(
    found: SubjectMemory,
    facts: list[StructuredFact],
    known: Relationship,
    limit: int,
    as_of: datetime,
    short: Profile,
    entries: list[ScaffoldEntry],
) -> None:
    since = (
        f", {found.first_said:%Y-%m-%d} to {found.last_said:%Y-%m-%d}" if found.first_said and found.last_said else ""
    )
    states = [f"{found.states[state]:,} {state}" for state in _STATES if state in found.states]
    if found.forgotten_total:
        states.append(f"{found.forgotten_total:,} forgotten")
    say(f"{found.subject_id}: {found.turns:,} turns in {found.sessions:,} sessions{since}")
    pairs(
        [
            ("memories", " · ".join(states) or "none yet: reverie run"),
            (
                "relationship",
                f"{known.stage}: {known.sessions:,} sessions in {known.days:,} days, streak {known.streak:,}",
            ),
        ]
    )
    if short.is_written and short.written:
        heading("narrative")
        say(single_line(short.written.text, 10_000))
    if short.note:
        say(short.note)
    _print_entries(entries)
    if facts:
        heading(f"known by key ({len(facts):,})")
        by_key = [
            (
                one.category,
                f"{plain_name(one.speaker)}, {one.key}" if one.speaker else one.key,
                one.value,
                f"{one.confidence:.2f}",
                f"{one.valid_from:%Y-%m-%d}" + (f" to {one.valid_to:%Y-%m-%d}" if one.valid_to else ""),
                one.memory_id,
            )
            for one in facts
        ]
        table(("category", "key", "value", "sure", "holds since", "memory"), by_key, ids=("memory",))
    for kind, group in groupby(found.memories, key=lambda memory: memory.kind):
        memories = list(group)
        heading(f"{kind} ({len(memories):,})")
        rows = [
            (
                f"{bar(each.importance)} {each.importance:.2f}",
                f"{each.accessed_at:%Y-%m-%d}",
                _future(each, as_of),
                each.id,
                _told(each),
                " ".join(each.entities),
            )
            for each in memories[:limit]
        ]
        table(("importance", "last used", "forgotten on", "id", "memory", "about"), rows, ids=("id",))
        if len(memories) > limit:
            say(f"and {len(memories) - limit:,} more: --limit {len(memories)}")
    if spoken_of := [each for each in found.entities if each.memories]:
        heading(f"speaks of ({len(spoken_of):,})")
        say(single_line("  ".join(f"{each.id} ×{each.memories}" for each in spoken_of[:_ENTITIES])))
    if found.forgotten:
        heading(f"forgotten ({found.forgotten_total:,})")
        stones = [(each.forgotten_at, each.kind, each.reason, each.memory_id) for each in found.forgotten]
        table(("when", "kind", "why", "id"), stones)


def _told(memory: Remembered) -> str:
    """What it says, of a summary with the turns that it tells."""
    state = "" if memory.state == "active" else f"[{memory.state}] "
    turns = f"(turns {memory.turn_start}-{memory.turn_end}) " if memory.turn_start else ""
    return f"{state}{turns}{memory.content}"


def _print_entries(entries: list[ScaffoldEntry]) -> None:
    """The scaffold, and what stands against it; `reverie explain` says where an entry comes from."""
    if not entries:
        return
    heading(f"scaffold ({sum(one.state == 'active' for one in entries):,})")
    rows = [
        (
            f"{one.connection_id}, {one.text}" if one.connection_id else one.text,
            f"{one.confidence:.2f}",
            one.basis,
            one.state + (f" by {one.against}" if one.against else ""),
            f"{one.valid_from:%Y-%m-%d}" + (f" to {one.valid_to:%Y-%m-%d}" if one.valid_to else ""),
            one.id,
        )
        for one in entries
    ]
    table(("entry", "sure", "rests on", "state", "since", "id"), rows, ids=("id",))


def _future(memory: Remembered, as_of: datetime) -> str:
    """When it will be forgotten; `held` by the memory that replaced it."""
    if memory.into_id is not None:
        return "held"
    if memory.forget_at is None:
        return "never"
    return f"{memory.forget_at:%Y-%m-%d}" + (", due" if memory.forget_at < as_of else "")
