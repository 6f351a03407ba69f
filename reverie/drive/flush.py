"""flush: move the turns of quiet sessions to the log, and extract them in the same transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from uuid import UUID

from reverie.capture.live.flush import flush, hasten
from reverie.consolidate.extract.stage import extract_logged
from reverie.drive.tenants import NAMED
from reverie.errors import ReverieError, StageError
from reverie.model import Scope
from reverie.policy import Policy
from reverie.store.database import Store
from reverie.store.runs import Report
from reverie.store.work import Work


def flush_due(
    store: Store,
    *,
    policy_of: Callable[[str], Policy],
    as_of: datetime,
    count_tokens: Callable[[str], int],
    driver: str = "reverie",
) -> Iterator[Report]:
    """Flush the due sessions of every tenant; yield the report of each batch. Several processes may flush at once.

    A session that fails is tried again after a pause and delays no other. `count_tokens` measures long turns.

    Raises:
        StageError: some sessions failed; it names the first tenants and the reasons, without user text.
    """
    failed: dict[str, str] = {}
    due = store.flushable(as_of)
    for tenant_id in due:
        try:
            work = Work(
                store=store,
                scope=Scope(tenant_id=tenant_id),
                policy=policy_of(tenant_id),
                as_of=as_of,
                driver=driver,
            )
            yield from flush(work, partial(extract_logged, count_tokens=count_tokens))
        except Exception as error:
            # only our own errors are known to carry no user text
            failed[tenant_id] = str(error) if isinstance(error, ReverieError) else type(error).__name__
    if failed:
        reasons = "; ".join(f"{tenant_id}: {reason}" for tenant_id, reason in list(failed.items())[:NAMED])
        raise StageError(f"Sessions of {len(failed)} of {len(due)} tenants could not be flushed. {reasons}")


def flush_turns_of(
    store: Store,
    memory_id: UUID,
    *,
    tenant_id: str,
    policy: Policy,
    as_of: datetime,
    count_tokens: Callable[[str], int],
    driver: str = "reverie",
) -> bool:
    """Flush the turns from which a memory is to be made, so that it can be corrected; return whether any waited.

    An acknowledgement has ids of memories that the flush writes later.
    """
    work = Work(store=store, scope=Scope(tenant_id=tenant_id), policy=policy, as_of=as_of, driver=driver)
    if not hasten(work, memory_id):
        return False
    for _ in flush(work, partial(extract_logged, count_tokens=count_tokens)):
        pass
    return True
