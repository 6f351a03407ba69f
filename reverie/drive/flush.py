"""flush: move the turns of quiet sessions to the log, and extract them in the same transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from uuid import UUID

from reverie.capture.live.flush import flush, hasten, memory_in_place, turns_of_moment
from reverie.consolidate.extract.decide import decide_turns, turns_frame
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
) -> UUID | None:
    """Flush the turns from which a memory is to be made, so that it can be corrected; return the id of that memory.

    An acknowledgement has ids of memories that the flush writes later. If the reader keeps the same words, the memory
    in the acknowledgement's place has another id (`consolidate/extract/own_words.py`). None: there is no such memory.
    """
    work = Work(store=store, scope=Scope(tenant_id=tenant_id), policy=policy, as_of=as_of, driver=driver)
    if hasten(work, memory_id):
        for _ in flush(work, partial(extract_logged, count_tokens=count_tokens)):
            pass
    turns = turns_frame(turns_of_moment(work, memory_id))
    for candidate in decide_turns(turns, tenant_id, policy, count_tokens).candidates:
        if candidate.id == memory_id and candidate.turn_id is not None:
            return memory_in_place(work, memory_id, candidate.turn_id, candidate.content)
    return None
