"""Results of evaluations in the database, as numbers for plots over time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from uuid import UUID

from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from reverie.evaluate.evaluation import Evaluation
from reverie.model import stable_id
from reverie.store.database import Store
from reverie.store.queries import queries


@dataclass(frozen=True, kw_only=True, slots=True)
class PastEvaluation:
    """The measures of a past evaluation."""

    id: UUID
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
    made = (evaluation.policy_hash, evaluation.model, against)
    params = {
        "tenant": evaluation.tenant_id,
        "id": _evaluation_id(evaluation.as_of, evaluation.tenant_id, *made, evaluation.source),
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


def past_evaluations(store: Store, tenant_id: str, *, source: str, limit: int = 200) -> list[PastEvaluation]:
    """Return the latest evaluations of a tenant that asked questions of this source, at most `limit`, oldest first.

    `source`: `log`, or the name of a file. Questions of different sources are no points of one line.
    """

    def is_meant(each: PastEvaluation) -> bool:  # only the id of a row tells its source
        return each.id == _evaluation_id(each.as_of, tenant_id, each.policy_hash, each.model, each.against, source)

    # a cursor of the server: the rows of other sources are read in portions, and only until there are enough
    with (
        store.transaction(tenant_id) as conn,
        conn.cursor("evaluations", row_factory=class_row(PastEvaluation)) as cursor,
    ):
        cursor.execute(queries("evaluations")["history"], {"tenant": tenant_id})
        found = list(islice(filter(is_meant, cursor), limit))
    return found[::-1]


def _evaluation_id(
    as_of: datetime, tenant_id: str, policy_hash: str, model: str, against: str | None, source: str
) -> UUID:
    return stable_id(as_of, "evaluation", tenant_id, policy_hash, model, against or "", source)
