"""drain: sessions that went quiet become memory (the deferred tier).

A batch is what is due of some subjects of one tenant. It is claimed with a lease and no transaction is open while it is
worked in: extract and embed what is new, then catch up cycle by cycle, so that a session worked in late, because no
tier was running, is remembered as if it had been on time. Tenants take turns, a batch each, so that none waits for
another's backlog. Whoever drives this may be killed anywhere: the lease runs out and another goes on. A language model
that is away makes no dead letter: what a rule finds is worked in, and what only it can do is tried again until it can.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from reverie.consolidate.embed.stage import embed
from reverie.consolidate.extract.stage import extract
from reverie.consolidate.isolate import by_subject
from reverie.drive.cycle import INGEST, catch_up
from reverie.drive.tenants import NAMED, Totals
from reverie.errors import ReverieError, StageError, UnansweredError
from reverie.inference import Embedder
from reverie.inference.completions import LanguageModel
from reverie.interruption import Interrupted
from reverie.model import Scope
from reverie.policy import Policy, load_policy
from reverie.store.database import Store
from reverie.store.queries import queries
from reverie.store.queue import Claimed, Lease, bury, claim, clear, finish, postpone, read_waiting, renew
from reverie.store.runs import Report, Run, run

#: Subjects of a batch: what a crash can delay, and how long a tenant lets the others wait.
BATCH = 100
#: How long a worker that is not heard of keeps its batch; one that works renews it.
LEASE = timedelta(minutes=10)
#: Pause after the first failure; each one after that is four times as long, so that five attempts span 85 minutes, and
#: none is longer than 17 hours.
PAUSE = timedelta(minutes=1)
_LONGER = 4
_LONGEST = 5

Clock = Callable[[], datetime]


@dataclass(kw_only=True)
class Drained:
    """What a drain did: ids of tenants and counts, nothing that anybody said."""

    #: Of the stages, over all batches.
    totals: Totals = field(default_factory=Totals)
    #: By tenant: batches, subjects, sessions, kept (for newer turns), failed, dead, seconds, longest_wait_seconds (of a
    #: session, since it was due).
    tenants: dict[str, dict[str, float]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(float)))
    #: Why batches failed, or went without the language model, by tenant; the latest reason of each.
    reasons: dict[str, str] = field(default_factory=dict)

    def rows(self) -> list[dict[str, str | float]]:
        """Return a row a tenant, with its reason if it has one: what an orchestrator shows."""
        names = ("sessions", "subjects", "kept", "failed", "dead", "batches", "seconds")
        return [
            {"tenant": tenant_id} | {name: one[name] for name in names} | {"reason": self.reasons.get(tenant_id, "")}
            for tenant_id, one in sorted(self.tenants.items())
        ]

    def counts(self) -> dict[str, int | float]:
        """Return the sums over tenants, flat: what an orchestrator shows."""
        sums: dict[str, int | float] = {"tenants": len(self.tenants)}
        for name in ("batches", "subjects", "sessions", "kept", "failed", "dead"):
            sums[name] = int(sum(one[name] for one in self.tenants.values()))
        longest = max((one["longest_wait_seconds"] for one in self.tenants.values()), default=0.0)
        seconds = sum(one["seconds"] for one in self.tenants.values())
        return sums | {"seconds": round(seconds, 3), "longest_wait_seconds": round(longest, 3)}


def drain(
    store: Store,
    *,
    embedder: Embedder,
    language_model: LanguageModel | None = None,
    clock: Clock,
    as_of: datetime | None = None,
    most: int | None = None,
    driver: str = "reverie",
    batch: int | None = None,
    stop: Callable[[], bool] = lambda: False,
    on_batch: Callable[[Drained], None] | None = None,
) -> Drained:
    """Work in whatever is due, round by round over the tenants, until nothing is.

    `clock` says when leases end; `as_of` is the logical time, by default the clock's at each batch; `most` sessions end
    it earlier, and so does `stop`, between two batches. `on_batch` hears of each batch that ended.

    Raises:
        StageError: every batch failed; it names tenants and reasons. What failed is tried again after a pause and, once
            the policy's attempts are used up, is a dead letter; a model that does not answer uses up none.
    """
    drained, busy = Drained(), True
    while busy:
        busy = False
        for tenant_id, _, _ in store.waiting_tenants(as_of or clock(), clock()):
            if stop() or (most is not None and drained.counts()["sessions"] >= most):
                return drained
            one = _Batch(store, tenant_id, clock, as_of or clock(), embedder, language_model, driver)
            if one.work(drained, batch or BATCH):
                busy = True
                if on_batch is not None:
                    on_batch(drained)
    counts = drained.counts()
    if counts["failed"] and not counts["sessions"] + counts["kept"]:
        named = "; ".join(f"{tenant_id}: {reason}" for tenant_id, reason in list(drained.reasons.items())[:NAMED])
        raise StageError(f"All {counts['failed']:,} sessions that were tried failed. {named}")
    return drained


def clearing(
    store: Store,
    reports: Iterable[Report],
    *,
    scope: Scope,
    policy: Policy,
    as_of: datetime,
    driver: str = "reverie",
) -> Iterator[Report]:
    """Yield the reports of another tier that works everything up to `as_of` in; then what waited leaves the queue.

    So the periodic tier clears the queue where no deferred one runs. `reports` must do its work as it is read: what
    waits is noted first, and a session that gets turns in the meantime stays.
    """
    with store.transaction(scope.tenant_id) as conn:
        waiting = read_waiting(conn, scope, as_of=as_of)
    yield from reports
    if not waiting["waiting_subjects"]:
        return
    with (
        run(store, "drain", scope=scope, policy=policy, as_of=as_of, driver=driver) as attempt,
        store.transaction(scope.tenant_id) as conn,
    ):
        attempt.report.add("sessions", clear(conn, scope.tenant_id, waiting, as_of=as_of))
        attempt.record(conn)
    yield attempt.report


class _Batch:
    """One tenant's turn."""

    def __init__(
        self,
        store: Store,
        tenant_id: str,
        clock: Clock,
        as_of: datetime,
        embedder: Embedder,
        language_model: LanguageModel | None,
        driver: str,
    ) -> None:
        self._store = store
        self._tenant_id = tenant_id
        self._clock = clock
        self._as_of = as_of
        self._embedder = embedder
        self._language_model = language_model
        self._driver = driver
        self._until = clock() + LEASE
        #: That the language model answered about no turn; the rest goes on.
        self._away: UnansweredError | None = None

    def work(self, drained: Drained, limit: int) -> bool:
        """Claim and work in a batch; returns whether there was one."""
        with self._store.transaction(self._tenant_id) as conn:
            name = conn.execute(queries("tenants")["read_policy"], {"tenant": self._tenant_id}).fetchone()
            lease = claim(conn, self._tenant_id, as_of=self._as_of, at=self._clock(), until=self._until, limit=limit)
        if lease is None:
            return False
        found, policy = drained.tenants[self._tenant_id], None
        found["batches"] += 1
        waited = max((self._as_of - one.due_at).total_seconds() for one in lease.sessions)
        found["longest_wait_seconds"] = max(found["longest_wait_seconds"], waited)
        try:
            policy = load_policy(name[0] if name else "reverie")
            lease = self._without_the_spent(lease, policy, found)
            for report in self._work_in(lease, policy) if lease.sessions else ():
                drained.totals.add(report)
                if report.stage == "drain":
                    for count in ("subjects", "sessions", "kept"):
                        found[count] += report[count]
                    found["seconds"] += report.seconds
        except Interrupted:
            self._give_back(lease, None, "The worker was asked to end.", found)
            raise
        except Exception as error:
            # only our own errors are known to carry no user text
            reason = str(error) if isinstance(error, ReverieError) else type(error).__name__
            drained.reasons[self._tenant_id] = reason
            found["failed"] += len(lease.sessions)
            self._give_back(lease, None if isinstance(error, UnansweredError) else policy, reason, found)
        else:
            if self._away is not None:
                drained.reasons[self._tenant_id] = str(self._away)
        return True

    def _work_in(self, lease: Lease, policy: Policy) -> Iterator[Report]:
        scope = Scope(tenant_id=lease.tenant_id, subjects=lease.subjects)
        common: dict[str, Any] = {"scope": scope, "policy": policy, "driver": self._driver}
        with run(self._store, "drain", as_of=self._as_of, **common) as attempt:
            for report in self._stages(lease, common):
                yield report
                self._keep(lease)
            self._finish(attempt, lease)
        yield attempt.report

    def _stages(self, lease: Lease, common: dict[str, Any]) -> Iterator[Report]:
        store, embedder, at = self._store, self._embedder, self._as_of
        model: dict[str, Any] = {"language_model": self._language_model}
        common = common | {"on_progress": lambda *_: self._keep(lease)}

        def read_and_embed(part: Scope) -> Iterator[Report]:
            of_part = common | {"scope": part, "as_of": at}
            try:
                read = extract(store, count_tokens=embedder.count_tokens, **model, **of_part)
            except UnansweredError as error:  # its turns wait in the log; the session is remembered by rule
                self._away = error
            else:
                yield read
            yield embed(store, embedder=embedder, **of_part)

        yield from by_subject(store, common["scope"], INGEST, read_and_embed)
        yield from catch_up(store, until=at, embedder=embedder, **model, **common)

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
        """Renew the lease when half of it is over; raise when another has taken the batch since it ran out."""
        now = self._clock()
        if self._until - now > LEASE / 2:
            return
        self._until = now + LEASE
        with self._store.transaction(lease.tenant_id) as conn:
            if not renew(conn, lease, until=self._until):
                raise StageError("The lease ran out, and others have taken these sessions.")

    def _without_the_spent(self, lease: Lease, policy: Policy, found: dict[str, float]) -> Lease:
        """Bury the sessions whose workers died as often as the policy lets it be tried; return the others."""
        spent, left = _apart(lease, lambda one: one.attempts > policy.queue.attempts)
        self._bury(spent, [one.error or "Its worker died each time." for one in spent.sessions], found)
        return left

    def _give_back(self, lease: Lease, policy: Policy | None, reason: str, found: dict[str, float]) -> None:
        """Let what failed be tried again after a pause, or bury it by the policy; without one this was no attempt.

        So neither a policy that cannot be read nor a model that is away ever makes a dead letter.
        """
        spent, left = _apart(lease, lambda one: policy is not None and one.attempts >= policy.queue.attempts)
        self._bury(spent, [reason] * len(spent.sessions), found)
        if left.sessions:
            due_at = [self._as_of + PAUSE * _LONGER ** min(one.attempts - 1, _LONGEST) for one in left.sessions]
            with self._store.transaction(lease.tenant_id) as conn:
                postpone(conn, left, due_at, reason, attempted=policy is not None)

    def _bury(self, lease: Lease, reasons: Sequence[str], found: dict[str, float]) -> None:
        if lease.sessions:
            details = [
                f"Session {one.session_id} of {one.subject_id} could not be worked in, {one.attempts} times. {reason}"
                for one, reason in zip(lease.sessions, reasons, strict=True)
            ]
            with self._store.transaction(lease.tenant_id) as conn:
                found["dead"] += bury(conn, lease, details)


def _apart(lease: Lease, is_spent: Callable[[Claimed], bool]) -> tuple[Lease, Lease]:
    """The sessions of which it is true, and the others."""
    spent = tuple(one for one in lease.sessions if is_spent(one))
    left = tuple(one for one in lease.sessions if one not in spent)
    return replace(lease, sessions=spent), replace(lease, sessions=left)
