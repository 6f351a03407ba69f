"""`make worker`: one long-lived process that serves all flows, and drains the queue every minute.

PREFECT_API_URL names the Prefect server, by default the one that `make prefect` starts on this machine.
"""

from __future__ import annotations

import os
import signal
import sys
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import httpx

if TYPE_CHECKING:
    from prefect.deployments.runner import RunnerDeployment

ROOT = Path(__file__).resolve().parent.parent
API_URL = "http://127.0.0.1:4200/api"
#: How often the queue is looked at: a flow run is a process of some seconds, `reverie worker` looks every five.
EVERY = timedelta(minutes=1)
#: Flow runs of this process at once; each has a process and the embedder's threads.
AT_ONCE = 4


def main() -> None:
    """Serve until told to end; a user's error is one sentence and an exit code."""
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    url = os.environ.setdefault("PREFECT_API_URL", API_URL)
    os.environ.setdefault("DO_NOT_TRACK", "1")
    try:
        httpx.get(f"{url}/health", timeout=10).raise_for_status()
    except httpx.HTTPError:
        print(f"Error: No Prefect server answers at {url}: start one with `make prefect`.", file=sys.stderr)
        sys.exit(4)
    from prefect import serve

    # a shell starts what it puts into the background with SIGINT ignored
    signal.signal(signal.SIGINT, signal.default_int_handler)
    serve(*served(), limit=AT_ONCE, pause_on_shutdown=False)


def served() -> list[RunnerDeployment]:
    """Return the flows as they are served; deployments/prefect.yaml says the same for a work pool."""
    from prefect.client.schemas.objects import ConcurrencyLimitConfig, ConcurrencyLimitStrategy

    from flows.drain_due_sessions import drain_due_sessions
    from flows.import_history import import_history
    from flows.redrive_dead_letters import redrive_dead_letters
    from flows.reembed_tenant import reembed_tenant
    from flows.replay_session import replay_session

    # a drain that is still busy takes in what became due: the next one need not wait for it
    alone = ConcurrencyLimitConfig(limit=1, collision_strategy=ConcurrencyLimitStrategy.CANCEL_NEW)
    return [
        drain_due_sessions.to_deployment("reverie", interval=EVERY, concurrency_limit=alone),
        redrive_dead_letters.to_deployment("reverie"),
        import_history.to_deployment("reverie"),
        reembed_tenant.to_deployment("reverie"),
        replay_session.to_deployment("reverie"),
    ]


if __name__ == "__main__":
    main()
