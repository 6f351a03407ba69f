"""Generations of a tenant: listed, compared with the live memory, published, reverted.

Comparing and publishing run in the background; the page shows their results. The row of `ops.runs` of a publish or
revert names the key in its column `driver`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Any

from starlette.responses import Response

from reverie.errors import InputError
from reverie.generations.catalog import LiveMemory, find_generation, list_generations
from reverie.generations.differing import GenerationDiff, difference
from reverie.generations.publishing import Publisher, Switched, publish, revert
from reverie.inference.loading import language_model_of, load_embedder
from reverie.inspector.views.page import InspectorPage
from reverie.inspector.visits import Visit
from reverie.model import Scope
from reverie.store.clock import tenant_time
from reverie.store.database import Store
from reverie.store.server.address import database_url
from reverie.store.work import Work

#: Most changes of each kind shown in words.
_EXAMPLES = 5
#: Connections of a job: model calls of a generation are booked while its log is read.
_CONNECTIONS = 4


async def show_generations(visit: Visit) -> Response:
    """List generations, and show the last comparison or publish."""
    found = await asyncio.to_thread(list_generations, visit.services.batches, visit.tenant_id)
    job = visit.inspector.jobs.last(visit.tenant_id)
    result = job.result if job else None
    diff = result if isinstance(result, GenerationDiff) else None
    response = visit.render(
        "generations.html",
        generations=found,
        job=job,
        counts=diff.counts() if diff else None,
        examples=diff.examples(_EXAMPLES) if diff else {},
        switched=result if isinstance(result, Switched) else None,
        clock=datetime.now(UTC),
    )
    if job and job.is_running:
        response.headers["Refresh"] = "2"  # the page shows the progress without a script
    return response


async def start_job(visit: Visit) -> Response:
    """Start a comparison, a publish or a revert."""
    verb, number = visit.value("verb"), visit.number("number")
    if verb not in _JOBS or number is None:
        raise InputError("The form needs an action and the number of a generation.")
    if verb != "diff" and visit.value("confirm") != "yes":
        raise InputError("Confirm that the live memory of the tenant is to change.")
    if visit.services.embedder is None:
        raise InputError("Generations need the embedding model of the settings; `reverie doctor` says what is missing.")
    work = partial(_JOBS[verb], visit, number)
    visit.inspector.jobs.start(visit.tenant_id, verb, number, datetime.now(UTC), work)
    return visit.redirect("generations")


def _diff(visit: Visit, number: int) -> GenerationDiff:
    with _live(visit) as live:
        questions = live.work.policy.publish.questions
        embedder_of = partial(load_embedder, threads=1)
        return difference(live, ("live", number), questions=questions, examples=_EXAMPLES, embedder_of=embedder_of)


def _publish(visit: Visit, number: int) -> Switched:
    with _live(visit) as live:
        generation = find_generation(live.work.store, live.tenant_id, number, "ready", "reverted")
        return publish(live, generation, _publisher(live))


def _revert(visit: Visit, number: int) -> Switched:
    with _live(visit) as live:
        generation = find_generation(live.work.store, live.tenant_id, number, "published")
        return revert(live, generation, _publisher(live))


_JOBS: dict[str, Any] = {"diff": _diff, "publish": _publish, "revert": _revert}


@contextmanager
def _live(visit: Visit) -> Iterator[LiveMemory]:
    """Yield the live memory of the visit's tenant, over the job's own connections."""
    settings, embedder = visit.services.settings, visit.services.embedder
    assert embedder is not None
    url = database_url(settings)
    with Store.open(url, size=_CONNECTIONS) as store:
        work = Work(
            store=store,
            scope=Scope(tenant_id=visit.tenant_id),
            policy=visit.caller.policy,
            as_of=tenant_time(store, visit.tenant_id, datetime.now(UTC)),
            embedder=embedder,
            language_model=language_model_of(settings),
            driver=f"inspector, key {visit.visitor.key}",
        )
        yield LiveMemory(work=work, url=url, jobs=1)


def _publisher(live: LiveMemory) -> Publisher:
    clock = partial(_clock, live)
    return Publisher(clock=clock, embedder_of=partial(load_embedder, threads=1))


def _clock(live: LiveMemory) -> datetime:
    return tenant_time(live.work.store, live.tenant_id, datetime.now(UTC))


PAGES = (
    InspectorPage("generations", show_generations, scope="admin"),
    InspectorPage("generations", start_job, method="POST", scope="admin"),
)
