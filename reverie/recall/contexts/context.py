"""context: the text about a subject for a model, laid out and budgeted (spec D8 to D12; Brain 6, Contact 5, Agent 3.C).

A context is assembled without a language model, from whatever there is. Its notes say what is missing, and items that
were chosen but did not fit are listed.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from reverie.errors import InputError
from reverie.inference import Embedder
from reverie.inference.reranker import Reranker
from reverie.inference.tokens import Counter, token_counter
from reverie.model import stable_id
from reverie.policy import Policy
from reverie.recall.contexts.forms import lay_out
from reverie.recall.contexts.material import Material
from reverie.recall.contexts.notes import context_notes
from reverie.recall.contexts.reading import ContextReader
from reverie.recall.contexts.request import Given
from reverie.recall.contexts.sections import Dropped, Section, trim
from reverie.recall.query import RecallQuery
from reverie.recall.recall import recall_entry
from reverie.recall.relationship import Relationship
from reverie.recall.result import RecallResult
from reverie.recall.staged import StagedRecall
from reverie.recall.subject_cache import SubjectCache
from reverie.store.entries import Entry
from reverie.store.queries import queries
from reverie.store.session import TenantSession


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
    #: The seed whose layout it has.
    form: str
    #: The text for the model.
    text: str
    #: In their order in the text; sections without content are empty.
    sections: tuple[Section, ...]
    #: Tokens of the whole text: the sections, and the text that joins them.
    total_tokens: int
    token_budget: int
    #: Budget for the text that joins the sections.
    buffer: int
    #: The tokenizer that counted.
    tokenizer: str
    relationship: Relationship
    #: The recall that it is made of; None if nothing was asked, or the form uses no recall.
    recall: RecallResult | None
    staged: StagedRecall | None
    #: Notes for people: anything missing, or done differently than asked.
    notes: tuple[str, ...] = field(default=())

    @property
    def dropped(self) -> tuple[Dropped, ...]:
        """Everything that was selected and then dropped."""
        return tuple(one for section in self.sections for one in section.dropped)

    def budget_table(self) -> list[dict[str, Any]]:
        """Return rows for each section, the buffer and the total: name, tokens, budget, items, dropped (Brain 6)."""
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
    query: RecallQuery,
    *,
    policy: Policy,
    embedder: Embedder | None,
    reranker: Reranker | None = None,
    given: Given | None = None,
    subject_cache: SubjectCache | None = None,
) -> Context:
    """Return the context of a subject for a question, in the form and within the budgets of the policy.

    Without a question, the most important memories are given. The filter `connections` has the active connections. If
    the subject's row is cached, memories are searched in the round trip that reads the profile, and again if the row is
    out of date. Nothing is logged here: the caller logs `context_entries` after it has sent the answer.

    Raises:
        InputError: the system text is longer than its budget; it is never cut.
    """
    given = given or Given()
    counter = token_counter(given.model, embedder)
    _check_system(given, policy, counter)
    text = query.text.strip()
    said = {text, *(one.content.strip() for one in given.history)}
    query = replace(query, text=text, said=said, is_spoken=True)
    reader = ContextReader(
        session=session,
        query=query,
        policy=policy,
        embedder=embedder,
        reranker=reranker,
        subject_cache=subject_cache,
    )
    material = await reader.read(given, counter.count)
    # a tokenizer takes milliseconds of CPU time, which would block the event loop; without a tokenizer, a thread would
    # cost as much as the work
    fit = partial(_fitted, material)
    fitted = fit() if counter.estimates else await session.offload(fit)
    return _context(session.tenant_id, query, material, fitted, counter)


def _context(
    tenant_id: str, query: RecallQuery, material: Material, fitted: tuple[list[Section], str, int], counter: Counter
) -> Context:
    policy, request_id = material.policy, material.given.request_id
    sections, text, total = fitted
    asked = tenant_id, query.subject_id, query.text
    return Context(
        id=stable_id(query.as_of, "context", *asked, policy.hash, request_id or "", *query.limits),
        tenant_id=tenant_id,
        subject_id=query.subject_id,
        question=query.text or None,
        request_id=request_id,
        assembled_at=query.as_of,
        policy=policy.name,
        policy_hash=policy.hash,
        form=policy.context.form,
        text=text,
        sections=tuple(sections),
        total_tokens=total,
        token_budget=policy.context.total,
        buffer=policy.context.buffer,
        tokenizer=counter.name,
        relationship=material.profile.relationship,
        recall=material.recalled,
        staged=material.staged,
        notes=context_notes(material, sections, counter),
    )


def context_entries(found: Context) -> list[Entry]:
    """Return log entries: the ids in each section, and the recall behind them; the text is stored nowhere (D12)."""
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


def _fitted(material: Material) -> tuple[list[Section], str, int]:
    """Return the sections, the text for the model, and its tokens."""
    found = material.recalled
    sections = [_with_unfitting(one, found) if one.name == "memories" else one for one in lay_out(material)]
    numbers = material.policy.context
    return trim(sections, total=numbers.total, buffer=numbers.buffer, count=material.count)


def _with_unfitting(section: Section, found: RecallResult | None) -> Section:
    """Return the section with the hits that recall dropped for lack of tokens."""
    unfit = [one for one in found.dropped if one.reason == "budget"] if found else []
    more = [Dropped(section="memories", id=one.id, label=one.item, reason="budget") for one in unfit]
    return replace(section, dropped=(*section.dropped, *more))
