"""Nodes and a tool that use memory: context before the model, turns after it, recall when the model asks."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, tool

from reverie_client import Client, ConflictError, Turn
from reverie_client.batches import turn_batches
from reverie_client.request import new_id
from reverie_client.telling import told
from reverie_client.texts import storable_question

Node = Callable[[dict[str, Any], RunnableConfig], dict[str, Any]]


def context_node(client: Client, *, subject: str = "user_id", into: str = "context") -> Node:
    """Return a node that writes the context for the last message of a person into a key of the state.

    The subject is the value `subject` of the run's `configurable`; its `thread_id` is the session.
    """

    def node(state: dict[str, Any], config: RunnableConfig) -> dict[str, Any]:
        subject_id, session_id = _whose(config, subject)
        spoken = [message for message in _messages(state) if isinstance(message, HumanMessage)]
        question = storable_question(_text(spoken[-1])) if spoken else None
        # the state has the conversation: with no history, only the mood of the session is taken
        found = client.assemble_context(subject_id, session_id=session_id, question=question, history=[])
        return {into: found.text}

    return node


def remember_node(client: Client, *, subject: str = "user_id") -> Node:
    """Return a node that appends the messages of the state to memory; by their ids, none is added twice.

    All messages of people in the state go into the memory of the run's subject, so a thread is for one person: if two
    people write in one, each one's statements become memories of the other.
    A message whose text was changed under its id is a new turn: the log keeps the earlier text.
    """

    def node(state: dict[str, Any], config: RunnableConfig) -> dict[str, Any]:
        subject_id, session_id = _whose(config, subject)
        turns = [
            Turn(role=_role(message), text=_text(message), source_id=message.id or new_id())
            for message in _messages(state)
            if isinstance(message, HumanMessage | AIMessage) and _text(message).strip()
        ]
        for batch in turn_batches(turns):
            _append(client, subject_id, session_id or "langgraph", batch)
        return {}

    return node


def recall_tool(client: Client, subject_id: str, *, top_k: int = 5) -> BaseTool:
    """Return a tool by which a model searches the memory of a subject."""

    @tool
    def recall_memory(question: str) -> str:
        """Search what is remembered about the user. Ask a full question."""
        if (asked := storable_question(question)) is None:
            return "The question is empty. Ask a full question."
        hits = client.recall(subject_id, asked, top_k=top_k).hits
        return "\n".join(f"- {told(hit)}" for hit in hits) or "Nothing is remembered about this."

    return recall_memory


def _whose(config: RunnableConfig, subject: str) -> tuple[str, str | None]:
    values = config.get("configurable") or {}
    if not (subject_id := values.get(subject)):
        raise ValueError(f"The run's configurable has no {subject!r}: it names whose memory is used.")
    thread = values.get("thread_id")
    return str(subject_id), None if thread is None else str(thread)


def _append(client: Client, subject_id: str, session_id: str, turns: Sequence[Turn]) -> None:
    """Append turns of one request; those that were changed under their id get an id of their text too."""
    try:
        client.append_turns(subject_id, session_id, turns)
    except ConflictError:
        # the server stores all turns of a request or none, and does not tell which are changed
        if len(turns) == 1:
            client.append_turns(subject_id, session_id, [_renamed(turns[0])])
            return
        middle = len(turns) // 2
        for half in (turns[:middle], turns[middle:]):
            _append(client, subject_id, session_id, half)


def _renamed(turn: Turn) -> Turn:
    text = (turn.text or "").encode("utf-8", "surrogatepass")
    return turn.model_copy(update={"source_id": f"{turn.source_id}#{hashlib.sha256(text).hexdigest()[:12]}"})


def _messages(state: dict[str, Any]) -> Sequence[BaseMessage]:
    found: Sequence[BaseMessage] = state.get("messages") or ()
    return found


def _role(message: BaseMessage) -> Any:
    return "user" if isinstance(message, HumanMessage) else "assistant"


def _text(message: BaseMessage) -> str:
    content = message.content
    if isinstance(content, str):
        return content
    parts = [part if isinstance(part, str) else str(part.get("text", "")) for part in content]
    return "\n".join(part for part in parts if part)
