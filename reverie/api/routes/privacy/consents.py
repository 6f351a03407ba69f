"""Consent: whether a subject is captured and recalled, and for how long what it said is kept."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field
from starlette.responses import Response

from reverie.api.access import Admin, Reader
from reverie.api.answers import answer
from reverie.api.fields import Answer, Body, Name, Subject, example, now
from reverie.api.problems import documented
from reverie.api.routing import routes_of
from reverie.store.privacy.consents import MOST_DAYS, ConsentChange, change_consent, read_consent

router = routes_of("consent")


class ConsentRequest(Body):
    """The settings to change. A field that is left out stays as it is."""

    model_config = example({"subject_id": "ana", "capture": False, "retain_days": 90, "actor": "support: Dana"})

    subject_id: Name
    capture: bool | None = Field(default=None, description="Whether turns and events are taken in.")
    recall: bool | None = Field(default=None, description="Whether recalls and contexts answer from memory.")
    retain_days: int | None = Field(
        default=None, ge=0, le=MOST_DAYS, description="Days after which what was said is erased; 0 keeps it for ever."
    )
    actor: Name | None = Field(default=None, description="Who asks for it. Default: the name of the key.")


class ConsentAnswer(Answer):
    """The consent of a subject."""

    model_config = example(
        {
            "subject_id": "ana",
            "capture": False,
            "recall": True,
            "retain_days": 90,
            "changed_at": "2026-06-30T18:00:00Z",
            "actor": "support: Dana",
        }
    )

    subject_id: str
    capture: bool
    recall: bool
    retain_days: int | None = Field(description="Null: it is kept for ever.")
    changed_at: datetime | None = Field(description="Null: it was never changed.")
    actor: str | None


@router.get(
    "/consent",
    response_model=ConsentAnswer,
    responses=documented(422),
    summary="Read a subject's consent",
    name="read_consent",
)
async def get_consent(caller: Reader, subject_id: Subject) -> Response:
    """Read whether a subject is captured and recalled, and for how long what it said is kept."""
    return answer(await read_consent(caller.primary_reader(), subject_id))


@router.put(
    "/consent",
    response_model=ConsentAnswer,
    responses=documented(400, 413, 422),
    summary="Change a subject's consent",
    name="change_consent",
)
async def put_consent(body: ConsentRequest, caller: Admin) -> Response:
    """Change what a subject agrees to, from the next request on. Requires the scope admin.

    Turns and observations of a subject that is not captured are answered with the status `refused`; recalls and
    contexts about one that is not recalled are empty and say why. Data that is kept for a number of days is erased
    by the first run after they are over.
    """
    change = ConsentChange(capture=body.capture, recall=body.recall, retain_days=body.retain_days)
    who = body.actor or caller.grant.name
    return answer(await change_consent(caller.writer(), body.subject_id, change, at=now(), actor=who))
