"""Closes sessions when the conversation is over (spec A2)."""

from __future__ import annotations

from pydantic import Field
from starlette.responses import Response

from reverie.api.access import Writer
from reverie.api.answers import answer
from reverie.api.fields import Answer, Body, Name, example, now
from reverie.api.problems import ProblemError, documented
from reverie.api.routing import routes_of
from reverie.capture.live.working_memory import close_session

router = routes_of("sessions")


class CloseRequest(Body):
    """The session to close."""

    model_config = example({"subject_id": "ana", "session_id": "s1"})

    subject_id: Name
    session_id: Name


class CloseAnswer(Answer):
    """Work that remains for the session."""

    model_config = example({"waiting": 4})

    waiting: int = Field(description="Turns that have not been moved to the log yet.")


@router.post(
    "/sessions/close", response_model=CloseAnswer, responses=documented(400, 404, 413, 422), summary="Close a session"
)
async def close(body: CloseRequest, caller: Writer) -> Response:
    """Close a session: its turns move to the log at once and its working memory ends. A later turn opens it again."""
    waiting = await close_session(caller.writer(), subject_id=body.subject_id, session_id=body.session_id, as_of=now())
    if waiting is None:
        raise ProblemError(404, "There is no such session in working memory.")
    caller.services.flusher.wake()
    return answer({"waiting": waiting})
