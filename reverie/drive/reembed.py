"""reembed: change a tenant's embedding model, while recall goes on with the old one.

The new vectors are made beside the live ones. Once no item lacks one, the active model is switched in one transaction,
and the old vectors are removed. A killed run goes on where it stopped; recall never compares vectors of two models.
"""

from __future__ import annotations

from collections.abc import Iterator

from reverie.consolidate.embed.stage import embed
from reverie.errors import StageError
from reverie.store.active_model import switch_active_model
from reverie.store.queries import queries
from reverie.store.runs import Report, run
from reverie.store.work import Work

#: Rounds of catching up with items embedded by the old model in the meantime; each is shorter than the last.
_ROUNDS = 20
#: Old vectors removed in one transaction.
_CHUNK = 20_000


def reembed(work: Work) -> Iterator[Report]:
    """Embed everything of a tenant by the work's embedder, make its model active and remove the old vectors.

    Yields reports; the last one counts `removed` vectors. From then on the stages of the tenant must run with the new
    model; with another one they are refused.

    Raises:
        StageError: items were embedded by the old model faster than this could catch up.
    """
    model = work.embedder.model
    for _ in range(_ROUNDS):
        yield embed(work, switching=True)
        with work.transaction() as conn:
            missing = switch_active_model(conn, work.tenant_id, model)
        if not missing:
            break
    else:
        raise StageError(f"{missing:,} items still have no vector of {model}: stop the workers and run it again.")
    with run(work, "reembed") as attempt:
        attempt.report.model = model
        attempt.report.add("removed", 0)
        removed = _CHUNK
        while removed == _CHUNK:
            with work.transaction() as conn:
                params = {"tenant": work.tenant_id, "limit": _CHUNK}
                removed = conn.execute(queries("reembed")["remove_others"], params).rowcount
                attempt.report.add("removed", removed)
                attempt.record(conn)
    yield attempt.report
