"""Cold start: quality by the number of sessions of the subject before the question (Agent 8.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reverie.evaluate.retrieval.question import HeldQuestion
from reverie.evaluate.retrieval.ranks import Ranks, mean_ranks
from reverie.store.database import Store
from reverie.store.queries import queries

#: The first number of sessions of each band.
BANDS = (1, 2, 4, 8, 16, 32, 64)
#: A band whose R@10 reaches this share of the best band's has converged.
_CONVERGED = 0.9
#: Minimum number of questions for a band to be compared.
_FEWEST = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionBand:
    """The questions before which a subject had at least `sessions` sessions, and fewer than in the next band."""

    sessions: int
    questions: int
    ranks: Ranks


def sessions_before(store: Store, tenant_id: str, asked: Sequence[HeldQuestion]) -> list[int]:
    """Return, for each question, how many sessions of its subject began before it."""
    params = {
        "tenant": tenant_id,
        "subjects": [each.subject_id for each in asked],
        "times": [each.asked_at for each in asked],
    }
    with store.transaction(tenant_id) as conn:
        return [count for _, count in conn.execute(queries("retrieval")["sessions_before"], params)]


def session_bands(before: Sequence[int], each: Sequence[Ranks]) -> list[SessionBand]:
    """Return the mean quality of each band that has questions.

    Known error: later questions are about more turns, so a falling curve may mean a larger haystack, not worse memory.
    """
    bands = []
    for start, end in zip(BANDS, (*BANDS[1:], float("inf")), strict=True):
        here = [one for count, one in zip(before, each, strict=True) if start <= count < end]
        if found := mean_ranks(here):
            bands.append(SessionBand(sessions=start, questions=len(here), ranks=found))
    return bands


def converges_at(bands: Sequence[SessionBand]) -> int | None:
    """Return the number of sessions from which recall is useful: the first band with 90 % of the best band's R@10.

    Bands of fewer than five questions are skipped; None without two others, or if recall finds nothing in any of them.
    """
    counted = [band for band in bands if band.questions >= _FEWEST]
    if len(counted) < 2:
        return None
    best = max(band.ranks.recall_10 for band in counted)
    if best == 0:
        return None
    return next(band.sessions for band in counted if band.ranks.recall_10 >= _CONVERGED * best)
