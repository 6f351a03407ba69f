"""Observations beside the turns, from every channel (spec A7, A8)."""

from __future__ import annotations

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import Field
from starlette.responses import Response

from reverie.api.access import Caller, Writer
from reverie.api.answers import answer
from reverie.api.fields import Answer, Body, Json, Metadata, Name, Text, Time, example, now
from reverie.api.problems import documented
from reverie.api.routing import routes_of
from reverie.capture.live.observations import (
    Category,
    Document,
    Hint,
    ObservationSource,
    record_document,
    record_observation,
    update_connection_context,
    update_user_context,
)

router = routes_of("observations")


class ObservationBody(Body):
    """The subject of an observation, and its origin."""

    subject_id: Name
    session_id: Name | None = None
    source_id: Name | None = Field(default=None, description="Your id of the item. A repeated id is ignored.")
    connection_id: Name | None = Field(default=None, description="The tool connection that it applies to.")
    metadata: Metadata | None = Field(
        default=None,
        description="Message, attachment or tool. context_type, source, tool_id, attachment_id, filename and "
        "organisation are attributes, for filters; other keys are not read.",
    )
    observed_at: Time | None = Field(default=None, description="When it was observed. Default: now.")

    def source(self, caller: Caller) -> ObservationSource:
        """Return the origin of the observation for the event bus."""
        return ObservationSource(
            tenant_id=caller.tenant_id,
            subject_id=self.subject_id,
            session_id=self.session_id,
            connection_id=self.connection_id,
            source_id=self.source_id,
            metadata=self.metadata,
        )


class ObservationRequest(ObservationBody):
    """An agent's observation about the subject in a conversation."""

    model_config = example(
        {"subject_id": "ana", "session_id": "s1", "category": "preference", "content": "Prefers short answers."}
    )

    category: Category
    content: Text = Field(min_length=1)


class DocumentRequest(ObservationBody):
    """The text of an attachment, or the output of a tool."""

    model_config = example(
        {"subject_id": "ana", "channel": "attachment", "name": "cv.pdf", "text": "Ana Silva. Nurse since 2015."}
    )

    channel: Literal["attachment", "tool"]
    text: Text = Field(min_length=1)
    name: Name | None = Field(default=None, description="The file or tool that the text comes from.")
    hint: Hint | None = Field(
        default=None,
        description="Kind of memory to store it as. `working`: about the current state, for as long as working memory "
        "lasts. Default: decided by the rules.",
    )


class UserContextRequest(ObservationBody):
    """Information that an autonomous agent learned about the subject."""

    model_config = example(
        {
            "subject_id": "ana",
            "source_id": "task-17",
            "scaffold_updates": {"work.role": "ward nurse"},
            "persistent_info_additions": ["Works night shifts in July"],
        }
    )

    scaffold_updates: dict[Name, Json] = Field(default_factory=dict, max_length=100)
    persistent_info_additions: list[Text] = Field(default_factory=list, max_length=100)


class ConnectionContextRequest(ObservationBody):
    """Information about one tool connection, such as its default project."""

    model_config = example({"subject_id": "ana", "connection_id": "jira-1", "learned": {"default_project": "WARD"}})

    connection_id: Name
    learned: dict[Name, Json] = Field(min_length=1, max_length=100)


class RecordedSeen(Answer):
    """The result for one observation."""

    event_id: UUID
    observed_at: datetime
    status: Literal["added", "repeated", "refused"] = Field(description="refused: nothing of it is kept; see reason.")
    reason: Literal["capture_off", "erased"] | None = Field(
        default=None, description="Why it was refused: capture is off for the subject, or it was erased."
    )


class ObservationsAnswer(Answer):
    """The observations, now rows of the log. The deferred tier processes them."""

    events: list[RecordedSeen]


_ERRORS = documented(400, 409, 413, 422)


@router.post(
    "/observations",
    response_model=ObservationsAnswer,
    responses=_ERRORS,
    summary="Record an observation about a subject",
)
async def observe(body: ObservationRequest, caller: Writer) -> Response:
    """Record an agent's observation: `record_observation(content, category)`."""
    event = await record_observation(
        caller.writer(),
        body.source(caller),
        body.content,
        body.category,
        policy=caller.policy,
        as_of=now(),
        observed_at=body.observed_at,
    )
    return answer({"events": [event]})


@router.post(
    "/documents", response_model=ObservationsAnswer, responses=_ERRORS, summary="Add a document or tool output"
)
async def add_document(body: DocumentRequest, caller: Writer) -> Response:
    """Record the text of an attachment or the output of a tool. It is split into chunks, each stored by its kind."""
    event = await record_document(
        caller.writer(),
        body.source(caller),
        Document(text=body.text, channel=body.channel, name=body.name, hint=body.hint),
        policy=caller.policy,
        as_of=now(),
        observed_at=body.observed_at,
    )
    return answer({"events": [event]})


@router.post(
    "/user_context",
    response_model=ObservationsAnswer,
    responses=_ERRORS,
    summary="Record information about a user",
)
async def update_user(body: UserContextRequest, caller: Writer) -> Response:
    """Record information about the subject: `update_user_context(scaffold_updates, persistent_info_additions)`."""
    events = await update_user_context(
        caller.writer(),
        body.source(caller),
        scaffold_updates=body.scaffold_updates,
        persistent_info_additions=body.persistent_info_additions,
        policy=caller.policy,
        as_of=now(),
        observed_at=body.observed_at,
    )
    return answer({"events": events})


@router.post(
    "/connection_context",
    response_model=ObservationsAnswer,
    responses=_ERRORS,
    summary="Record information about a tool connection",
)
async def update_connection(body: ConnectionContextRequest, caller: Writer) -> Response:
    """Record information about one connection: `update_connection_context(connection_id, learned)`."""
    events = await update_connection_context(
        caller.writer(),
        body.source(caller),
        body.learned,
        policy=caller.policy,
        as_of=now(),
        observed_at=body.observed_at,
    )
    return answer({"events": events})
