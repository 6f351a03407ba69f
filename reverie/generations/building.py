"""Builds a generation from the log beside the live memory, cycle by cycle in event time, while recall goes on."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime

from reverie.drive.advance import advance
from reverie.drive.late import remake_late
from reverie.drive.maintain import Retention, maintain
from reverie.drive.parallel import buckets, in_parallel
from reverie.errors import ConflictError
from reverie.generations.catalog import (
    COMPLETE,
    Generation,
    GenerationPlan,
    LiveMemory,
    add_generation,
    find_generation,
    list_generations,
    opened,
)
from reverie.generations.following import bring_home, follow_log
from reverie.inference import Embedder
from reverie.policy import Policy
from reverie.store.connect import connect
from reverie.store.database import Store
from reverie.store.digest import digest
from reverie.store.queries import queries
from reverie.store.runs import Report
from reverie.store.server.beside import create_beside
from reverie.store.work import Work

#: Rows of a generation have no retention of their own.
_KEEP_ALL = Retention(runs=None, recalls=None, contexts=None, calls=None, replies=None, embeddings=None)


def begin(live: LiveMemory, plan: GenerationPlan, *, anew: bool = False) -> Generation:
    """Return an incomplete generation of the same plan, or a new one, with its database.

    `anew`: return a new one in any case.

    Raises DatabaseError if the user may not create databases.
    """
    with connect(live.url) as locked:  # two processes would give two generations one number
        locked.execute(queries("generations")["lock_begin"], {"tenant": live.tenant_id})
        return _begin(live, plan, anew)


def _begin(live: LiveMemory, plan: GenerationPlan, anew: bool) -> Generation:
    for known in [] if anew else list_generations(live.work.store, live.tenant_id):
        same = (known.policy_hash, known.model, known.without_source)
        if known.state == "building" and same == (plan.policy.hash, plan.embedder.model, plan.without_source):
            generation = known
            break
    else:
        generation = add_generation(live, plan)
    with connect(create_beside(live.url, generation.database)) as conn:
        conn.execute(queries("switching")["make_kept"])
    return generation


def build(live: LiveMemory, plan: GenerationPlan, generation: Generation) -> Iterator[Report]:
    """Make a generation up to the time of the live work, or go on with it; yield each stage's report.

    The tenant's vectors, replies and answers of small models are used; other calls of models are booked in the live
    database. If it is killed at any point, the same call goes on where it stopped.

    Raises:
        ConflictError: the log lost rows since the generation was begun, or another process builds it.
        UnansweredError: the language model answered about no turn.
    """
    with _sole_builder(live, generation), opened(live, generation) as store:
        began = time.perf_counter()
        with live.work.transaction() as reading, store.transaction(live.tenant_id) as writing:
            follow_log(reading, writing, live.tenant_id, generation)
        gc.freeze()  # loaded objects stay: scanning them again and again takes a thirtieth of the time
        try:
            yield from bring_up(live, work_by(live, plan.policy, plan.embedder, store))
        finally:
            gc.unfreeze()
        with store.transaction(live.tenant_id) as reading, live.work.transaction() as writing:
            bring_home(reading, writing, live.tenant_id)
        note_build(live, generation, store, seconds=time.perf_counter() - began)


@contextmanager
def _sole_builder(live: LiveMemory, generation: Generation) -> Iterator[None]:
    """Prevent other processes from building this generation. Raises ConflictError if one does."""
    params = {"tenant": live.tenant_id, "number": generation.number}
    with connect(live.url) as locked:
        if locked.execute(queries("generations")["lock_build"], params).fetchone() != (True,):
            raise ConflictError(
                f"Another process builds generation {generation.number} of tenant {live.tenant_id}: wait until it "
                "ends; `reverie generations` shows whether the generation is ready."
            )
        yield


def bring_up(live: LiveMemory, work: Work) -> Iterator[Report]:
    """Consolidate a generation's log up to the work's time, with buckets in parallel.

    The memory of late subjects is made again, as if everything had come in event order.
    """
    yield from in_parallel(buckets(work.scope, live.jobs), lambda part: advance(replace(work, scope=part)))
    yield from remake_late(work)
    yield maintain(work, retention=_KEEP_ALL, now=datetime.now(UTC))


def note_build(live: LiveMemory, generation: Generation, store: Store, *, seconds: float) -> Generation:
    """Mark a generation as complete, with its present counts and digest; return its row."""
    sql, tenant_id = queries("generations"), live.tenant_id
    with store.transaction(tenant_id) as conn:
        turns, memories = conn.execute(sql["count_log"], {"tenant": tenant_id}).fetchone() or (0, 0)
    params = {
        "tenant": tenant_id,
        "number": generation.number,
        "complete": True,
        "as_of": live.work.as_of,
        "turns": turns,
        "memories": memories,
        "sha256": digest(store, tenant_id).sha256,
        "seconds": seconds,
    }
    with live.work.transaction() as conn:
        conn.execute(sql["note_build"], params)
    return find_generation(live.work.store, tenant_id, generation.number, *COMPLETE)


def work_by(live: LiveMemory, policy: Policy, embedder: Embedder, store: Store) -> Work:
    """Return the work on a generation: in its database, with calls booked to the tenant."""
    return replace(live.work, store=store, policy=policy, embedder=embedder, books=live.work.store, is_rehearsal=True)
