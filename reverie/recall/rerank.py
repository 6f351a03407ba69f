"""Re-ranking: a cross-encoder's score replaces the similarity of the best candidates (spec D4; Logic 2.5)."""

from __future__ import annotations

from collections.abc import Sequence

from reverie.errors import InferenceError
from reverie.inference.reranker import Reranker, Scores
from reverie.policy import RecallPolicy
from reverie.recall.result import Hit, Signal
from reverie.store.session import TenantSession

#: The signal that the reranker's score replaces, and the name of that score among the signals.
REPLACED, SIGNAL = "similarity", "rerank"
#: The name, among a hit's ranks, of its place by weighed signals.
BEFORE = "weighed"


async def rerank(
    session: TenantSession,
    ranked: Sequence[Hit],
    *,
    question: str,
    reranker: Reranker,
    numbers: RecallPolicy,
    notes: list[str],
) -> list[Hit] | None:
    """Return hits in the order of their new scores, the best `rerank_candidates` first and the others behind them.

    Return None and a note if the reranker fails; the weighed order then stays.
    """
    best = list(ranked[: numbers.rerank_candidates])
    if not best:
        return None
    try:
        scores = await session.offload(reranker.score, question, [hit.content for hit in best])
    except InferenceError as error:
        notes.append(f"The reranker gave no answer ({error.within}): ranked by weighed signals alone.")
        return None
    return [*in_order(best, scores, weight=numbers.rerank_weight), *ranked[len(best) :]]


def in_order(hits: Sequence[Hit], scores: Scores, *, weight: float) -> list[Hit]:
    """Return the hits by score, with the reranker's score in place of the similarity; ties keep their order."""
    changed = [
        _with(hit, float(score), weight, place) for place, (hit, score) in enumerate(zip(hits, scores, strict=True), 1)
    ]
    return sorted(changed, key=lambda hit: -hit.score)


def _with(hit: Hit, value: float, weight: float, place: int) -> Hit:
    signals = dict(hit.signals)
    gone = signals.get(REPLACED, Signal(value=0.0, weight=0.0))
    come = Signal(value=value, weight=weight)
    signals |= {REPLACED: Signal(value=gone.value, weight=0.0), SIGNAL: come}
    return hit._replace(
        score=hit.score - gone.contribution + come.contribution, signals=signals, ranks={**hit.ranks, BEFORE: place}
    )
