"""A cycle in steps is the cycle: in one go, step by step, out of order, again, and after a kill."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from reverie.consolidate.stages import STAGES
from reverie.drive.advance import advance
from reverie.drive.cycle import PARTS
from reverie.drive.maintain import Retention
from reverie.drive.steps import STEPS, standing, take_step
from reverie.inference import Embedder
from reverie.model import Scope
from reverie.policy import load_policy
from reverie.settings import load_settings
from reverie.store.database import Store
from reverie.store.digest import digest
from reverie.store.privacy.consents import ConsentChange, change_consent
from reverie.store.queue import Waiting, enqueue
from reverie.store.runs import Report
from reverie.store.session import perform
from reverie.store.work import Work
from tests.orchestration.conftest import AS_OF, forget_everything

NAMES = [step.name for step in STEPS]
BUCKETS = 4


class Stepper:
    """Takes steps of all buckets of `acme`."""

    def __init__(self, store: Store, embedder: Embedder) -> None:
        self.store, self.embedder = store, embedder

    def work(self, bucket: int = 0, at: datetime = AS_OF) -> Work:
        scope = Scope.bucket("acme", bucket, BUCKETS)
        return Work(store=self.store, scope=scope, policy=load_policy("reverie"), as_of=at, embedder=self.embedder)

    def take(self, *names: str, at: datetime = AS_OF, asked: bool = True) -> list[Report]:
        reports, retention = [], Retention.of(load_settings())
        for bucket in range(BUCKETS):
            work = self.work(bucket, at)
            for name in names:
                stands = standing(self.store, work.scope, at, name, asked=asked)
                if not (stands.waits_for or stands.is_done):
                    reports.extend(take_step(work, name, stands, retention=retention))
        return reports

    def waits_for(self, name: str, at: datetime = AS_OF, *, asked: bool = True) -> str | None:
        return standing(self.store, self.work().scope, at, name, asked=asked).waits_for

    def digest(self) -> str:
        return digest(self.store, "acme").sha256


@pytest.fixture
def stepper(log: Store, embedder: Embedder) -> Stepper:
    return Stepper(log, embedder)


def run_whole(stepper: Stepper, *times: datetime) -> str:
    """What `reverie run` makes of the log; it is forgotten again."""
    for at in times:
        work = Work(
            store=stepper.store,
            scope=Scope(tenant_id="acme"),
            policy=load_policy("reverie"),
            as_of=at,
            embedder=stepper.embedder,
        )
        for _ in advance(work):
            pass
    return stepper.digest()


def test_the_steps_are_the_stages_and_three_more() -> None:
    stages = [stage.name for stage in STAGES]
    assert [name for name in NAMES if name in stages] == stages
    assert [name for name in NAMES if name not in stages] == ["catch_up", "work_in", "maintain"]
    assert [step.after for step in STEPS] == [None, *NAMES[:-1]]
    assert all(step.summary for step in STEPS)
    assert set(PARTS) < set(stages)


# within a cycle's period, and at the end of one with its turns in the last pending cycle
@pytest.mark.parametrize("at", [AS_OF + timedelta(hours=1), datetime(2026, 3, 10, 20, tzinfo=UTC),
                                datetime(2026, 3, 11, tzinfo=UTC)])  # fmt: skip
def test_steps_alone_in_order_are_the_run(stepper: Stepper, conn: psycopg.Connection[Any], at: datetime) -> None:
    whole = run_whole(stepper, at)
    forget_everything(conn)
    for name in NAMES:
        stepper.take(name, at=at)
    assert stepper.digest() == whole
    # done steps are not done again, and a cycle that is begun again finds nothing to do
    assert stepper.take(*NAMES[1:], at=at) == []
    stepper.take(*NAMES, at=at)
    assert stepper.digest() == whole


def test_the_last_cycle_is_the_one_that_is_in_steps(stepper: Stepper) -> None:
    at = datetime(2026, 3, 11, tzinfo=UTC)
    stepper.take("extract", "embed", "signal", at=at)
    caught_up = stepper.take("catch_up", at=at)
    assert sum(report["activated"] for report in caught_up if report.stage == "merge") > 0
    assert {report.as_of for report in stepper.take("correct", "merge", at=at)} == {at}
    assert sum(report["scored"] for report in stepper.take("link", "facts", "synthesize", "compress", "score", at=at))


def test_out_of_order_nothing_changes(stepper: Stepper) -> None:
    empty = stepper.digest()
    assert {name: stepper.waits_for(name) for name in NAMES} == {"extract": None} | dict.fromkeys(NAMES[1:], "extract")
    assert stepper.take(*reversed(NAMES[1:])) == []
    assert stepper.digest() == empty
    stepper.take("extract", "embed", "signal", "catch_up", "correct")
    before = stepper.digest()
    assert stepper.take("link", "score", "prune", "decay", "maintain") == []
    assert stepper.digest() == before
    assert stepper.waits_for("score") == "merge"
    assert stepper.waits_for("merge") is None
    work = stepper.work()
    with pytest.raises(ValueError, match="not the turn of score"):
        list(
            take_step(
                work,
                "score",
                standing(work.store, work.scope, AS_OF, "score", asked=True),
                retention=Retention.of(load_settings()),
            )
        )


def test_started_by_hand_a_step_goes_on_with_what_is_open(stepper: Stepper) -> None:
    later = AS_OF + timedelta(minutes=20)
    stepper.take("extract", "embed", "signal", "catch_up", "correct")
    assert stepper.waits_for("merge", later, asked=False) is None
    assert stepper.waits_for("merge", later, asked=True) == "extract"
    stepper.take("merge", at=later, asked=False)
    assert stepper.waits_for("link", later, asked=False) is None
    stepper.take(*NAMES[NAMES.index("link") :], at=later, asked=False)
    # the cycle is over: the next begins with its first step
    assert stepper.waits_for("merge", later, asked=False) == "extract"


@pytest.mark.parametrize("killed", ["catch_up", "merge", "synthesize", "score", "decay"])
def test_a_step_that_was_killed_is_done_again(
    stepper: Stepper, conn: psycopg.Connection[Any], killed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = datetime(2026, 3, 11, tzinfo=UTC)
    whole = run_whole(stepper, at)
    forget_everything(conn)
    before = NAMES[: NAMES.index(killed)]
    stepper.take(*before, at=at)
    for bucket in range(BUCKETS):
        work = stepper.work(bucket, at)
        steps = take_step(
            work,
            killed,
            standing(work.store, work.scope, at, killed, asked=True),
            retention=Retention.of(load_settings()),
        )
        next(steps, None)
        steps.close()  # its work is done in part, and it is not marked
    assert stepper.waits_for(NAMES[NAMES.index(killed) + 1], at) == killed
    stepper.take(*NAMES[NAMES.index(killed) :], at=at)
    assert stepper.digest() == whole


def test_a_later_cycle_makes_up_for_one_that_was_left(stepper: Stepper, conn: psycopg.Connection[Any]) -> None:
    first, second = datetime(2026, 2, 9, 12, tzinfo=UTC), AS_OF
    whole = run_whole(stepper, first, second)
    forget_everything(conn)
    stepper.take("extract", "embed", "signal", "catch_up", "correct", "merge", at=first)
    stepper.take(*NAMES, at=second)
    assert stepper.digest() == whole
    # what was left is obsolete, and to go on with it changes nothing
    stepper.take(*NAMES[5:], at=first)
    assert stepper.digest() == whole


def test_what_waited_leaves_the_queue_unless_turns_came_since(stepper: Stepper, conn: psycopg.Connection[Any]) -> None:
    now = datetime.now(UTC)
    policy = load_policy("reverie")
    for session, at in (("s1", now - timedelta(hours=1)), ("s2", now)):
        waiting = [Waiting(subject_id="ana", session_id=session, said_at=AS_OF - timedelta(days=30))]
        with stepper.store.transaction("acme") as worker:
            enqueue(worker, "acme", waiting, policy=policy, at=at)
    stepper.take(*NAMES)
    assert conn.execute("select session_id from ops.queue").fetchall() == [("s2",)]


def test_what_is_past_its_retention_is_erased_first(stepper: Stepper, conn: psycopg.Connection[Any]) -> None:
    perform(change_consent(stepper.store.session("acme"), "ana", ConsentChange(retain_days=60), at=AS_OF))
    erased = [report["turns"] for report in stepper.take(*NAMES) if report.stage == "expire"]
    assert erased == [3]
    first = "select min(said_at)::date::text from log.turns where tenant_id = 'acme' and subject_id = 'ana'"
    assert conn.execute(first).fetchall() == [("2026-02-09",)]
    assert conn.execute("select kind from ops.erasures where tenant_id = 'acme'").fetchall() == [("retention",)]
    stepped = stepper.digest()
    forget_everything(conn)
    assert run_whole(stepper, AS_OF) == stepped


def test_a_subject_that_fails_is_left_out_of_the_steps_that_follow(
    stepper: Stepper, conn: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    at, linked = datetime(2026, 3, 11, tzinfo=UTC), PARTS["link"]

    def link_but_ana(work: Work) -> Any:
        names = work.scope.subjects
        rows = conn.execute("select distinct subject_id, shard from log.turns where tenant_id = 'acme'").fetchall()
        inside = {name for name, shard in rows if work.scope.shard_from <= shard < work.scope.shard_to}
        if "ana" in (inside if names is None else inside & set(names)):
            raise KeyError("ana")
        return linked(work)

    monkeypatch.setitem(PARTS, "link", link_but_ana)
    stepper.take(*NAMES, at=at)
    scored = conn.execute(
        "select subject_id from memory.memories where scored and happened_at > '2026-03-10' and tenant_id = 'acme'"
    ).fetchall()
    assert {"ben", "cyd", "dov"} >= {row[0] for row in scored} != set()
    unscored = conn.execute(
        "select distinct subject_id from memory.memories where not scored and tenant_id = 'acme' and happened_at < %s",
        [at],
    ).fetchall()
    assert unscored == [("ana",)]
