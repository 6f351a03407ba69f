"""reembed: a tenant's memory under another embedding model, while it goes on being recalled under the old one.

The new vectors are made beside the live ones. Once nothing lacks them, what is live is switched in one transaction, and
the old ones go. Killed anywhere it is run again and goes on where it was; recall never compares vectors of two models.
"""

from __future__ import annotations

from collections.abc import Iterator

from reverie.consolidate.embed.stage import embed
from reverie.errors import StageError
from reverie.store.active_model import switch_active_model
from reverie.store.queries import queries
from reverie.store.runs import Report, run
from reverie.store.work import Work

#: Rounds of catching up with what is embedded by the old model meanwhile; each is shorter than the one before.
_ROUNDS = 20
#: Old vectors removed in one transaction.
_CHUNK = 20_000


def reembed(work: Work) -> Iterator[Report]:
    """Embed everything of a tenant by the work's embedder, make its model the active one, remove the old vectors.

    Yields reports; the last one counts `switched` and `removed` vectors. The stages of the tenant must be driven with
    the new model from then on: with another one they are refused.

    Raises:
        StageError: so much was embedded by the old model all the while that it was never caught up with.
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
