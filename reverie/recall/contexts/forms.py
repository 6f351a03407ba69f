"""The six ways to lay out a context: one for each seed, and ours (spec D8 to D10).

Each returns its sections in their order. A person's words are in a line that the form begins, on one line or with
further lines indented, so that they can neither close a block nor open another.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from html import escape as as_entities
from uuid import UUID

import orjson

from reverie.language.text import one_line
from reverie.recall.contexts.adaptation import (
    RECENT,
    acquaintance,
    adapt,
    avoidance,
    discovery,
    emotional_context,
    hard_times,
    number_of_days,
    stage_line,
    style,
    unusual,
)
from reverie.recall.contexts.coming import coming_up_block
from reverie.recall.contexts.conversation import history_section
from reverie.recall.contexts.identity import agent_identity
from reverie.recall.contexts.material import Chosen, Material
from reverie.recall.contexts.profile_lines import FactTeller, in_words, profile_lines
from reverie.recall.contexts.request import account_lines, fields, service_section, tools_section
from reverie.recall.contexts.sections import Block, Line, Section, fit
from reverie.recall.facts import StructuredFact
from reverie.recall.places.budget import PROCEDURAL
from reverie.recall.profile import with_day
from reverie.recall.staged import fact_line, summary_line

#: The names of kinds in Logic 4.
_TYPES = {"preference": "PROCEDURAL", "instruction": "PROCEDURAL", "episode": "EPISODIC", "turn": "EPISODIC"}


def lay_out(material: Material) -> list[Section]:
    """Return the sections of the policy's form, in their order; sections without content are empty."""
    return _FORMS[material.policy.context.form](material)


def _brain(of: Material) -> list[Section]:
    """Lay out Brain 6: system, tenant context, memories with their importance, current data, conversation."""
    return [
        _system(of),
        _profile(of, "TENANT CONTEXT:"),
        _memories(of, "MEMORIES (what you've learned about this business):", _with_importance),
        *_rest(of),
    ]


def _reverie(of: Material) -> list[Section]:
    """Lay out our form: Brain's for any subject, with the day of each memory, and the mood if there is one."""

    def dated(one: Chosen) -> str:
        return f"- [{one.kind}] {with_day(one.kind, one.content, of.profile.zones.local(one.happened_at))}"

    emotional = list(emotional_context(of.given, of.profile, acquaintance(of.profile.relationship)))
    emotional += hard_times(of.person) if emotional else ()
    rules = _advice(of) if emotional else ()
    profile = _profile(of, f"PROFILE ({one_line(of.subject_id)}):", _learned_lines(of), in_words)
    return [
        _system(of),
        profile,
        _memories(of, "MEMORIES (remembered from earlier conversations):", dated, profile),
        _behavior(of, [("MOOD:", emotional), ("ADAPTATION:", rules)]),
        *_rest(of),
    ]


def _contact(of: Material) -> list[Section]:
    """Lay out Contact 4.3 and 5: contact context and memories by stage, emotional context, adaptation or discovery."""
    known, given = of.profile.relationship, of.given
    named = [one for one in of.profile.facts if one.category == "identity"]
    liked = [one for one in of.profile.facts if one.category in ("preference", "constraint")]
    emotional = [*emotional_context(given, of.profile, stage_line(known)), *hard_times(of.person)]
    mood = one_line(given.mood or "neutral") + (" (unusual)" if given.mood and unusual(given) else "")
    told: list[tuple[str, Sequence[StructuredFact]]] = []
    if known.stage == "new":
        first = "first session" if known.sessions <= 1 else f"{known.sessions} sessions"
        told += [(f"New contact ({first})", ()), (_known(named) if named else "No memories yet", named)]
    else:
        word = {"building": "Building", "established": "Established", "deep": "Deep"}[known.stage]
        streak = "" if known.stage == "building" else f", active streak: {known.streak}"
        told.append((f"{word} relationship ({known.sessions} sessions over {number_of_days(known.days)}{streak})", ()))
        told += [(_known(named), named)] * bool(named)
    if liked:
        told.append((f"Preferences: {_named_values(liked)}", liked))
    told.append((f"Mood: {mood}", ()))
    lines = [
        Line(text=f"- {text}", label=text.partition(":")[0], worth=-float(n), made_of=tuple(one.id for one in facts))
        for n, (text, facts) in enumerate(told)
    ]
    lines[-1:-1] = account_lines(given)
    return [
        _system(of),
        fit("profile", [Block(head="CONTACT CONTEXT:", lines=lines), _coming(of)], of.policy.context.profile, of.count),
        _memories(of, "MEMORIES:", _plain if known.stage == "building" else _with_importance),
        _behavior(
            of,
            [
                ("CONTACT EMOTIONAL CONTEXT:", emotional),
                ("ADAPTATION:", _advice(of)),
                ("BEHAVIOR:", discovery(known.stage, of.person.known)),
            ],
        ),
        *_rest(of),
    ]


