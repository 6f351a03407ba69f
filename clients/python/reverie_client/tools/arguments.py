"""The arguments of each tool. Names and limits are those of the API's requests; a test compares them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

Kind = Literal["fact", "preference", "instruction", "episode", "summary", "pattern"]
Name = Annotated[str, Field(min_length=1, max_length=200)]
MemoryId = Annotated[UUID, Field(description="Id of a memory, from recall (hits with item `memory`) or list_memories.")]
SessionId = Annotated[
    Name | None, Field(default=None, description="Id of the conversation. Default: the one in progress.")
]


class Arguments(BaseModel):
    """Base of all: an unknown argument is an error, so that a misspelt one is not ignored."""

    model_config = ConfigDict(extra="forbid")


class RecallArguments(Arguments):
    """A question, and how much to return."""

    question: Annotated[str, Field(min_length=1, max_length=20_000, description="What you want to know, in words.")]
    top_k: Annotated[int, Field(ge=1, le=200, description="Maximum number of hits.")] = 8
    token_budget: Annotated[int | None, Field(ge=0, le=200_000, description="Maximum number of tokens.")] = None
    kinds: Annotated[
        list[Kind | Literal["working"]] | None, Field(min_length=1, description="Only memories of these kinds.")
    ] = None
    sessions: Annotated[
        list[Name] | None, Field(min_length=1, max_length=100, description="Only these conversations.")
    ] = None


class SuggestToolsArguments(Arguments):
    """A message, and the tools at hand."""

    message: Annotated[str, Field(min_length=1, max_length=20_000, description="The message to answer, word for word.")]
    tools: Annotated[
        list[Name] | None, Field(min_length=1, max_length=500, description="Names of the tools that you can call.")
    ] = None


class FindLessonsArguments(Arguments):
    """The message that is about to be answered."""

    message: Annotated[str, Field(min_length=1, max_length=20_000, description="The message to answer, word for word.")]
    session_id: SessionId
    limit: Annotated[int, Field(ge=1, le=50, description="Maximum number of lessons.")] = 5


class RememberArguments(Arguments):
    """A statement with its source."""

    statement: Annotated[
        str,
        Field(
            min_length=1,
            max_length=20_000,
            description="One statement in the person's own words and in the first person, such as "
            "`I'm allergic to peanuts.`",
        ),
    ]
    source: Annotated[
        str,
        Field(min_length=1, max_length=200, description="Where it was said: `this conversation`, a file, a page."),
    ] = "this conversation"
    session_id: SessionId


class TurnArguments(Arguments):
    """One message of a conversation."""

    role: Literal["user", "assistant", "system", "tool"]
    text: Annotated[str, Field(min_length=1, max_length=200_000, description="The message, word for word.")]
    speaker: Annotated[Name | None, Field(description="The speaker's name.")] = None
    said_at: Annotated[datetime | None, Field(description="When it was said, with an offset. Default: now.")] = None
    source_id: Annotated[
        Name | None, Field(description="Your id of the message. A message that is sent twice counts once.")
    ] = None


class AppendTurnsArguments(Arguments):
    """Messages of a conversation, in their order."""

    turns: Annotated[list[TurnArguments], Field(min_length=1, max_length=100)]
    session_id: SessionId


class GetContextArguments(Arguments):
    """The message that is about to be answered."""

    question: Annotated[
        str | None,
        Field(min_length=1, max_length=20_000, description="The message to answer. Default: what matters most."),
    ] = None
    session_id: SessionId


class CorrectArguments(Arguments):
    """A memory that is wrong, and what is right."""

    memory_id: MemoryId
    content: Annotated[
        str | None,
        Field(
            min_length=1, max_length=20_000, description="What is true instead. Default: it is only marked as wrong."
        ),
    ] = None


class ForgetArguments(Arguments):
    """A memory that is true, but must not be remembered."""

    memory_id: MemoryId


class ListMemoriesArguments(Arguments):
    """Filters and a page."""

    kinds: Annotated[list[Kind] | None, Field(min_length=1, description="Only memories of these kinds.")] = None
    session_id: Annotated[Name | None, Field(description="Only memories from this conversation.")] = None
    entity: Annotated[Name | None, Field(description="Only memories that name this entity: `pet:bruno`.")] = None
    limit: Annotated[int, Field(ge=1, le=500, description="Maximum number of memories on a page.")] = 20
    cursor: Annotated[str | None, Field(max_length=2000, description="`next_cursor` of the previous page.")] = None


class ExplainMemoryArguments(Arguments):
    """A memory whose origin is asked for."""

    memory_id: MemoryId


class ProfileArguments(Arguments):
    """Nothing: the profile is of the subject."""


class ObservationArguments(Arguments):
    """An observation about the person, and its category."""

    content: Annotated[
        str, Field(min_length=1, max_length=20_000, description="One statement, such as `Prefers short answers.`")
    ]
    category: Literal["fact", "preference", "project_details", "correction"]


class UserContextArguments(Arguments):
    """Information learned about the person while working without them."""

    scaffold_updates: Annotated[
        dict[str, Any],
        Field(max_length=100, description="Values by dotted key, such as `work.role`: `ward nurse`."),
    ] = Field(default_factory=dict)
    persistent_info_additions: Annotated[
        list[str], Field(max_length=100, description="Statements to keep, one each.")
    ] = Field(default_factory=list)


class ConnectionContextArguments(Arguments):
    """Information learned about one tool connection."""

    connection_id: Annotated[Name, Field(description="The tool connection, such as `jira-1`.")]
    learned: Annotated[
        dict[str, Any],
        Field(min_length=1, max_length=100, description="Values by name, such as `default_project`: `WARD`."),
    ]
