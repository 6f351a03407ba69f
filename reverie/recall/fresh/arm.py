"""The arm of a recall that finds waiting turns: its statement goes out with the search, its hits come in by score."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from reverie.policy import Policy
from reverie.recall.fresh.read import WaitingTurn, fresh_statement
from reverie.recall.fresh.weigh import with_fresh
from reverie.recall.places.replacements import Candidates
from reverie.recall.question import ParsedQuestion
from reverie.recall.search import BEST_BM25, search_text
from reverie.store.session import Statement, TenantSession


class FreshArm:
    """The search of a recall, with the waiting turns that are read in its round trip.

    There are none if the policy wants none, or only memories of some kinds count.
    """

    def __init__(self, session: TenantSession, *, policy: Policy, as_of: datetime) -> None:
        self._session, self._policy, self._as_of = session, policy, as_of
        self._turns: list[WaitingTurn] | None = None
        self._embedded = False
        self._best_bm25: float | None = None

    async def search(self, params: Mapping[str, Any]) -> Sequence[tuple[Any, ...]]:
        """Return the rows of the statement `search` with these parameters; the first time, waiting turns are read.

        A turn that becomes searchable between the two statements is found twice so, and not never.
        """
        searching: Statement[tuple[Any, ...]] = Statement(search_text(params), params)
        rows: list[tuple[Any, ...]]
        if self._turns is None and self._policy.recall.fresh and params["kinds"] is None:
            reading = fresh_statement(params, self._policy)
            waiting, rows = await self._session.run_all(reading, searching)
            self._turns, self._embedded = [WaitingTurn(*row) for row in waiting], params["vector"] is not None
        else:
            rows = await self._session.run(searching)
        self._best_bm25 = rows[0][BEST_BM25] if rows else None
        return rows

    def join(self, found: Candidates, question: ParsedQuestion, *, said: Collection[str]) -> Candidates:
        """Return candidates with the waiting turns among them, but those with the words of `said`."""
        return with_fresh(
            found,
            self._turns or (),
            question=question,
            embedded=self._embedded,
            best_bm25=self._best_bm25,
            said=said,
            policy=self._policy,
            as_of=self._as_of,
        )
