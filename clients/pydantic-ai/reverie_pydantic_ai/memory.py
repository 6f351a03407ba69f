"""Instructions and a toolset that use memory."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from pydantic import Field
from pydantic_ai import FunctionToolset, ModelRetry, RunContext

from reverie_client import AsyncClient
from reverie_client.telling import told
from reverie_client.texts import storable_question
from reverie_pydantic_ai.prompts import text_of

#: Returns whose memory a run uses.
SubjectOf = Callable[[RunContext[Any]], str]
#: An argument that the server accepts: the model is asked again for another one, where an error would end the run.
Argument = Annotated[str, Field(min_length=1, max_length=20_000)]


def memory_instructions(
    client: AsyncClient, subject: str | SubjectOf, *, session_id: str | None = None
) -> Callable[[RunContext[Any]], Awaitable[str]]:
    """Return a function for an agent's `instructions` that gives what memory knows for the prompt of the run.

    Instructions are no part of the message history, so nothing of it is kept there.
    """

    async def instructions(ctx: RunContext[Any]) -> str:
        question = storable_question(text_of(ctx.prompt))
        # the message history has the conversation: with no history here, only the mood of the session is taken
        context = await client.assemble_context(
            _subject(subject, ctx), session_id=session_id, question=question, history=[]
        )
        return context.text

    return instructions


def memory_toolset(client: AsyncClient, subject: str | SubjectOf, *, top_k: int = 5) -> FunctionToolset[Any]:
    """Return tools by which a model searches the memory of a subject and notes what it learned."""
    toolset: FunctionToolset[Any] = FunctionToolset()

    @toolset.tool
    async def recall_memory(ctx: RunContext[Any], question: Argument) -> list[str]:
        """Search what is remembered about the user. Ask a full question."""
        if (asked := storable_question(question)) is None:
            raise ModelRetry("The question is empty. Ask a full question.")
        return [told(hit) for hit in (await client.recall(_subject(subject, ctx), asked, top_k=top_k)).hits]

    @toolset.tool
    async def remember(ctx: RunContext[Any], fact: Argument) -> str:
        """Note a lasting fact about the user in one sentence."""
        if (noted := storable_question(fact)) is None:
            raise ModelRetry("The fact is empty.")
        await client.record_observation(_subject(subject, ctx), "fact", noted)
        return "Noted."

    return toolset


def _subject(subject: str | SubjectOf, ctx: RunContext[Any]) -> str:
    return subject if isinstance(subject, str) else subject(ctx)
