"""Contexts: the text about a subject for a model's prompt, laid out within budgets (spec D8-D12)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import AliasChoices, Field
from starlette.responses import Response

from reverie.api.access import Caller, Reader
from reverie.api.answers import answer, notes_as_asked
from reverie.api.fields import Answer, Body, JsonObject, Name, Question, SpokenRole, Text, Time, example, now
from reverie.api.problems import documented
from reverie.api.routes.working_memory import read_or_none
from reverie.api.routing import routes_of
from reverie.capture.live.working_memory import Session
from reverie.recall.contexts.context import Context, assemble_context, context_entries
from reverie.recall.contexts.earlier import WITHDRAWN
from reverie.recall.contexts.explained import explain_context, explain_lines
from reverie.recall.contexts.request import Given, Message
from reverie.recall.filters import ContextType, Filters, Source
from reverie.recall.query import RecallQuery

router = routes_of("contexts")


class MessageGiven(Body):
    """One turn of the conversation so far."""

    role: SpokenRole
    content: Text = Field(
        validation_alias=AliasChoices("content", "text"),
        description="What was said. `text` is accepted as its name too.",
    )


class ContextRequest(Body):
    """A subject, a question, and the application's own data. Only the subject is required."""

    model_config = example(
        {
            "subject_id": "ana",
            "session_id": "s1",
            "question": "Can you suggest a dinner?",
            "system": "You are a kind cook.",
            "request_id": "r-81",
        }
    )

    subject_id: Name
    session_id: Name | None = Field(
        default=None,
        description="Take history and mood from this session's working memory if none are given. If the history "
        "is too long, summaries replace its older turns.",
    )
    question: Question | None = Field(default=None, description="Default: none; the most important memories are used.")
    as_of: Time | None = Field(default=None, description="Answer as of this time. Default: now.")
    embed: bool = Field(
        default=True, description="False: search by words and entities only, without the embedding model."
    )
    model: Name | None = Field(
        default=None, description="The chat model that will read the context. Its tokenizer is used."
    )
    request_id: Name | None = Field(default=None, description="Your id of the request, for the log.")
    system: Text = Field(default="", description="Your instructions. They are never cut.")
    history: list[MessageGiven] | None = Field(default=None, max_length=1000, description="Oldest first.")
    service_data: JsonObject = Field(default_factory=dict, description="Your data: fields by service.")
    tools: list[Name | JsonObject] = Field(default_factory=list, max_length=1000)
    mood: Name | None = None
    energy: Name | None = None
    usual_mood: Name | None = None
    usual_energy: Name | None = None
    agent_name: Text = ""
    constitution: Text = ""
    directives: list[Text] = Field(default_factory=list, max_length=100)
    artifacts: list[Text] = Field(default_factory=list, max_length=1000)
    learned: JsonObject = Field(default_factory=dict, description="Information that was recorded, by connection.")
    account: JsonObject = Field(
        default_factory=dict,
        description="The subject's account with your services: plan, remaining quota, counts, connected engines.",
    )
    preferences: list[Text] | None = Field(
        default=None,
        max_length=100,
        description="Preferences in force in this conversation. Default: those of the session's working memory.",
    )
    connections: list[Name] | None = Field(
        default=None,
        max_length=100,
        description="The active connections: their cached tools are listed, and information about others is left "
        "out. Default: every connection counts.",
    )
    context_types: list[ContextType] | None = Field(
        default=None, min_length=1, description="Only memories of these context types."
    )
    sources: list[Source] | None = Field(default=None, min_length=1, description="Only memories of these sources.")
    mode: Literal["active", "off"] = Field(default="active", description="`off`: no facts and no memories.")
    why: bool = Field(default=False, description="Return each line with the ids of the items behind it.")


class ContextLineSeen(Answer):
    """A line of the context with the ids of the items behind it."""

    section: str
    label: str
    text: str
    ids: list[UUID] = Field(description="Memories, turns, structured facts and scaffold entries; empty for your data.")


class ContextItemSeen(Answer):
    """An item behind a line of a logged context."""

    id: UUID
    item: str = Field(description="memory, turn, structured_fact, scaffold, narrative, or forgotten.")
    kind: str | None
    content: str | None
    happened_at: datetime | None


class LoggedLineSeen(Answer):
    """A line of a logged context."""

    section: str
    items: list[ContextItemSeen]


class ContextExplanation(Answer):
    """A logged context: the items behind each line. The text itself is not kept."""

    id: UUID
    subject_id: str
    assembled_at: datetime
    request_id: str | None
    form: str
    policy_hash: str
    total_tokens: int
    lines: list[LoggedLineSeen]


class BudgetRow(Answer):
    """One row of the budget table."""

    section: str
    tokens: int
    budget: int
    items: int
    dropped: int


