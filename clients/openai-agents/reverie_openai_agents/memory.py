"""What memory knows, in the instructions of each call to the model: nothing of it is kept in the session."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from agents.run_config import CallModelData, ModelInputData

from reverie_client import AsyncClient
from reverie_client.texts import storable_question


def memory_filter(
    client: AsyncClient, subject_id: str, *, session_id: str | None = None
) -> Callable[[CallModelData[Any]], Awaitable[ModelInputData]]:
    """Return a `call_model_input_filter` for `RunConfig` that adds the subject's context to the instructions.

    The question is the last message of a person in the input. The filter leaves the input as it is.
    """

    async def add_context(data: CallModelData[Any]) -> ModelInputData:
        given = data.model_data
        # the input has the conversation: with no history, only the mood of the session is taken
        context = await client.assemble_context(
            subject_id, session_id=session_id, question=_question(given.input), history=[]
        )
        instructions = "\n\n".join(text for text in (given.instructions, context.text) if text)
        return ModelInputData(input=given.input, instructions=instructions)

    return add_context


def _question(items: Any) -> str | None:
    for item in reversed(items):
        if isinstance(item, Mapping) and item.get("role") == "user":
            content = item.get("content")
            if isinstance(content, str):
                return storable_question(content)
            texts = [part.get("text") for part in content or () if isinstance(part, Mapping)]
            return storable_question("\n".join(text for text in texts if isinstance(text, str)))
    return None
