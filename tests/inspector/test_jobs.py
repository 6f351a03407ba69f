"""Jobs beside the requests."""

from __future__ import annotations

from datetime import UTC, datetime
from threading import Event

import pytest

from reverie.errors import ConflictError, InputError
from reverie.inspector.jobs import Jobs

AT = datetime(2026, 1, 1, tzinfo=UTC)


def test_one_job_a_tenant_at_a_time() -> None:
    jobs, go = Jobs(), Event()
    job = jobs.start("acme", "diff", 1, AT, lambda: go.wait(20))
    assert job.is_running and job.result is None and job.error is None
    with pytest.raises(ConflictError, match="diff of generation 1 is running"):
        jobs.start("acme", "publish", 2, AT, lambda: None)
    go.set()
    job.future.result(20)
    assert jobs.last("acme") is job and job.result is True
    assert jobs.last("globex") is None
    jobs.end()


def test_a_failure_is_told_and_quotes_nobody() -> None:
    def refuse() -> None:
        raise InputError("There is no such generation.")

    def break_down() -> None:
        raise ValueError("Ann said something")

    jobs = Jobs()
    ours = jobs.start("acme", "diff", 1, AT, refuse)
    theirs = jobs.start("globex", "diff", 1, AT, break_down)
    assert theirs.future.exception(20) is not None
    jobs.end()
    assert ours.error == "There is no such generation." and ours.result is None
    assert theirs.error is not None and "Ann" not in theirs.error and "ValueError" in theirs.error
