"""reembed: change a tenant's embedding model, while recall goes on with the old one.

The new vectors are made beside the live ones. Once no item lacks one, the active model is switched in one transaction,
and the old vectors are removed. A killed run goes on where it stopped; recall never compares vectors of two models.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from reverie.consolidate.embed.decide import types_to_embed
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
    model; with another one they are refused. Vectors of items that the policy does not embed, and of those on which the
    new model failed, are only removed.

    Raises:
        StageError: items were embedded by the old model faster than this could catch up, or the credit of their
            subjects does not cover the new vectors.
    """
    model = work.embedder.model
    for _ in range(_ROUNDS):
        yield embed(replace(work, as_of=_latest(work)), switching=True)
        with work.transaction() as conn:
            missing = switch_active_model(conn, work.tenant_id, model, types_to_embed(work.policy))
        if not missing:
            break
    else:
        raise StageError(
            f"{missing:,} items still have no vector of {model}: stop the workers, or raise the credit of subjects "
            "that have their own, and run it again."
        )
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


def _latest(work: Work) -> datetime:
    """Return the work's time, or that of the latest item with a vector if it is later, as after a stopped clock."""
    with work.transaction() as conn:
        row = conn.execute(queries("reembed")["latest_item"], {"tenant": work.tenant_id}).fetchone()
    return max(work.as_of, row[0]) if row and row[0] else work.as_of
