"""flush: capture moves the turns of quiet sessions to the log; extract reads them in the same transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any

from psycopg import Connection

from reverie.capture.live import flush
from reverie.consolidate.extract.stage import decide_turns, write_candidates
from reverie.policy import Policy
from reverie.store.database import Store
from reverie.store.runs import Report, Run


def flush_due(
    store: Store,
    *,
    policy_of: Callable[[str], Policy],
    as_of: datetime,
    count_tokens: Callable[[str], int],
    driver: str = "reverie",
) -> Iterator[Report]:
    """Flush the sessions of every tenant that are due, as `capture.live.flush` does, and extract their candidates.

    Raises:
        StageError: some sessions failed; it names the first tenants and their reasons, without user text.
    """

    def extract(
        conn: Connection[Any], attempt: Run, tenant_id: str, policy: Policy, rows: Sequence[tuple[Any, ...]]
    ) -> None:
        write_candidates(conn, attempt, tenant_id, policy, decide_turns(rows, tenant_id, policy, count_tokens))

    yield from flush.flush_due(store, policy_of=policy_of, as_of=as_of, extract=extract, driver=driver)
