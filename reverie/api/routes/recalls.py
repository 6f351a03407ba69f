"""Recalls: answers to a question about a subject, with the reason for every hit (spec D1-D5, D7)."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import Field
from starlette.responses import Response

from reverie.api.access import Reader
from reverie.api.answers import answer, notes_as_asked
from reverie.api.fields import Answer, Body, Name, Question, Time, example, now
from reverie.api.problems import documented
from reverie.api.routing import routes_of
from reverie.model import Kind, rounded
from reverie.recall.filters import ContextType, Filters, Source, read_attributes
from reverie.recall.query import RecallQuery
from reverie.recall.recall import recall_at_once, recall_entry
from reverie.recall.result import Hit, RecallResult

router = routes_of("recalls")


class RecallRequest(Body):
    """A question about a subject."""

    model_config = example({"subject_id": "ana", "question": "What is she allergic to?", "top_k": 5})

    subject_id: Name
    question: Question
    as_of: Time | None = Field(default=None, description="Answer as of this time. Default: now.")
    top_k: int | None = Field(
        default=None, ge=1, le=200, description="Maximum number of hits. Default: the policy's value."
    )
    token_budget: int | None = Field(
        default=None, ge=0, le=200_000, description="Maximum number of tokens. Default: the policy's value."
    )
    kinds: list[Kind | Literal["working"]] | None = Field(
        default=None,
        min_length=1,
        description="Restrict the search to memories of these kinds. `working`: recent ones about the current state, "
        "recognised by their words or by a document's hint.",
    )
    connections: list[Name] | None = Field(
        default=None,
        max_length=100,
        description="The active connections. Information about others is left out. Default: no filter.",
    )
    context_types: list[ContextType] | None = Field(
        default=None, min_length=1, description="Restrict the search to these context types."
    )
    sources: list[Source] | None = Field(
        default=None, min_length=1, description="Restrict the search to these sources."
    )
    tools: list[Name] | None = Field(
        default=None, min_length=1, max_length=100, description="Restrict the search to the output of these tools."
    )
    attachments: list[Name] | None = Field(
        default=None,
        min_length=1,
        max_length=100,
        description="Restrict the search to these attachments, by id or file name.",
    )
    sessions: list[Name] | None = Field(
        default=None, min_length=1, max_length=100, description="Restrict the search to these sessions."
    )
    include_compressed: bool = Field(default=False, description="Include memories that a pattern or summary replaced.")
    embed: bool = Field(
        default=True, description="False: search by words and entities only, without the embedding model."
    )
    rerank: bool = Field(default=True, description="False: rank by the weighed signals, even if a reranker is set.")
    neighbours: int = Field(
        default=0, ge=0, le=10, description="Return as many turns before and after the turn of each hit."
    )
    why: bool = Field(default=False, description="Return every signal of each hit, and what was dropped and why.")


class SignalSeen(Answer):
    """One signal of a hit."""

    value: float
    weight: float
    contribution: float


class AttributesSeen(Answer):
    """Attributes of the turn or event behind a hit."""

    context_type: str
    source: str
    connection_id: str | None
    tool_id: str | None
    attachment_id: str | None
    filename: str | None
    organisation: str | None
    session_id: str | None


class SaidSeen(Answer):
    """A turn before or after a hit."""

    id: UUID
    content: str
    said_at: datetime


class HitSeen(Answer):
    """One hit: a memory or a turn."""

    item: Literal["turn", "memory"]
    id: UUID
    kind: str
    content: str
    happened_at: datetime
    score: float
    importance: float | None
    tokens: int
    turn_id: UUID | None
    session_id: str | None
    compression_source: bool = Field(
        description="Whether it is a summary of its session's turns. The episodes it replaced are compressed."
    )
    times: int = Field(description="Number of found turns that say this in the same words.")
    first_at: datetime | None = Field(description="The first of these turns; null if there is only one.")
    until: datetime | None = Field(
        description="Time at which it stopped being true, also stated in `content`. Null if it still holds."
    )
    doubt: SaidSeen | None = Field(
        description="A later message that may have ended what the memory states. Null if none has."
    )
    reply_to: SaidSeen | None = Field(description="The question that a short reply answers.")
    before: list[SaidSeen] = Field(description="Turns before the hit, with `neighbours`.")
    after: list[SaidSeen] = Field(description="Turns after the hit, with `neighbours`.")
    fresh: bool = Field(description="Whether the hit is a recent turn that has not been consolidated yet.")
    ranks: dict[str, int] = Field(
        description="Rank in each search that found it: dense, lexical, entity; `weighed`: before re-ranking."
    )
    moves: list[str] | None = Field(
        default=None, description="With `why`: how its place was changed after ranking, such as `moved up: holds now`."
    )
    signals: dict[str, SignalSeen] | None = Field(default=None, description="With `why`.")
    distance: float | None = Field(
        default=None, description="With `why`: cosine distance to the question, if the policy weighs similarity."
    )
    attributes: list[AttributesSeen] | None = Field(
        default=None, description="With `why`: the sources, one for each turn or event."
    )


class DropSeen(Answer):
    """A candidate that was dropped."""

    id: UUID
    item: Literal["turn", "memory"]
    score: float
    reason: str


class RecallAnswer(Answer):
    """The hits, best first."""

    model_config = example(
        {
            "id": "019b8d6a-7f10-8c41-9a2b-0c6a3f1d2e4f",
            "subject_id": "ana",
            "asked_at": "2026-06-30T18:00:00Z",
            "policy": "reverie",
            "policy_hash": "4be1c0ffee4be1c0",
            "model": "minilm-l6-v2-int8",
            "reranker": None,
            "hits": [
                {
                    "item": "memory",
                    "id": "019b8d6a-7f10-8c41-9a2b-1c6a3f1d2e4f",
                    "kind": "fact",
                    "content": "Is allergic to peanuts",
                    "happened_at": "2026-03-01T08:30:00Z",
                    "score": 0.91,
                    "importance": 0.8,
                    "tokens": 6,
                    "turn_id": "019b8d6a-7f10-8c41-9a2b-2c6a3f1d2e4f",
                    "session_id": "s1",
                    "compression_source": False,
                    "times": 1,
                    "first_at": None,
                    "until": None,
                    "doubt": None,
                    "reply_to": None,
                    "before": [],
                    "after": [],
                    "fresh": False,
                    "ranks": {"dense": 1, "lexical": 2},
                }
            ],
            "unranked": 0,
            "total_tokens": 6,
            "token_budget": 2000,
            "budget_used": 0.003,
            "notes": [],
        }
    )

    id: UUID
    subject_id: str
    asked_at: datetime
    policy: str
    policy_hash: str
    model: str | None = Field(description="The embedding model. Null: the search used words and entities only.")
    reranker: str | None = Field(
        description="The cross-encoder that ranked the hits. Null: the weighed signals ranked them."
    )
    hits: list[HitSeen]
    dropped: list[DropSeen] | None = Field(default=None, description="With `why`.")
    unranked: int = Field(description="Number of candidates that ranked too low to be listed.")
    total_tokens: int
    token_budget: int
    budget_used: float = Field(description="Share of the token budget that the hits use.")
    notes: list[str] = Field(description="Anything that was missing or handled differently from the request.")


@router.post(
    "/recalls",
    response_model=RecallAnswer,
    responses=documented(400, 413, 422),
    summary="Search a subject's memory",
    name="recall",
)
async def post_recall(body: RecallRequest, caller: Reader) -> Response:
    """Search the memory of a subject: verbatim turns, facts, preferences, patterns and summaries, best first.

    The recall is logged after the response is sent, and counts as an access of its hits.
    """
    age = caller.services.question_notes()
    found = await recall_at_once(
        caller.questioner(),
        _query(body),
        caller.services.subject_cache,
        policy=caller.policy,
        embedder=caller.services.embedder if body.embed else None,
        reranker=caller.services.reranker if body.embed and body.rerank else None,
    )
    seen = shown(found, why=body.why)
    seen["notes"] = [*notes_as_asked(found.notes, embed=body.embed), *age]
    if body.why:
        attributes = await read_attributes(caller.reader(), body.subject_id, [hit.id for hit in found.hits])
        for hit in seen["hits"]:
            hit["attributes"] = attributes.get(hit["id"], [])
    response = answer(seen)
    caller.log([recall_entry(found)])
    return response


def _query(body: RecallRequest) -> RecallQuery:
    limits = ("top_k", "token_budget", "kinds", "include_compressed", "neighbours")
    attributes = ("connections", "context_types", "sources", "tools", "attachments", "sessions")
    return RecallQuery(
        text=body.question,
        subject_id=body.subject_id,
        as_of=body.as_of or now(),
        filters=Filters(**{name: getattr(body, name) for name in attributes}),
        **{name: getattr(body, name) for name in limits},
    )


def shown(found: RecallResult, *, why: bool) -> dict[str, Any]:
    """Return the answer in the form of the response; `why`: with every signal and drop."""
    told = {
        "id": found.id,
        "subject_id": found.subject_id,
        "asked_at": found.asked_at,
        "policy": found.policy,
        "policy_hash": found.policy_hash,
        "model": found.model,
        "reranker": found.reranker,
        "hits": [_hit(hit, why=why) for hit in found.hits],
        "unranked": found.unranked,
        "total_tokens": found.total_tokens,
        "token_budget": found.token_budget,
        "budget_used": rounded(found.budget_used),
        "notes": found.notes,
    }
    return told | {"dropped": found.dropped} if why else told


def _hit(hit: Hit, *, why: bool) -> dict[str, Any]:
    seen: dict[str, Any] = {
        "item": hit.item,
        "id": hit.id,
        "kind": hit.kind,
        "content": hit.content,
        "happened_at": hit.happened_at,
        "score": hit.score,
        "importance": hit.importance,
        "tokens": hit.tokens,
        "turn_id": hit.turn_id,
        "session_id": hit.session_id,
        "compression_source": hit.kind == "summary",
        "times": hit.times,
        "first_at": hit.first_at,
        "until": hit.until,
        "doubt": hit.doubt and hit.doubt._asdict(),
        "reply_to": hit.reply_to and hit.reply_to._asdict(),
        "before": [one._asdict() for one in hit.before],
        "after": [one._asdict() for one in hit.after],
        "fresh": hit.fresh,
        "ranks": hit.ranks,
    }
    if why:
        seen["moves"] = list(hit.moves)
        seen["signals"] = {
            name: {"value": signal.value, "weight": signal.weight, "contribution": signal.contribution}
            for name, signal in hit.signals.items()
        }
        similarity = hit.signals.get("similarity")
        seen["distance"] = None if similarity is None else rounded(1 - similarity.value)
    return seen
