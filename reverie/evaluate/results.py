"""Results of evaluations in the database, as numbers for plots over time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from reverie.evaluate.evaluation import Evaluation
from reverie.model import stable_id
from reverie.store.database import Store
from reverie.store.queries import queries


@dataclass(frozen=True, kw_only=True, slots=True)
class PastEvaluation:
    """The measures of a past evaluation."""

    as_of: datetime
    policy: str
    policy_hash: str
    model: str
    #: Policy or model with which it was compared.
    against: str | None
    questions: int
    #: Measures by name; None if there was nothing to measure.
    measures: Mapping[str, float | None]


def record_evaluation(store: Store, evaluation: Evaluation, *, driver: str) -> None:
    """Write an evaluation to `ops.evaluations`, replacing one of the same time, policy, model and questions."""
    against = evaluation.comparison.against if evaluation.comparison else None
    key = (evaluation.tenant_id, evaluation.policy_hash, evaluation.model, against or "", evaluation.source)
    params = {
        "tenant": evaluation.tenant_id,
        "id": stable_id(evaluation.as_of, "evaluation", *key),
        "as_of": evaluation.as_of,
        "policy": evaluation.policy,
        "policy_hash": evaluation.policy_hash,
        "model": evaluation.model,
        "against": against,
        "driver": driver,
        "questions": evaluation.questions,
        "measures": Jsonb(evaluation.measures()),
        "seconds": evaluation.seconds,
    }
    with store.transaction(evaluation.tenant_id) as conn:
        conn.execute(queries("evaluations")["record"], params)


def past_evaluations(store: Store, tenant_id: str, *, limit: int = 200) -> list[PastEvaluation]:
    """Return the latest evaluations of a tenant, oldest first."""
    params = {"tenant": tenant_id, "limit": limit}
    with store.transaction(tenant_id) as conn, conn.cursor(row_factory=class_row(PastEvaluation)) as cursor:
        return cursor.execute(queries("evaluations")["history"], params).fetchall()
