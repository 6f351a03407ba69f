"""`make worker`: a long-lived process that serves all flows and starts a drain when a session is due.

It polls the queue itself instead of using a schedule on the server, since each flow run takes a process and some
seconds, even if the queue is empty (docs/decisions/0013). Only webhooks have a schedule: they are sent each minute.

PREFECT_API_URL names the Prefect server; the default is the one that `make prefect` starts, at PREFECT_PORT.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, cast

import httpx

from deployments.prefect_server import HOST, prefect_port
from reverie.errors import ReverieError
from reverie.settings import load_settings
from reverie.store.connect import database_errors
from reverie.store.database import Store
from reverie.store.server.address import database_url

if TYPE_CHECKING:
    from uuid import UUID

    from prefect.client.schemas.objects import FlowRun
    from prefect.deployments.runner import RunnerDeployment

ROOT = Path(__file__).resolve().parent.parent
#: Polling interval.
EVERY = timedelta(seconds=15)
DRAIN = "drain-due-sessions/drain"
#: The most parallel flow runs. Each is a separate process with the embedder's threads.
AT_ONCE = 4


def main() -> None:
    """Serve until interrupted. Errors are printed as one sentence."""
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    url = os.environ.setdefault("PREFECT_API_URL", f"http://{HOST}:{prefect_port()}/api")
    os.environ.setdefault("DO_NOT_TRACK", "1")
    try:
        httpx.get(f"{url}/health", timeout=10).raise_for_status()
    except httpx.HTTPError:
        print(f"Error: No Prefect server answers at {url}: start one with `make prefect`.", file=sys.stderr)
        sys.exit(4)
    try:
        store = Store.open(database_url(load_settings()), size=1)
    except ReverieError as error:
        print(f"Error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    threading.Thread(target=watch, args=(store, threading.Event()), daemon=True, name="queue").start()
    # shells start background processes with SIGINT ignored
    signal.signal(signal.SIGINT, signal.default_int_handler)
    serve_flows(url, store)


def serve_flows(url: str, store: Store) -> None:
    """Serve the flows until interrupted. After an outage of the Prefect server or the database, serve again."""
    from prefect import serve

    while True:
        try:
            serve(*served(), limit=AT_ONCE, pause_on_shutdown=False)
            return
        except Exception as error:
            if not is_outage(error):
                raise
        print("The Prefect server or the database fails; waiting until both answer.", file=sys.stderr, flush=True)
        try:
            while not is_answering(url, store):
                time.sleep(EVERY.total_seconds())
        except KeyboardInterrupt:
            return


def is_outage(error: BaseException) -> bool:
    """Return whether an error ended the serving because requests to the server failed.

    Prefect polls for runs in a group of tasks, and ends with a RuntimeError after three polls that failed.
    """
    if isinstance(error, BaseExceptionGroup):
        return all(is_outage(each) for each in error.exceptions)
    return isinstance(error, httpx.HTTPError | RuntimeError)


def is_answering(url: str, store: Store) -> bool:
    """Return whether the Prefect server at `url`, its database and Reverie's database answer."""
    try:
        httpx.get(f"{url}/ready", timeout=10).raise_for_status()
        is_due(store, datetime.now(UTC))
    except (httpx.HTTPError, ReverieError):
        return False
    return True


def watch(store: Store, ended: threading.Event) -> None:
    """Start a drain whenever a session is due and the previous drain has finished, until `ended` is set."""
    latest: UUID | None = None
    while not ended.wait(EVERY.total_seconds()):
        try:
            if is_due(store, datetime.now(UTC)) and is_finished(latest):
                latest = start_drain()
        except Exception as error:  # the server or the database is unavailable: poll again later
            reason = str(error) if isinstance(error, ReverieError) else type(error).__name__
            print(f"The queue could not be checked: {reason}", file=sys.stderr, flush=True)


def is_due(store: Store, now: datetime) -> bool:
    """Return whether a session is due to be flushed or drained."""
    with database_errors():
        return bool(store.waiting_tenants(now, now) or store.flushable(now))


def is_finished(flow_run: UUID | None) -> bool:
    """Return whether a flow run has finished, successfully or not, or was deleted."""
    from prefect.client.orchestration import get_client
    from prefect.exceptions import ObjectNotFound

    if flow_run is None:
        return True
    try:
        with get_client(sync_client=True) as client:
            state = client.read_flow_run(flow_run).state
    except ObjectNotFound:  # or Prefect's database was reset
        return True
    return state is None or state.is_final()


def start_drain() -> UUID:
    """Start a drain in a process that serves it; return the id of the flow run."""
    from prefect.deployments import run_deployment

    run = cast("FlowRun", run_deployment(DRAIN, timeout=0, as_subflow=False))  # a coroutine only within an event loop
    return run.id


def paragraphs(docstring: str) -> str:
    """Return a docstring with one line per paragraph, since Prefect's page keeps the line breaks of the text."""
    return "\n\n".join(" ".join(part.split()) for part in docstring.split("\n\n"))


def served() -> list[RunnerDeployment]:
    """Return the flows to serve; deployments/prefect.yaml has the same for a work pool."""
    from prefect.client.schemas.objects import ConcurrencyLimitConfig, ConcurrencyLimitStrategy

    from flows.deliver_webhooks import deliver_webhooks
    from flows.drain_due_sessions import drain_due_sessions
    from flows.erase_subject import erase_subject
    from flows.import_history import import_history
    from flows.rebuild_beside import rebuild_beside
    from flows.redrive_dead_letters import redrive_dead_letters
    from flows.reembed_tenant import reembed_tenant
    from flows.replay_session import replay_session

    # a running drain also processes sessions that become due meanwhile, so one is enough for several processes
    alone = ConcurrencyLimitConfig(limit=1, collision_strategy=ConcurrencyLimitStrategy.CANCEL_NEW)
    deployments = [
        drain_due_sessions.to_deployment("drain", tags=["reverie", "deferred"], concurrency_limit=alone),
        # nothing else starts it: triggers become due as time passes, not with a turn
        deliver_webhooks.to_deployment("deliver", tags=["reverie", "deferred"], interval=60, concurrency_limit=alone),
        redrive_dead_letters.to_deployment("redrive", tags=["reverie", "repair"]),
        import_history.to_deployment("import", tags=["reverie", "import"]),
        reembed_tenant.to_deployment("reembed", tags=["reverie", "repair"]),
        rebuild_beside.to_deployment("rebuild", tags=["reverie", "repair"]),
        replay_session.to_deployment("replay", tags=["reverie", "repair"]),
        erase_subject.to_deployment("erase", tags=["reverie", "privacy"]),
    ]
    found = cast("list[RunnerDeployment]", deployments)  # coroutines only within an event loop
    return [each.model_copy(update={"description": paragraphs(each.description or "")}) for each in found]


if __name__ == "__main__":
    main()
