"""Failures of tasks and flows by a user's mistake, reported in one sentence."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

from prefect.client.schemas import State
from prefect.states import Failed

from resources.connections import MISTAKES

P = ParamSpec("P")
R = TypeVar("R")


def without_traceback(record: logging.LogRecord) -> bool:
    """Keep a log record, but drop the traceback of a user's mistake, which does not help the user."""
    if record.exc_info and isinstance(record.exc_info[1], MISTAKES):
        record.exc_info, record.exc_text = None, None
    return True


# The process of a run logs a failed run's error once more, with its traceback, after the run has ended.
logging.getLogger("prefect.flow_runs").addFilter(without_traceback)


def in_one_sentence(function: Callable[P, R]) -> Callable[P, R]:
    """Let a task or flow end in a failed state with the message of a user's mistake. Other errors are raised.

    If the function raised the mistake instead, Prefect would log a traceback. A call of a task returns the state, to
    be passed to `checked`; a call of a flow from Python raises the mistake.
    """

    @wraps(function)
    def run(*arguments: P.args, **named: P.kwargs) -> R:
        try:
            return function(*arguments, **named)
        except MISTAKES as error:
            failed: Any = Failed(message=str(error), data=error)
            return cast("R", failed)

    return run


def checked(result: R) -> R:
    """Return the result of a task, or raise the mistake that it ended in."""
    if isinstance(result, State):
        result.result()
    return result
