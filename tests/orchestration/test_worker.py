"""`make worker` outlives an outage of the Prefect server or the database."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from deployments import worker
from reverie.store.database import Store

Serve = Callable[[list[BaseException | None]], None]
#: Prefect's own after three polls that failed.
OUTAGE = ExceptionGroup("unhandled errors in a TaskGroup", [RuntimeError("Service exceeded error threshold.")])


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Serve:
    """Let each call of Prefect's `serve` end in the next of these ways."""
    monkeypatch.setattr(worker, "served", list)
    monkeypatch.setattr(worker, "EVERY", timedelta(milliseconds=1))

    def replace(ends: list[BaseException | None]) -> None:
        def run(**_: object) -> None:
            if (error := ends.pop(0)) is not None:
                raise error

        monkeypatch.setattr("prefect.serve", run)

    return replace


def test_it_serves_again_after_an_outage(
    serve: Serve, store: Store, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    serve(ends := [OUTAGE, None])
    answers = [False, False, True]
    monkeypatch.setattr(worker, "is_answering", lambda *_: answers.pop(0))
    worker.serve_flows("http://127.0.0.1:1/api", store)
    assert (ends, answers) == ([], [])
    assert capsys.readouterr().err == "The Prefect server or the database fails; waiting until both answer.\n"


def test_another_error_ends_it(serve: Serve, store: Store) -> None:
    serve([ValueError("wrong")])
    with pytest.raises(ValueError, match="wrong"):
        worker.serve_flows("http://127.0.0.1:1/api", store)


def test_a_server_that_is_down_does_not_answer(store: Store) -> None:
    assert not worker.is_answering("http://127.0.0.1:1/api", store)
