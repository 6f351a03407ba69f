"""Outcomes: measured results of decisions; a good one raises the memories tied to it (spec B4)."""

from __future__ import annotations

from pydantic import Field
from starlette.responses import Response

from reverie.api.access import Writer
from reverie.api.answers import answer
from reverie.api.fields import Answer, Body, Name, Time, example, now
from reverie.api.problems import ProblemError, documented
from reverie.api.routing import routes_of
from reverie.capture.append import log_outcomes
from reverie.model import Outcome

router = routes_of("outcomes")


class OutcomeGiven(Body):
    """A measured value, linked to the turn in which the decision was made."""

    subject_id: Name
    session_id: Name
    source_id: Name = Field(description="Id of the turn in which the decision was made.")
    metric: Name
    value: float = Field(allow_inf_nan=False)
    positive: bool = Field(description="Whether the outcome was good.")
    observed_at: Time | None = Field(default=None, description="When it was measured. Default: now.")


class OutcomesRequest(Body):
    """One or many outcomes."""

    model_config = example(
        {
            "outcomes": [
                {
                    "subject_id": "mumbai-bakery",
                    "session_id": "s7",
                    "source_id": "t3",
                    "metric": "views",
                    "value": 5400,
                    "positive": True,
                    "observed_at": "2026-03-09T18:00:00+05:30",
                }
            ]
        }
    )

    outcomes: list[OutcomeGiven] = Field(min_length=1, max_length=1000)


class OutcomesAnswer(Answer):
    """The result for the outcomes."""

    model_config = example({"added": 1, "repeated": 0, "refused": 0})

    added: int
    repeated: int = Field(description="Number of outcomes that had been sent before. They count once.")
    refused: int = Field(
        description="Number of outcomes of decisions that were erased, or of subjects for whom capture is off."
    )


@router.post(
    "/outcomes",
    response_model=OutcomesAnswer,
    responses=documented(400, 409, 413, 422),
    summary="Report outcomes of decisions",
)
async def append_outcomes(body: OutcomesRequest, caller: Writer) -> Response:
    """Log outcomes of decisions. An outcome that is sent twice with the same `observed_at` counts once.

    Without `observed_at`, each request is a new measurement.
    """
    at = now()
    outcomes = [
        Outcome(
            tenant_id=caller.tenant_id, **given.model_dump(exclude={"observed_at"}), observed_at=given.observed_at or at
        )
        for given in body.outcomes
    ]
    found = await log_outcomes(caller.writer(), outcomes)
    if found.conflicts:
        raise ProblemError(
            409,
            "The log is append-only and has another value for the same measurement; the others were logged.",
            errors=[(f"#/outcomes/{place}", "Another value was logged for this.") for place in found.conflicts],
        )
    return answer({"added": found.added, "repeated": found.repeated, "refused": len(found.refused)})
