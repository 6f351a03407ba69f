"""replay: a session's turns are read again, by today's policy and model (after a rule was mended, or a dead letter).

What the rules find now in addition becomes memory; what was found before stays, since it has the same ids.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import chain
from typing import Any

from reverie.drive.cycle import catch_up, ingest
from reverie.drive.drain import clearing
from reverie.errors import NotFoundError
from reverie.inference import Embedder
from reverie.inference.completions import LanguageModel
from reverie.model import Scope
from reverie.policy import Policy
from reverie.store.database import Store
from reverie.store.queries import queries
from reverie.store.runs import Report


def replay(
    store: Store,
    *,
    tenant_id: str,
    subject_id: str,
    session_id: str,
    policy: Policy,
    as_of: datetime,
    embedder: Embedder,
    language_model: LanguageModel | None = None,
    driver: str = "reverie",
) -> Iterator[Report]:
    """Read the session's turns again and work its subject in; its dead letter and its place in the queue are gone then.

    Raises:
        NotFoundError: the log has no turn of this session.
        UnansweredError: a language model that is set answered nothing; replayed again, it goes on from there.
    """
    sql, params = queries("replay"), {"tenant": tenant_id, "subject": subject_id, "session": session_id}
    with store.transaction(tenant_id) as conn:
        row = conn.execute(sql["unread"], params).fetchone()
    if row is None or not row[0]:
        raise NotFoundError(
            f"The log has no turn of session {session_id!r} of subject {subject_id!r}.", unknown=("subject", subject_id)
        )
    scope = Scope(tenant_id=tenant_id, subjects=(subject_id,))
    common: dict[str, Any] = {"scope": scope, "policy": policy, "driver": driver}
    models: dict[str, Any] = {"embedder": embedder, "language_model": language_model}
    reports = chain(ingest(store, as_of=as_of, **models, **common), catch_up(store, until=as_of, **models, **common))
    yield from clearing(store, reports, as_of=as_of, **common)
    with store.transaction(tenant_id) as conn:
        conn.execute(sql["resolve"], params)
