"""context: what a model is told about a subject, laid out and budgeted (spec D8 to D12; Brain 6, Contact 5, Agent 3.C).

A context is assembled without a language model, from whatever there is: what is missing is said in its notes, and what
was chosen and did not fit is named.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, get_args
from uuid import UUID

from reverie.errors import InputError
from reverie.inference import Embedder
from reverie.inference.reranker import Reranker
from reverie.inference.tokens import Counter, token_counter
from reverie.model import require_aware, stable_id
from reverie.policy import Policy
from reverie.policy.live import MoodName
from reverie.recall.contexts.conversation import StoredSummary, read_told, told_statements, without_withdrawn
from reverie.recall.contexts.forms import Chosen, Material, lay_out
from reverie.recall.contexts.request import Given
from reverie.recall.contexts.scope import admitted_profile, connection_statements, scope_notes, with_tools
from reverie.recall.contexts.sections import Dropped, Section, trim
from reverie.recall.filters import read_admitted
from reverie.recall.profile import Profile, profile_statements, read_profile
from reverie.recall.recall import Rows, recall, recall_entry, subject_statement
from reverie.recall.relationship import STAGES, Relationship
from reverie.recall.result import RecallResult
from reverie.recall.staged import StagedRecall, staged_recall
from reverie.recall.subject_cache import SubjectCache
from reverie.store.entries import Entry
from reverie.store.queries import queries
from reverie.store.session import Statement, TenantSession
from reverie.store.session.piggyback import Piggyback


@dataclass(frozen=True, kw_only=True, slots=True)
class Context:
    """An assembled context with its budget table."""

    id: UUID
    tenant_id: str
    subject_id: str
    question: str | None
    request_id: str | None
    assembled_at: datetime
    policy: str
    policy_hash: str
    #: Seed in whose manner it is laid out.
    form: str
    #: What goes to the model.
    text: str
    #: In their order in the text; those that have nothing to say are empty.
    sections: tuple[Section, ...]
    #: Of the whole text; what it has beyond the sections joins them.
    total_tokens: int
    token_budget: int
    #: For what joins the sections.
    buffer: int
    #: What counted.
    tokenizer: str
    relationship: Relationship
    #: The recall that it is made of; None where nothing was asked, or the form has another way.
    recall: RecallResult | None
    staged: StagedRecall | None
    #: What was missing or done otherwise than asked, in words for people.
    notes: tuple[str, ...] = field(default=())

    @property
    def dropped(self) -> tuple[Dropped, ...]:
        """Everything that was selected and then dropped."""
        return tuple(one for section in self.sections for one in section.dropped)

    def budget_table(self) -> list[dict[str, Any]]:
        """Return a row a section, the buffer and the total: name, tokens, budget, items, dropped (Brain 6)."""
        rows: list[dict[str, Any]] = [
            {
                "section": one.name,
                "tokens": one.tokens,
                "budget": one.budget,
                "items": len(one.lines),
                "dropped": len(one.dropped),
            }
            for one in self.sections
        ]
        joints = self.total_tokens - sum(one.tokens for one in self.sections)
        ends = (("buffer", max(joints, 0), self.buffer), ("total", self.total_tokens, self.token_budget))
        return rows + [
            {"section": name, "tokens": tokens, "budget": budget, "items": 0, "dropped": 0}
            for name, tokens, budget in ends
        ]


async def assemble_context(
    session: TenantSession,
    question: str | None,
    *,
    subject_id: str,
    policy: Policy,
    as_of: datetime,
    embedder: Embedder | None,
    reranker: Reranker | None = None,
    given: Given | None = None,
    subject_cache: SubjectCache | None = None,
) -> Context:
    """Return the context of a subject for a question, in the form and within the budgets of the policy.

    Without a question the most important memories stand for those that would answer it. With what is remembered of the
    subject, its memories are searched in the round trip that reads the profile, and again where it has changed. Nothing
    is logged here: see `context_entries`, which the caller logs once the answer is out.

    Raises:
        InputError: the system text is longer than its budget; it is never cut.
    """
    as_of, given = require_aware(as_of), given or Given()
    counter, filters = token_counter(given.model, embedder), given.filters
    _check_system(given, policy, counter)
    question = question.strip() if question else None
    said = {question or "", *(one.content.strip() for one in given.history)}
    tenant_id = session.tenant_id
    of_session = told_statements(given, tenant_id, subject_id, policy, as_of)
    of_subject = subject_statement(tenant_id, subject_id)
    of_connections = connection_statements(given, tenant_id, subject_id)
    statements: tuple[Statement[Any], ...] = (
        of_subject,
        *of_connections,
        *of_session,
        *profile_statements(tenant_id, subject_id, policy, as_of),
    )
    options: dict[str, Any] = {"subject_id": subject_id, "policy": policy, "as_of": as_of, "embedder": embedder}

    async def recall_question(of: TenantSession, top_k: int, token_budget: int, known: Rows) -> RecallResult:
        return await recall(
            of, question or "", **options, reranker=reranker, top_k=top_k, token_budget=token_budget, known=known,
            filters=filters, said=said, is_spoken=True,
        )  # fmt: skip

    admitted = await read_admitted(session, subject_id, filters)
    recalled: RecallResult | None = None
    cached = subject_cache.cached(tenant_id, subject_id, embedder) if subject_cache else None
    # in these forms the memories depend on the profile, or are found in another way
    if cached and question and given.mode == "active" and policy.context.form not in ("chat", "contact"):
        piggyback = Piggyback(session, statements)
        recalled = await recall_question(piggyback, policy.recall.top_k, policy.context.memories, cached)
        subject, *rows = await piggyback.rows()
        recalled = recalled if subject == cached else None
    else:
        subject, *rows = await session.run_all(*statements)
    if subject_cache:
        subject_cache.put(tenant_id, subject_id, subject)
    given, tool_notes = with_tools(given, rows.pop(0) if of_connections else (), as_of)
    profile = read_profile(tuple(rows[len(of_session) :]), subject_id, policy, as_of)
    known = admitted_profile(profile, given, admitted)
    told = [one for summaries in rows[1 : len(of_session)] for one in read_told(summaries)]
    if of_session:
        given = replace(given, history=without_withdrawn(given.history, rows[0]))
    given = _with_moods(given, known, policy, as_of)
    budget, top_k = _memories(policy, known.relationship) if given.mode == "active" else (policy.context.memories, 0)
    staged: StagedRecall | None = None
    memories: list[Chosen] = []
    if policy.context.form == "chat" and given.mode == "active":
        staged = await staged_recall(session, question, **options, admitted=admitted)
    elif top_k and question:
        if recalled is None:
            recalled = await recall_question(session, top_k, budget, subject)
        memories = [
            Chosen(
                id=hit.id, kind=hit.kind, content=hit.told, happened_at=hit.happened_at, importance=hit.importance,
                score=hit.score,
            )
            for hit in recalled.hits
        ]  # fmt: skip
    elif top_k:
        memories = _important(
            await session.run(_important_statement(tenant_id, subject_id, policy, as_of, top_k, admitted))
        )
    material = Material(
        subject_id=subject_id,
        question=question or "",
        given=given,
        policy=policy,
        profile=known,
        memories=memories,
        staged=staged,
        memory_budget=budget,
        count=counter.count,
        told=told,
    )
    # a tokenizer takes milliseconds of processor time, for which an event loop should not stand still; without one, the
    # way to a thread and back costs as much
    fit = partial(_fitted, material, recalled)
    sections, text, total = fit() if counter.estimates else await session.offload(fit)
    notes = [*scope_notes(profile, given), *tool_notes]
    if given.mode == "active":
        notes += _notes(policy, known, given, counter, question, recalled, staged, memories, top_k)
    notes += _retold(sections, told)
    return Context(
        id=stable_id(as_of, "context", tenant_id, subject_id, question or "", policy.hash, given.request_id or ""),
        tenant_id=tenant_id,
        subject_id=subject_id,
        question=question,
        request_id=given.request_id,
        assembled_at=as_of,
        policy=policy.name,
        policy_hash=policy.hash,
        form=policy.context.form,
        text=text,
        sections=tuple(sections),
        total_tokens=total,
        token_budget=policy.context.total,
        buffer=policy.context.buffer,
        tokenizer=counter.name,
        relationship=known.relationship,
        recall=recalled,
        staged=staged,
        notes=tuple(dict.fromkeys(notes)),
    )


def context_entries(found: Context) -> list[Entry]:
    """Which ids went into which section, and the recall behind it, for the log; the text is kept nowhere (D12)."""
    sections = [row for row in found.budget_table() if row["section"] not in ("buffer", "total")]
    entry = Entry(
        queries("context")["write_contexts"],
        {
            "id": found.id,
            "subject_id": found.subject_id,
            "assembled_at": found.assembled_at,
            "request_id": found.request_id or None,
            "form": found.form,
            "stage": found.relationship.stage,
            "policy_hash": found.policy_hash,
            "tokenizer": found.tokenizer,
            "total_tokens": found.total_tokens,
            "sections": [
                {("name" if key == "section" else key): each for key, each in row.items()}
                | {"lines": [line.ids for line in section.lines]}
                for row, section in zip(sections, found.sections, strict=True)
            ],
            "item_ids": list(dict.fromkeys(id_ for one in found.sections for line in one.lines for id_ in line.ids)),
            "dropped_ids": list(dict.fromkeys(one.id for one in found.dropped if one.id)),
        },
    )
    return [entry] if found.recall is None else [recall_entry(found.recall), entry]


def _check_system(given: Given, policy: Policy, counter: Counter) -> None:
    tokens = counter.count(given.system.strip())
    if tokens > policy.context.system:
        raise InputError(
            f"The system text has {tokens:,} tokens and its budget is {policy.context.system:,}: shorten it, or raise "
            "system under [context] of the policy."
        )


def _with_moods(given: Given, known: Profile, policy: Policy, as_of: datetime) -> Given:
    """Add what the log knows: the usual mood, and the latest one while a session would still remember it.

    A mood that the policy does not know, told under another one, is neutral here.
    """
    given = replace(given, mood=_of_policy(given.mood, policy), usual_mood=_of_policy(given.usual_mood, policy))
    if known.moods is None:
        return given
    fresh = as_of - known.moods.said_at <= timedelta(hours=policy.working_memory.ttl_hours)
    if given.mood is None and fresh:
        given = replace(given, mood=_of_policy(known.moods.mood, policy), energy=known.moods.energy)
    return replace(
        given,
        usual_mood=given.usual_mood or _of_policy(known.moods.usual_mood, policy),
        usual_energy=given.usual_energy or known.moods.usual_energy,
    )


def _of_policy(mood: str | None, policy: Policy) -> str | None:
    return "neutral" if mood in get_args(MoodName) and mood not in policy.mood.moods else mood


def _memories(policy: Policy, known: Relationship) -> tuple[int, int]:
    """Tokens and number of memories: by the relationship's stage in Contact's form (5.1 to 5.4)."""
    if policy.context.form != "contact":
        return policy.context.memories, policy.recall.top_k
    place = STAGES.index(known.stage)
    return min(policy.relationship.tokens[place], policy.context.memories), policy.relationship.memories[place]


def _important_statement(
    tenant_id: str, subject_id: str, policy: Policy, as_of: datetime, top_k: int, among: Sequence[UUID] | None
) -> Statement[Any]:
    params = {
        "among": among,
        "tenant": tenant_id,
        "subject": subject_id,
        "as_of": as_of,
        "kinds": list(policy.decay.rates),
        "rates": list(policy.decay.rates.values()),
        "grace_days": policy.decay.grace_days,
        "min_importance": policy.recall.min_importance,
        "limit": top_k,
    }
    return Statement(queries("context")["important"], params)


def _important(rows: Sequence[tuple[Any, ...]]) -> list[Chosen]:
    return [
        Chosen(id=id_, kind=kind, content=content, happened_at=at, importance=importance, score=importance)
        for id_, kind, content, at, importance in rows
    ]


def _fitted(material: Material, found: RecallResult | None) -> tuple[list[Section], str, int]:
    """The sections, what goes to the model, and its tokens."""
    sections = [_with_unfitting(one, found) if one.name == "memories" else one for one in lay_out(material)]
    numbers = material.policy.context
    return trim(sections, total=numbers.total, buffer=numbers.buffer, count=material.count)


def _with_unfitting(section: Section, found: RecallResult | None) -> Section:
    """The section with what recall itself had no tokens for."""
    unfit = [one for one in found.dropped if one.reason == "budget"] if found else []
    more = [Dropped(section="memories", id=one.id, label=one.item, reason="budget") for one in unfit]
    return replace(section, dropped=(*section.dropped, *more))


def _notes(
    policy: Policy,
    known: Profile,
    given: Given,
    counter: Counter,
    question: str | None,
    found: RecallResult | None,
    staged: StagedRecall | None,
    memories: Sequence[Chosen],
    top_k: int,
) -> list[str]:
    """Notes on what was missing (D11)."""
    form, subject = policy.context.form, known.subject_id
    notes = [*(found.notes if found else ()), *(staged.notes if staged else ())]
    if staged is None and question is None and top_k:
        notes.append("Nothing was asked: the most important memories are given.")
    if staged is None and not top_k:
        notes.append(f"The relationship is {known.relationship.stage}: no memories are given.")
    elif staged is None and not memories:
        notes.append(f"Nothing that is remembered of {subject} fits.")
    if not known.facts and form != "logic":
        notes.append(f"Nothing is known of {subject} by key.")
    if form == "agent" and known.note:
        notes.append(known.note)
    if form == "agent" and not known.is_written:
        notes.append("No language model wrote a narrative: it is made of structured facts and recent memories.")
    if known.conflicts and form != "logic":
        notes.append(f"{len(known.conflicts):,} values contradict what holds of {subject}: the profile lists them.")
    if form == "contact" and not given.mood:
        notes.append("No mood is known: the emotional context is left out.")
    if counter.note:
        notes.append(counter.note)
    return notes


def _retold(sections: Sequence[Section], told: Sequence[StoredSummary]) -> list[str]:
    """A note on the older turns that stored summaries replace."""
    used = {line.id for one in sections if one.name == "history" for line in one.lines}
    turns = [one.turns for one in told if one.id in used]
    return [f"Of the conversation, {', '.join(turns)} are given as their remembered summaries."] if turns else []
