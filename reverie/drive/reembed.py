"""reembed: a tenant's memory under another embedding model, while it goes on being recalled under the old one.

The new vectors are made beside the live ones. Once nothing lacks them, what is live is switched in one transaction, and
the old ones go. Killed anywhere it is run again and goes on where it was; recall never compares vectors of two models.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime

from reverie.consolidate.embed.stage import embed
from reverie.errors import StageError
from reverie.inference import Embedder
from reverie.model import Scope
from reverie.policy import Policy
from reverie.store.database import Store
from reverie.store.live_model import switch_live_model
from reverie.store.queries import queries
from reverie.store.runs import Report, run

#: Rounds of catching up with what is embedded by the old model meanwhile; each is shorter than the one before.
_ROUNDS = 20
#: Old vectors removed in one transaction.
_CHUNK = 20_000


def reembed(
    store: Store,
    *,
    tenant_id: str,
    policy: Policy,
    as_of: datetime,
    embedder: Embedder,
    driver: str = "reverie",
    on_progress: Callable[[int], None] | None = None,
) -> Iterator[Report]:
    """Embed everything of a tenant by `embedder`, make its model the live one, remove the old vectors; yields reports.

    The stages of the tenant must be driven with the new model from then on: with another one they are refused. Counts
    of the last report: `switched`, `removed` vectors. `on_progress` hears how many items each chunk finished.

    Raises:
        StageError: so much was embedded by the old model all the while that it was never caught up with.
    """
    scope = Scope(tenant_id=tenant_id)
    for _ in range(_ROUNDS):
        yield embed(
            store,
            scope=scope,
            policy=policy,
            as_of=as_of,
            embedder=embedder,
            beside=True,
            driver=driver,
            on_progress=on_progress,
        )
        with store.transaction(tenant_id) as conn:
            missing = switch_live_model(conn, tenant_id, embedder.model)
        if not missing:
            break
    else:
        raise StageError(
            f"{missing:,} items still have no vector of {embedder.model}: stop the workers and run it again."
        )
    with run(store, "reembed", scope=scope, policy=policy, as_of=as_of, driver=driver) as attempt:
        attempt.report.model = embedder.model
        attempt.report.add("removed", 0)
        removed = _CHUNK
        while removed == _CHUNK:
            with store.transaction(tenant_id) as conn:
                params = {"tenant": tenant_id, "limit": _CHUNK}
                removed = conn.execute(queries("reembed")["remove_others"], params).rowcount
                attempt.report.add("removed", removed)
                attempt.record(conn)
    yield attempt.report