def _agent(of: Material) -> list[Section]:
    """Lay out Agent 3.C: narrative, scaffold, learned info, retrieved facts, identity, directives, artifacts."""
    given, profile = of.given, of.profile
    narrative, told = profile.narrative_of(of.policy.profile.narrative_words)
    scaffold, learned = profile.scaffold(), profile.learned() | dict(given.learned)
    own = {"account": dict(given.account), "in this conversation": list(given.preferences)}
    scaffold |= {name: value for name, value in own.items() if value}
    entries = [one.id for one in profile.active if not one.connection_id]
    parts: tuple[tuple[str, str, Sequence[UUID]], ...] = (
        ("narrative", narrative, told),
        (
            "scaffold",
            f"Structured Data:\n{_json(scaffold)}" if scaffold else "",
            (*entries, *(one.id for one in profile.facts)),
        ),
        (
            "learned info",
            f"Learned Info:\n{_json(learned)}" if learned else "",
            [
                *(one.id for one in profile.learned_facts),
                *(one.id for one in profile.active if one.connection_id),
            ],
        ),
    )
    blocks = [
        Block(
            head="# Your Context",
            lines=[
                Line(text=text, label=label, worth=-float(place), made_of=tuple(ids))
                for place, (label, text, ids) in enumerate(parts)
                if text
            ],
        )
    ]
    return [
        _system(of),
        fit("profile", [*blocks, coming_up_block(profile, "# Coming Up")], of.policy.context.profile, of.count),
        _memories(of, "Relevant Retrieved Facts:", _plain_without_kind),
        fit("behavior", agent_identity(given), of.policy.context.behavior, of.count),
        *_rest(of),
    ]


def _logic(of: Material) -> list[Section]:
    """Lay out Logic 4: the memories in a `<memory>` element, escaped so that they cannot end it."""

    def typed(one: Chosen) -> str:
        type_ = "WORKING" if one.kind not in PROCEDURAL and _about_now(of, one) else _TYPES.get(one.kind, "SEMANTIC")
        day = f"{of.profile.zones.local(one.happened_at):%Y-%m-%d}: " if type_ == "EPISODIC" else ""
        return f"[{type_}] {day}{_escaped(one_line(one.content))}"

    lines = [
        Line(text=f"[WORKING] {_escaped(one_line(text))}", label="active preference", worth=math.inf)
        for text in of.given.preferences
    ]
    lines += [_line(typed(one), one) for one in of.shown()]
    block = Block(head="<memory>", lines=lines, foot="</memory>")
    return [_system(of), fit("memories", [block], of.memory_budget, of.count), *_rest(of, escape=_escaped)]


def _about_now(of: Material, one: Chosen) -> bool:
    """Return whether a memory is about now, and still recent (Logic 1.6)."""
    numbers, as_of = of.policy.working_memory, of.profile.as_of
    if one.kind == "working":
        return True
    recent = as_of is not None and one.happened_at > as_of - timedelta(hours=numbers.ttl_hours)
    return recent and any(phrase in one.content.lower() for phrase in numbers.about_now)


def _chat(of: Material) -> list[Section]:
    """Lay out Chat flow 3: User Profile and Recent Context as long-term memory, recent conversation, closing line."""
    staged = of.staged
    facts = account_lines(of.given) + [
        Line(text=fact_line(one), id=one.id, label=one.name, worth=one.importance)
        for one in (staged.facts if staged else ())
    ]
    near = [
        Line(text=summary_line(one, staged.letters), id=one.id, label="summary", worth=-one.distance)
        for one in (staged.summaries if staged else ())
        if staged
    ]
    numbers = of.policy.context
    head = "# Long-term Memory\n## {}"
    known = [Block(head=head.format("User Profile"), lines=facts), coming_up_block(of.profile, "## Coming Up")]
    profile = fit("profile", known, numbers.profile, of.count)
    title = "## Recent Context" if profile.text else head.format("Recent Context")
    memories = fit("memories", [Block(head=title, lines=near)], of.memory_budget, of.count)
    rest = list(_rest(of, conversation="# Recent Conversation", role_name=str))
    closing = [Line(text="Answer consistently using the memory and conversation above.", label="closing line")]
    above = any(section.text for section in (profile, memories, *rest))
    behavior = fit("behavior", [Block(lines=closing if above else [])], numbers.behavior, of.count)
    return [_system(of), profile, memories, *rest, behavior]


