"""replay: extract one session again with the current policy and models.

It is for use after a fix of a rule, or for a dead letter. New candidates become memory; earlier ones stay, since they
have the same ids.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from reverie.drive.advance import advance
from reverie.errors import NotFoundError
from reverie.store.queries import queries
from reverie.store.runs import Report
from reverie.store.work import Work


def replay(work: Work, *, subject_id: str, session_id: str) -> Iterator[Report]:
    """Extract a session again and consolidate its subject; this removes its dead letter and its place in the queue.

    Raises:
        NotFoundError: the log has no turn of this session.
        UnansweredError: the language model answered nothing; another replay goes on from there.
    """
    sql, params = queries("replay"), {"tenant": work.tenant_id, "subject": subject_id, "session": session_id}
    with work.transaction() as conn:
        row = conn.execute(sql["unread"], params).fetchone()
    if row is None or not row[0]:
        raise NotFoundError(
            f"The log has no turn of session {session_id!r} of subject {subject_id!r}.", unknown=("subject", subject_id)
        )
    yield from advance(replace(work, scope=replace(work.scope, subjects=(subject_id,))))
    with work.transaction() as conn:
        conn.execute(sql["resolve"], params)
