"""replay: a session's turns are read again, by today's policy and model (after a rule was mended, or a dead letter).

What the rules find now in addition becomes memory; what was found before stays, since it has the same ids.
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
    """Read a session's turns again and work its subject in; its dead letter and its place in the queue are gone then.

    Raises:
        NotFoundError: the log has no turn of this session.
        UnansweredError: the language model answered nothing; replayed again, it goes on from there.
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