_FORMS: dict[str, Callable[[Material], list[Section]]] = {
    "brain": _brain, "contact": _contact, "agent": _agent, "logic": _logic, "chat": _chat, "reverie": _reverie,
}  # fmt: skip


def _system(of: Material) -> Section:
    text = of.given.system.strip()
    lines = [Line(text=text, label="system text")] if text else []
    return fit("system", [Block(lines=lines)], of.policy.context.system, of.count)


def _learned_lines(of: Material) -> list[Line]:
    """Return lines of learned information about connections: from agents, and from the caller."""
    lines = [
        Line(
            text=f"- {one_line(one.connection_id)}: {one_line(one.text)}",
            id=one.id,
            label="learned",
            worth=1 + one.confidence / 2,
        )
        for one in of.profile.active
        if one.connection_id
    ]
    for connection, value in of.given.learned.items():
        for path, leaf in fields(value):
            parts = filter(None, map(one_line, (connection, path, leaf)))
            lines.append(Line(text=f"- {': '.join(parts)}", label="learned", worth=1.5))
    return lines


def _profile(of: Material, head: str, learned: Sequence[Line] = (), told: FactTeller = fact_line) -> Section:
    lines = [*account_lines(of.given), *profile_lines(of.profile, learned, told)]
    return fit("profile", [Block(head=head, lines=lines), _coming(of)], of.policy.context.profile, of.count)


def _coming(of: Material) -> Block:
    return coming_up_block(of.profile, "COMING UP:")


def _memories(of: Material, head: str, told: Callable[[Chosen], str], profile: Section | None = None) -> Section:
    lines = [_line(told(one), one) for one in of.shown(profile.lines if profile else ())]
    return fit("memories", [Block(head=head, lines=lines)], of.memory_budget, of.count)


def _line(text: str, one: Chosen) -> Line:
    return Line(text=text, id=one.id, label=one.kind, worth=one.score, made_of=one.same_ids)


def _behavior(of: Material, blocks: Sequence[tuple[str, Sequence[str]]]) -> Section:
    sources = dict(avoidance(of.person, of.profile.facts))
    placed = [
        Block(
            head=head,
            lines=[
                Line(
                    text=f"- {text}",
                    label=head.rstrip(":").lower(),
                    worth=-float(n),
                    made_of=(of.profile.recent[0].id,) if text.startswith(RECENT) else sources.get(text, ()),
                )
                for n, text in enumerate(texts)
            ],
        )
        for head, texts in blocks
    ]
    return fit("behavior", placed, of.policy.context.behavior, of.count)


def _advice(of: Material) -> list[str]:
    """Return advice for the answer: by mood and by the subject's style, and topics to avoid."""
    avoided = (text for text, _ in avoidance(of.person, of.profile.facts))
    return [*adapt(of.given.mood, of.given.energy), *style(of.person, of.policy.style), *avoided]


def _rest(
    of: Material,
    *,
    conversation: str = "CONVERSATION:",
    role_name: Callable[[str], str] = str.capitalize,
    escape: Callable[[str], str] = str,
) -> Iterator[Section]:
    """Yield service data, tools and, last, the conversation."""
    given, numbers = of.given, of.policy.context
    language = of.policy.language
    yield service_section(
        given.service_data,
        of.question,
        "CURRENT DATA ({service}):",
        budget=numbers.service_data,
        count=of.count,
        language=language,
        escape=escape,
    )
    yield tools_section(given.tools, "TOOLS:", budget=numbers.tools, count=of.count)
    yield history_section(
        given.history,
        conversation,
        policy=of.policy,
        count=of.count,
        role_name=role_name,
        escape=escape,
        told=of.told,
    )


def _plain(one: Chosen) -> str:
    return f"- [{one.kind}] {one_line(one.content)}"


def _plain_without_kind(one: Chosen) -> str:
    return f"- {one_line(one.content)}"


def _with_importance(one: Chosen) -> str:
    return _plain(one) + (f" (importance: {one.importance:.2f})" if one.importance is not None else "")


def _known(named: Sequence[StructuredFact]) -> str:
    return f"Knows: {_named_values(named)}"


def _named_values(facts: Sequence[StructuredFact]) -> str:
    return "; ".join(f"{one_line(one.label)} {one_line(one.value)}" for one in facts)


def _escaped(text: str) -> str:
    return as_entities(text, quote=False)


def _json(value: object) -> str:
    """Return a value as one line of JSON, which itself escapes only some line breaks."""
    return one_line(orjson.dumps(value, default=str).decode())
