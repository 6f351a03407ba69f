"""Quality of recall over time, one row per tenant: unpartitioned, weekly, numbers only."""

from collections.abc import Iterator
from typing import Any

import dagster as dg

from assets.described import OWNERS, described
from assets.runs import DRIVER, RETRIES, as_of
from resources.clients import Clients
from reverie.drive.tenants import failure, try_each_tenant
from reverie.evaluate.evaluation import Evaluation, EvaluationPlan, evaluate
from reverie.evaluate.results import record_evaluation
from reverie.model import Scope
from reverie.policy import Policy
from reverie.store.clock import tenant_time
from reverie.store.runs import Report
from reverie.store.work import Work

#: Measures that are plotted, as the mean over tenants that have them.
PLOTTED = ("precision_5", "ndcg_5", "recall_10", "utilisation", "correction_rate", "assistant_repeat_rate")


@dg.asset(
    deps=["memories", "tombstones"],
    retry_policy=RETRIES,
    group_name="evaluation",
    kinds={"postgres"},
    owners=OWNERS,
    metadata=described("ops.evaluations", "evaluating.md"),
)
def evaluation(context: dg.AssetExecutionContext, clients: Clients) -> dg.MaterializeResult[None]:
    """Quality of recall over all tenants, on questions made from the logs: P@5, NDCG@5, R@10, utilisation, rates.

    docs/evaluating.md explains each measure. The numbers of each tenant are in ops.evaluations.
    """
    done = _evaluations(context, clients)
    return dg.MaterializeResult(metadata=_means(done) | {"tenants": len(done), "by_tenant": _table(done)})


def _evaluations(context: dg.AssetExecutionContext, clients: Clients) -> list[Evaluation]:
    """Return the evaluation of each tenant.

    Raises, once all were tried, StageError if none could be evaluated, and dagster.Failure if some could not.
    """
    evaluated = list[Evaluation]()

    def evaluate_one(scope: Scope, policy: Policy) -> Iterator[Report]:
        work = Work(
            store=clients.store,
            scope=scope,
            policy=policy,
            as_of=tenant_time(clients.store, scope.tenant_id, as_of(context)),
            embedder=clients.runtime.embedder,
            driver=DRIVER,
        )
        done = evaluate(work, EvaluationPlan(ablate=False))
        record_evaluation(clients.store, done, driver=DRIVER)
        evaluated.append(done)
        yield from ()

    totals = try_each_tenant(clients.store, lambda tenant_id: Scope(tenant_id=tenant_id), evaluate_one)
    if totals.failed:
        reasons = failure(totals.failed, of=totals.tenants + len(totals.failed))
        if not totals.tenants:
            raise reasons
        raise dg.Failure(str(reasons), allow_retries=False)  # a retry would evaluate the others again
    return evaluated


def _means(done: list[Evaluation]) -> dict[str, Any]:
    measured = [each.measures() for each in done]
    columns = {name: [value for each in measured if (value := each.get(name)) is not None] for name in PLOTTED}
    means = {name: round(sum(values) / len(values), 4) for name, values in columns.items() if values}
    return means | {"questions": sum(each.questions for each in done)}


def _table(done: list[Evaluation]) -> dg.MarkdownMetadataValue:
    head = ["tenant", "questions", *PLOTTED]
    rows = [
        [f"`{each.tenant_id}`", str(each.questions), *(_shown(each.measures().get(name)) for name in PLOTTED)]
        for each in done
    ]
    lines = (f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows))
    return dg.MetadataValue.md("\n".join(lines))


def _shown(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
