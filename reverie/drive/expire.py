"""expire: erase what is older than the retention to which its subject agreed (docs/erasing.md).

It runs before turns are extracted, so that the same run makes the subject's memory again from the rest.
"""

from __future__ import annotations

from collections.abc import Iterator

from reverie.drive.erase.erasing import Eraser
from reverie.drive.erase.targets import retention_target
from reverie.store.clock import tenant_time
from reverie.store.privacy.consents import overdue_subjects
from reverie.store.runs import Report, run
from reverie.store.work import Work


def expire(work: Work) -> Iterator[Report]:
    """Erase what is past its subject's retention at midnight UTC before `as_of`; counts `subjects` and `turns`.

    Each subject is erased in its own transaction, with a receipt. If nothing is too old, nothing is yielded.
    """
    if work.dry_run:
        return
    at = tenant_time(work.store, work.tenant_id, work.as_of)
    with work.transaction() as conn:
        overdue = overdue_subjects(conn, work.scope, at)
    if not overdue:
        return
    eraser = Eraser(
        store=work.store,
        tenant_id=work.tenant_id,
        policy=work.policy,
        count_tokens=lambda text: work.embedder.count_tokens(text),
        at=at,
    )
    with run(work, "expire") as attempt:
        for subject_id, before in overdue:
            erased = eraser.erase(retention_target(subject_id, before))
            attempt.report.add("subjects")
            attempt.report.add("turns", erased.turns)
        with work.transaction() as conn:
            attempt.record(conn)
    yield attempt.report
