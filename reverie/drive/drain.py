"""drain: sessions that went quiet become memory (the deferred tier).

A batch has the due sessions of some subjects of one tenant. It is claimed with a lease, and no transaction is open
meanwhile: new turns are extracted and embedded, then memory catches up cycle by cycle, so that a session processed
late, because no tier was running, is remembered as if it had been on time. Tenants take turns, a batch each, so none
waits for another's backlog. A worker may be killed at any point: its lease runs out and another worker goes on. An
unavailable language model makes no dead letter: rules still work, and the model is asked again until it answers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from reverie.consolidate.embed.stage import embed
from reverie.consolidate.extract.stage import extract
from reverie.consolidate.isolate import by_subject
from reverie.drive.cycle import INGEST, catch_up, tell_signals
from reverie.drive.retract import settle_retractions
from reverie.drive.tenants import NAMED, Totals
from reverie.errors import ReverieError, StageError, UnansweredError
from reverie.inference import Embedder
from reverie.inference.completions import LanguageModel
from reverie.interruption import Interrupted
from reverie.model import Scope
from reverie.policy import Policy, load_policy
from reverie.store.database import Store
from reverie.store.queue import Claimed, Lease, bury, claim, finish, postpone, renew
from reverie.store.runs import Report, Run, run
from reverie.store.tenants import read_policy_name
from reverie.store.work import Work

#: Subjects of a batch; it limits the delay by a crash, and the time for which a tenant lets the others wait.
BATCH = 100
#: Time after which a silent worker loses its batch; a running worker renews its lease.
LEASE = timedelta(minutes=10)
#: Pause after the first failure; each later one is four times as long, up to 17 hours, so that five attempts span 85
#: minutes.
PAUSE = timedelta(minutes=1)
_LONGER = 4
_LONGEST = 5

Clock = Callable[[], datetime]


@dataclass(kw_only=True)
class Drained:
    """The result of a drain: ids of tenants and counts, no user text."""

    #: Totals of the stages, over all batches.
    totals: Totals = field(default_factory=Totals)
    #: Counts by tenant: batches, subjects, sessions, kept (for later turns), failed, dead, seconds, and
    #: longest_wait_seconds (of a session, since it was due).
    tenants: dict[str, dict[str, float]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(float)))
    #: Latest reason, by tenant, why a batch failed or went without the language model.
    reasons: dict[str, str] = field(default_factory=dict)

    def rows(self) -> list[dict[str, str | float]]:
        """Return a row per tenant, with its reason if it has one, for an orchestrator to show."""
        names = ("sessions", "subjects", "kept", "failed", "dead", "batches", "seconds")
        return [
            {"tenant": tenant_id} | {name: counts[name] for name in names} | {"reason": self.reasons.get(tenant_id, "")}
            for tenant_id, counts in sorted(self.tenants.items())
        ]

    def counts(self) -> dict[str, int | float]:
        """Return the sums over tenants, flat, for an orchestrator to show."""
        sums: dict[str, int | float] = {"tenants": len(self.tenants)}
        for name in ("batches", "subjects", "sessions", "kept", "failed", "dead"):
            sums[name] = int(sum(counts[name] for counts in self.tenants.values()))
        longest = max((counts["longest_wait_seconds"] for counts in self.tenants.values()), default=0.0)
        seconds = sum(counts["seconds"] for counts in self.tenants.values())
        return sums | {"seconds": round(seconds, 3), "longest_wait_seconds": round(longest, 3)}


@dataclass(frozen=True, kw_only=True, slots=True)
class Drainer:
    """Consolidates due sessions, in rounds over the tenants."""

    store: Store
    embedder: Embedder
    #: Language model; None: rules only.
    language_model: LanguageModel | None = None
    #: Clock for the ends of leases.
    clock: Clock
    driver: str = "reverie"
    #: Subjects of a batch.
    batch: int = BATCH

    def drain(
        self,
        *,
        as_of: datetime | None = None,
        most: int | None = None,
        stop: Callable[[], bool] = lambda: False,
        on_batch: Callable[[Drained], None] | None = None,
    ) -> Drained:
        """Consolidate until nothing is due, `most` sessions are done, or `stop` returns true between two batches.

        `as_of` is the logical time, by default the clock's at each batch; `on_batch` is called after each batch.

        Raises:
            StageError: every batch failed; it names tenants and reasons. A failed session is tried again after a pause
                and becomes a dead letter after the policy's attempts; a model that does not answer uses up none.
        """
        drained, busy = Drained(), True
        while busy:
            busy = False
            for tenant_id, _, _ in self.store.waiting_tenants(as_of or self.clock(), self.clock()):
                if stop() or (most is not None and drained.counts()["sessions"] >= most):
                    return drained
                if _Batch(self, tenant_id, as_of or self.clock()).work(drained):
                    busy = True
                    if on_batch is not None:
                        on_batch(drained)
        counts = drained.counts()
        if counts["failed"] and not counts["sessions"] + counts["kept"]:
            named = "; ".join(f"{tenant_id}: {reason}" for tenant_id, reason in list(drained.reasons.items())[:NAMED])
            raise StageError(f"All {counts['failed']:,} sessions that were tried failed. {named}")
        return drained


class _Batch:
    """One batch of a tenant."""

    def __init__(self, drainer: Drainer, tenant_id: str, as_of: datetime) -> None:
        self._drainer = drainer
        self._store = drainer.store
        self._clock = drainer.clock
        self._tenant_id = tenant_id
        self._as_of = as_of
        self._until = drainer.clock() + LEASE
        #: Error of a language model that answered about no turn; the rest goes on.
        self._unanswered: UnansweredError | None = None

    def work(self, drained: Drained) -> bool:
        """Claim and consolidate a batch; return whether there was one."""
        with self._store.transaction(self._tenant_id) as conn:
            name = read_policy_name(conn, self._tenant_id)
            lease = claim(
                conn, self._tenant_id, as_of=self._as_of, at=self._clock(), until=self._until, limit=self._drainer.batch
            )
        if lease is None:
            return False
        counts, policy = drained.tenants[self._tenant_id], None
        counts["batches"] += 1
        waited = max((self._as_of - session.due_at).total_seconds() for session in lease.sessions)
        counts["longest_wait_seconds"] = max(counts["longest_wait_seconds"], waited)
        try:
            policy = load_policy(name or "reverie")
            lease = self._without_the_spent(lease, policy, counts)
            for report in self._work_in(lease, policy) if lease.sessions else ():
                drained.totals.add(report)
                if report.stage == "drain":
                    for count in ("subjects", "sessions", "kept"):
                        counts[count] += report[count]
                    counts["seconds"] += report.seconds
        except Interrupted:
            self._give_back(lease, None, "The worker was asked to end.", counts)
            raise
        except Exception as error:
            # only our own errors are known to carry no user text
            reason = str(error) if isinstance(error, ReverieError) else type(error).__name__
            drained.reasons[self._tenant_id] = reason
            counts["failed"] += len(lease.sessions)
            self._give_back(lease, None if isinstance(error, UnansweredError) else policy, reason, counts)
        else:
            if self._unanswered is not None:
                drained.reasons[self._tenant_id] = str(self._unanswered)
        return True

    def _work_in(self, lease: Lease, policy: Policy) -> Iterator[Report]:
        work = Work(
            store=self._store,
            scope=Scope(tenant_id=lease.tenant_id, subjects=lease.subjects),
            policy=policy,
            as_of=self._as_of,
            embedder=self._drainer.embedder,
            language_model=self._drainer.language_model,
            driver=self._drainer.driver,
            progress=lambda _stage, _number: self._keep(lease),
        )
        with run(work, "drain") as attempt:
            for report in self._stages(work):
                yield report
                self._keep(lease)
            self._finish(attempt, lease)
        yield attempt.report

    def _stages(self, work: Work) -> Iterator[Report]:
        def read_and_embed(part: Scope) -> Iterator[Report]:
            of_part = replace(work, scope=part)
            try:
                extracted = extract(of_part)
            except UnansweredError as error:  # its turns wait in the log; the session is remembered by rules
                self._unanswered = error
            else:
                yield extracted
            yield embed(of_part)
            yield from tell_signals(of_part)

        yield from settle_retractions(work)
        yield from by_subject(work.store, work.scope, INGEST, read_and_embed)
        yield from catch_up(work)

    def _finish(self, attempt: Run, lease: Lease) -> None:
        with self._store.transaction(lease.tenant_id) as conn:
            done, kept = finish(conn, lease, as_of=self._as_of)
            report = attempt.report
            report.add("subjects", len(lease.subjects))
            report.add("sessions", done)
            report.add("kept", kept)
            report.add("turns", sum(one.turns for one in lease.sessions))
            attempt.record(conn)

    def _keep(self, lease: Lease) -> None:
        """Renew the lease after half of its time; raise if it ran out and another worker has taken the batch."""
        now = self._clock()
        if self._until - now > LEASE / 2:
            return
        self._until = now + LEASE
        with self._store.transaction(lease.tenant_id) as conn:
            if not renew(conn, lease, until=self._until):
                raise StageError("The lease ran out, and other workers have taken these sessions.")

    def _without_the_spent(self, lease: Lease, policy: Policy, counts: dict[str, float]) -> Lease:
        """Bury the sessions whose workers died in all attempts that the policy allows; return the others."""
        spent, left = _apart(lease, lambda session: session.attempts > policy.queue.attempts)
        self._bury(spent, [session.error or "Its worker died each time." for session in spent.sessions], counts)
        return left

    def _give_back(self, lease: Lease, policy: Policy | None, reason: str, counts: dict[str, float]) -> None:
        """Postpone failed sessions, or bury them after the policy's attempts; without a policy it counts as no attempt.

        So neither an unreadable policy nor an unavailable model ever makes a dead letter.
        """
        spent, left = _apart(lease, lambda session: policy is not None and session.attempts >= policy.queue.attempts)
        self._bury(spent, [reason] * len(spent.sessions), counts)
        if left.sessions:
            due_at = [self._as_of + PAUSE * _LONGER ** min(session.attempts - 1, _LONGEST) for session in left.sessions]
            with self._store.transaction(lease.tenant_id) as conn:
                postpone(conn, left, due_at, reason, attempted=policy is not None)

    def _bury(self, lease: Lease, reasons: Sequence[str], counts: dict[str, float]) -> None:
        if lease.sessions:
            details = [
                f"Session {session.session_id} of {session.subject_id} could not be consolidated in "
                f"{session.attempts} attempts. {reason}"
                for session, reason in zip(lease.sessions, reasons, strict=True)
            ]
            with self._store.transaction(lease.tenant_id) as conn:
                counts["dead"] += bury(conn, lease, details)


def _apart(lease: Lease, is_spent: Callable[[Claimed], bool]) -> tuple[Lease, Lease]:
    """Split the lease into the sessions for which `is_spent` is true, and the others."""
    spent = tuple(session for session in lease.sessions if is_spent(session))
    left = tuple(session for session in lease.sessions if session not in spent)
    return replace(lease, sessions=spent), replace(lease, sessions=left)
