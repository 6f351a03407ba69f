"""The arm of a recall that finds waiting turns: its statement is sent with the search, its hits join by score."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from reverie.policy import Policy
from reverie.recall.fresh.read import WaitingTurn, fresh_statement
from reverie.recall.fresh.weigh import FreshTurns, with_fresh
from reverie.recall.places.replacements import Candidates
from reverie.recall.question import ParsedQuestion
from reverie.recall.search import BEST_BM25, search_text
from reverie.store.session import Statement, TenantSession


class FreshArm:
    """The search of a recall, and the waiting turns, which are read in the same round trip.

    None are read if the policy wants none, the query asks for kinds of memory, or no turn may be waiting.
    """

    def __init__(self, session: TenantSession, *, policy: Policy, as_of: datetime, may_wait: bool = True) -> None:
        self._session, self._policy, self._as_of, self._may_wait = session, policy, as_of, may_wait
        self._waiting: FreshTurns | None = None

    async def search(self, params: Mapping[str, Any]) -> Sequence[tuple[Any, ...]]:
        """Return the rows of the statement `search` with these parameters; the first call also reads waiting turns.

        They are read before the search: a turn that becomes searchable in between is found twice and not missed.
        """
        searching: Statement[tuple[Any, ...]] = Statement(search_text(params), params)
        waiting = self._waiting or FreshTurns()
        rows: list[tuple[Any, ...]]
        if self._may_wait and self._waiting is None and self._policy.recall.fresh and params["kinds"] is None:
            reading = fresh_statement(params, self._policy)
            turns, rows = await self._session.run_all(reading, searching)
            waiting = FreshTurns(turns=[WaitingTurn(*row) for row in turns], embedded=params["vector"] is not None)
        else:
            rows = await self._session.run(searching)
        self._waiting = replace(waiting, best_bm25=rows[0][BEST_BM25] if rows else None)
        return rows

    def join(self, found: Candidates, question: ParsedQuestion, *, said: Collection[str]) -> Candidates:
        """Return candidates with the waiting turns among them, except those with the words of `said`."""
        waiting = self._waiting or FreshTurns()
        return with_fresh(found, waiting, question=question, said=said, policy=self._policy, as_of=self._as_of)