class DroppedSeen(Answer):
    """An item that was selected and then dropped."""

    section: str
    id: UUID | None
    label: str
    reason: str


class RelationshipSeen(Answer):
    """The relationship between the subject and the application."""

    stage: str
    sessions: int
    days: int
    streak: int


class ContextAnswer(Answer):
    """The context, its budget table and its notes."""

    id: UUID
    subject_id: str
    assembled_at: datetime
    policy: str
    policy_hash: str
    form: str = Field(description="Layout of the text.")
    text: str = Field(description="The text for the model.")
    budget: list[BudgetRow]
    total_tokens: int
    token_budget: int
    tokenizer: str = Field(description="The tokenizer that counted the tokens.")
    relationship: RelationshipSeen
    dropped: list[DroppedSeen]
    lines: list[ContextLineSeen] | None = Field(default=None, description="With `why`.")
    notes: list[str] = Field(description="Anything that was missing or handled differently from the request.")


@router.post(
    "/contexts",
    response_model=ContextAnswer,
    responses=documented(400, 413, 422),
    summary="Build the context for a model's prompt",
)
async def assemble(body: ContextRequest, caller: Reader) -> Response:
    """Build the context about a subject for a model, in the form and within the budgets of the tenant's policy.

    The context is logged after the answer is sent: the ids in each section, without text.
    """
    age = caller.services.question_notes()
    found = await assemble_context(
        caller.questioner(),
        RecallQuery(
            text=body.question or "",
            subject_id=body.subject_id,
            as_of=body.as_of or now(),
            filters=Filters(connections=body.connections, context_types=body.context_types, sources=body.sources),
        ),
        policy=caller.policy,
        embedder=caller.services.embedder if body.embed else None,
        reranker=caller.services.reranker if body.embed else None,
        given=await _given(body, caller),
        subject_cache=caller.services.subject_cache,
    )
    lines = {"lines": explain_lines(found)} if body.why else {}
    response = answer(_shown(found) | {"notes": [*notes_as_asked(found.notes, embed=body.embed), *age]} | lines)
    caller.log(context_entries(found))
    return response


@router.get(
    "/contexts/{context_id}",
    response_model=ContextExplanation,
    responses=documented(404, 422),
    summary="Explain a context",
    name="explain_context",
)
async def explain_logged(caller: Reader, context_id: UUID) -> Response:
    """Return a logged context: the memories, turns, structured facts and scaffold entries behind each line."""
    return answer(await explain_context(caller.reader(), context_id))


async def _given(body: ContextRequest, caller: Caller) -> Given:
    names = ("system", "service_data", "tools", "agent_name", "constitution", "directives", "artifacts", "learned")
    feelings = ("mood", "energy", "usual_mood", "usual_energy", "request_id", "model", "session_id", "account", "mode")
    given: dict[str, Any] = {name: getattr(body, name) for name in names + feelings}
    given["preferences"] = body.preferences or ()
    history = body.history
    if body.session_id and None in (history, body.mood, body.preferences):
        session = await read_or_none(caller, body.subject_id, body.session_id, until=body.as_of)
        # mood and preferences have no times of their own: after a later input, they may be later than `as_of`
        as_it_was = session and (body.as_of is None or session.touched_at <= body.as_of)
        if session and history is None:
            given["history"] = list(_conversation(session, keep_first=caller.policy.working_memory.keep_first))
        if session and as_it_was and body.preferences is None:
            given["preferences"] = list(dict.fromkeys([*session.preferences, *session.stated]))
        if session and as_it_was and session.mood and body.mood is None:
            given |= {"mood": session.mood["mood"], "energy": body.energy or session.mood["energy"]}
    if history is not None:
        given["history"] = [Message(role=each.role, content=each.content) for each in history]
    return Given(**given)


def _conversation(session: Session, *, keep_first: bool) -> Iterator[Message]:
    """Yield the turns of a session's window that have a text, with the number of turns left out before each."""
    left_out = 0
    gap = int(keep_first and len(session.turns) > 1)
    for place, turn in enumerate(session.turns):
        left_out += session.left_out if place == gap else 0
        if turn.text:
            content = WITHDRAWN if turn.withdrawn else turn.text
            yield Message(role=turn.role, content=content, speaker=turn.speaker, left_out=left_out)
            left_out = 0


def _shown(found: Context) -> dict[str, Any]:
    return {
        "id": found.id,
        "subject_id": found.subject_id,
        "assembled_at": found.assembled_at,
        "policy": found.policy,
        "policy_hash": found.policy_hash,
        "form": found.form,
        "text": found.text,
        "budget": found.budget_table(),
        "total_tokens": found.total_tokens,
        "token_budget": found.token_budget,
        "tokenizer": found.tokenizer,
        "relationship": found.relationship,
        "dropped": found.dropped,
        "notes": found.notes,
    }
