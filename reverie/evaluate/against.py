"""Drift: the same questions under another policy, or over memory rebuilt with another policy or embedding model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from reverie.evaluate.evaluation import Drift, EvaluationPlan, asked_memory, compared
from reverie.evaluate.ranking.scratch import scratch_database
from reverie.evaluate.retrieval.comparing import require_quality
from reverie.evaluate.retrieval.held_back import questions_of_log
from reverie.evaluate.retrieval.question import HeldQuestion
from reverie.evaluate.retrieval.ranks import Ranks
from reverie.evaluate.retrieval.rebuilt import build_copy, copy_log
from reverie.inference import Embedder
from reverie.policy import Policy
from reverie.store.database import Store
from reverie.store.work import Work


@dataclass(frozen=True, kw_only=True, slots=True)
class Rival:
    """The other side of a comparison: a policy and an embedding model."""

    policy: Policy
    embedder: Embedder
    #: Name in the result.
    name: str
    #: Whether memory is rebuilt from the log in a database of its own; else its policy recalls from the present memory.
    is_rebuilt: bool
    #: Store with the rebuilt memory, such as a generation; None: memory is rebuilt for the comparison.
    store: Store | None = None
    #: Folder of that database; None: a temporary one.
    folder: Path | None = None
    progress: Callable[[str], None] = lambda _stage: None


def comparing(work: Work, rival: Rival, plan: EvaluationPlan) -> EvaluationPlan:
    """Return the plan with a comparison between the work's memory and the rival's."""

    def compare(asked: Sequence[HeldQuestion], before: Sequence[Ranks]) -> Drift:
        with _rivals_memory(work, rival) as there:
            memory = asked_memory(there, asked, embedder=rival.embedder, policy=rival.policy, jobs=plan.jobs)
            return compared(rival.name, memory, before, work.policy, is_rebuilt=rival.is_rebuilt)

    return replace(plan, compare=compare)


@contextmanager
def _rivals_memory(work: Work, rival: Rival) -> Iterator[Work]:
    if not rival.is_rebuilt:
        yield replace(work, policy=rival.policy)
        return
    if rival.store is not None:
        yield replace(work, store=rival.store, policy=rival.policy, embedder=rival.embedder)
        return
    with scratch_database(rival.folder) as store:
        copy_log(work.store, store, work.tenant_id, policy=rival.policy.name)
        build_copy(
            store, work.tenant_id, policy=rival.policy, embedder=rival.embedder, as_of=work.as_of,
            progress=rival.progress,
        )  # fmt: skip
        yield replace(work, store=store, policy=rival.policy, embedder=rival.embedder)


def require_no_fall(work: Work, rival: Rival) -> Drift | None:
    """Compare on questions of the log up to the work's time, as a gate; None: there are no questions.

    Raises:
        QualityError: a measure falls by more than the tolerance of the tenant's present policy, with confidence.
    """
    numbers = work.policy.evaluation
    asked = questions_of_log(work.store, work.tenant_id, numbers=numbers, embedder=work.embedder, as_of=work.as_of)
    if not asked:
        return None
    answers = asked_memory(work, asked, embedder=work.embedder, policy=work.policy).answers()
    plan = comparing(work, rival, EvaluationPlan())
    assert plan.compare is not None
    comparison = plan.compare(asked, [each.ranks for each in answers])
    require_quality(comparison.differences, numbers)
    return comparison
