"""Working memory: the state of a session in progress (spec A1)."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field
from starlette.responses import Response

from reverie.api.access import Caller, Reader, Writer
from reverie.api.answers import answer
from reverie.api.fields import Body, JsonObject, Name, SessionId, Subject, Text, example, now
from reverie.api.problems import ProblemError, documented
from reverie.api.routing import routes_of
from reverie.capture.live.working_memory import MOST_HELD, HeldLists, Session, read_session, update_session

router = routes_of("working memory")


class UpdateRequest(Body):
    """The lists to replace. A list that is left out is not changed."""

    model_config = example(
        {"subject_id": "ana", "session_id": "s1", "preferences": ["Answer in Portuguese"], "confirmations": []}
    )

    subject_id: Name
    session_id: Name
    preferences: list[Text] | None = Field(default=None, max_length=MOST_HELD)
    confirmations: list[JsonObject] | None = Field(
        default=None, max_length=MOST_HELD, description="Confirmations that the agent is waiting for."
    )
    tool_results: list[JsonObject] | None = Field(
        default=None, max_length=MOST_HELD, description="Results that are still in use."
    )


@router.get(
    "/working_memory", response_model=Session, responses=documented(404, 422), summary="Read a session's working memory"
)
async def read_working_memory(caller: Reader, subject_id: Subject, session_id: SessionId) -> Response:
    """Return a session's first and latest turns, its mood, and the caller's lists."""
    return answer(await held(caller, subject_id, session_id))


@router.patch(
    "/working_memory",
    response_model=Session,
    responses=documented(400, 409, 413, 422),
    summary="Update a session's working memory",
)
async def update_working_memory(body: UpdateRequest, caller: Writer) -> Response:
    """Replace the caller's lists. If the session has no working memory, it is created.

    Status 409: a list has entries, and capture is off for the subject. Nothing is changed.
    """
    lists = body.model_dump(exclude_unset=True, exclude={"subject_id", "session_id"})
    place = {"subject_id": body.subject_id, "session_id": body.session_id}
    await update_session(caller.writer(), HeldLists(**lists), **place, policy=caller.policy, as_of=now())
    return answer(await held(caller, body.subject_id, body.session_id))


async def held(caller: Caller, subject_id: str, session_id: str) -> Session:
    """Return the working memory of a session. Raises ProblemError (404): there is none, or it has ended."""
    found = await read_or_none(caller, subject_id, session_id)
    if found is None:
        raise ProblemError(404, "There is no such session in working memory.")
    return found


async def read_or_none(
    caller: Caller, subject_id: str, session_id: str, *, until: datetime | None = None
) -> Session | None:
    """Return the working memory of a session, with its turns `until` a time (None: all).

    The reader's role cannot see turns that are not in the log yet.
    """
    return await read_session(
        caller.writer(),
        subject_id=subject_id,
        session_id=session_id,
        policy=caller.policy,
        as_of=now(),
        until=until,
    )
