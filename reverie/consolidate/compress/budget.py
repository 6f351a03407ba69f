"""The budget of a subject's memory: memories beyond it are forgotten, the least valuable first (spec C9).

The value of a memory at a cycle follows from its peak, its last access and the policy, as its importance does. So the
same memories are forgotten whenever the cycle runs. Turns stay in the log and are recalled as before.
Source: docs/design-sources.md, Brain 7 and Contact 6.3.
"""

from __future__ import annotations

from collections import Counter

from reverie.consolidate.forgetting import forget
from reverie.language.cues.keeping import OWN_WORDS, REST
from reverie.store.locks import lock_subjects
from reverie.store.queries import queries
from reverie.store.runs import Run

#: Reason in the tombstones of memories beyond the budget.
REASON = "budget"


def keep_within_budget(attempt: Run) -> None:
    """Forget the active memories of each subject beyond the policy's number; counts `forgotten`, in all and by kind.

    Pinned memories count towards the budget and are forgotten last. A dry run only counts.
    """
    work, policy = attempt.work, attempt.work.policy
    params = work.params() | policy.fading.params()
    numbers = policy.prune
    params |= {
        "budget": numbers.budget,
        "worths": [numbers.worth[kind] for kind in policy.fading.rates],
        "worth_said": numbers.worth_said,
        "said": [OWN_WORDS, REST],
        "worth_unsure": numbers.worth_unsure,
        "worth_told": numbers.worth_told,
        "sure": policy.extract.reader.confidence,
    }
    sql = queries("compress")
    with work.transaction() as conn:
        rich = [row[0] for row in conn.execute(sql["subjects_beyond_budget"], params)]
        if not rich:
            return
        if not work.dry_run:
            lock_subjects(conn, work.tenant_id, rich)
        rows = conn.execute(sql["read_beyond_budget"], params | {"rich": rich}).fetchall()
        if not work.dry_run:
            forget(conn, attempt, [(id_, work.as_of) for _, id_, _ in rows], REASON)
        attempt.report.add("forgotten", len(rows))
        for kind, number in Counter(kind for _, _, kind in rows).items():
            attempt.report.add(f"{REASON}_{kind}", number)
        attempt.record(conn)
