"""Spans and metrics. While they are off, the default, every span is one shared object that does nothing.

This module does not import OpenTelemetry: `starting` sets the recorder of `export` if the environment asks for it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import wraps
from types import TracebackType
from typing import Any, ParamSpec, Protocol, TypeVar

from reverie.telemetry import names

#: Key of the tenant in the scope of a request, set once the request's API key is known.
TENANT_KEY = "reverie.tenant"

P = ParamSpec("P")
R = TypeVar("R")

#: Values of attributes: names, counts and times, never a text of a conversation.
SpanAttributes = Mapping[str, str | int | float | bool]


class OpenSpan(Protocol):
    """An open span."""

    def set(self, attributes: SpanAttributes) -> None:
        """Add attributes."""

    def rename(self, name: str) -> None:
        """Rename the span."""

    def fail(self, kind: str) -> None:
        """Record a failure by the kind of the error; never its message, which may quote what somebody said."""


class Recorder(Protocol):
    """A destination of spans and measurements."""

    def span(self, name: str, attributes: SpanAttributes, *, kind: str) -> AbstractContextManager[OpenSpan]:
        """Return a span for a `with` block; an error marks it as failed. `kind`: internal, client or server."""

    def called_by(self, headers: Mapping[str, str]) -> AbstractContextManager[None]:
        """Make the block part of the trace that a request's headers name, if they name one."""

    def record_value(self, metric: str, value: float, attributes: SpanAttributes) -> None:
        """Add a value to a metric."""


class _Nothing:
    """The span while telemetry is off."""

    __slots__ = ()

    def set(self, attributes: SpanAttributes) -> None:
        """Drop the attributes."""

    def rename(self, name: str) -> None:
        """Drop the name."""

    def fail(self, kind: str) -> None:
        """Drop the failure."""

    def __enter__(self) -> OpenSpan:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None


_NOTHING = _Nothing()
_NO_ATTRIBUTES: SpanAttributes = {}
_recorder: Recorder | None = None


def record_to(recorder: Recorder | None) -> None:
    """Send spans and measurements to a recorder; None: nowhere."""
    global _recorder
    _recorder = recorder


def recorder() -> Recorder | None:
    """Return the recorder; None if telemetry is off."""
    return _recorder


def recording() -> bool:
    """Tell whether anything is recorded, so that attributes are worth computing."""
    return _recorder is not None


def span(
    name: str, attributes: SpanAttributes = _NO_ATTRIBUTES, *, kind: str = "internal"
) -> AbstractContextManager[OpenSpan]:
    """Return a span for a `with` block."""
    return _NOTHING if _recorder is None else _recorder.span(name, attributes, kind=kind)


def record_value(metric: str, value: float, attributes: SpanAttributes = _NO_ATTRIBUTES) -> None:
    """Add a value to a metric of `names`."""
    if _recorder is not None:
        _recorder.record_value(metric, value, attributes)


@contextmanager
def model_span(operation: str, model: str) -> Iterator[OpenSpan]:
    """Open a span for a model call (`operation`: `chat` or `embeddings`), and measure it.

    `model` is the model's key. A key such as `litellm/openai/gpt-4o-mini` names a provider; for others it is `reverie`.
    """
    if _recorder is None:
        yield _NOTHING
        return
    labels = _model_labels(operation, model)
    began = time.perf_counter()
    with span(f"{operation} {labels[names.REQUEST_MODEL]}", labels, kind="client") as current:
        yield current
    record_value(names.OPERATION_SECONDS, time.perf_counter() - began, labels)


def measure_tokens(model: str, tokens_in: int, tokens_out: int) -> None:
    """Record the number of tokens that a language model read and wrote."""
    if _recorder is not None:
        labels = _model_labels("chat", model)
        record_value(names.TOKEN_USAGE, tokens_in, labels | {names.TOKEN_TYPE: "input"})
        record_value(names.TOKEN_USAGE, tokens_out, labels | {names.TOKEN_TYPE: "output"})


def _model_labels(operation: str, model: str) -> dict[str, str]:
    adapter, _, rest = model.partition("/")
    provider, _, name = rest.partition("/") if adapter == "litellm" else ("reverie", "", model)
    return {names.OPERATION: operation, names.PROVIDER: provider, names.REQUEST_MODEL: name or rest}


def spanned(
    name: str, attributes: SpanAttributes, results: Callable[[R], SpanAttributes]
) -> Callable[[Callable[P, Coroutine[Any, Any, R]]], Callable[P, Coroutine[Any, Any, R]]]:
    """Return a decorator that makes each call of a coroutine function a span, with attributes of its result."""

    def decorate(function: Callable[P, Coroutine[Any, Any, R]]) -> Callable[P, Coroutine[Any, Any, R]]:
        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> Coroutine[Any, Any, R]:
            return function(*args, **kwargs) if _recorder is None else told(*args, **kwargs)

        async def told(*args: P.args, **kwargs: P.kwargs) -> R:
            with span(name, attributes) as current:
                result = await function(*args, **kwargs)
                current.set(results(result))
                return result

        return call

    return decorate
