"""Spans and metrics by OTLP over HTTP: OpenTelemetry's own exporters, configured by its own environment variables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from opentelemetry.context import Context, attach, detach
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricReader, PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span as OtelSpan
from opentelemetry.trace import SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

import reverie
from reverie.telemetry import names
from reverie.telemetry.spans import OpenSpan, SpanAttributes

_UNITS = {
    names.REQUEST_SECONDS: "s",
    names.OPERATION_SECONDS: "s",
    names.STAGE_SECONDS: "s",
    names.TOKEN_USAGE: "{token}",
}
_KINDS = {"internal": SpanKind.INTERNAL, "client": SpanKind.CLIENT, "server": SpanKind.SERVER}


class OtelRecorder:
    """A recorder for OpenTelemetry. It has its own providers, so that nothing else of the process is exported."""

    def __init__(self, processor: SpanProcessor | None = None, reader: MetricReader | None = None) -> None:
        """Export by OTLP in batches, from a background thread and once more when the process ends."""
        # OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES override our attributes if they name the service
        own = Resource({"service.name": "reverie", "service.version": reverie.__version__})
        resource = own.merge(Resource.create()) if _is_named() else Resource.create().merge(own)
        self._traces = TracerProvider(resource=resource)
        self._traces.add_span_processor(processor or BatchSpanProcessor(OTLPSpanExporter()))
        readers = [reader or PeriodicExportingMetricReader(OTLPMetricExporter())]
        self._meters = MeterProvider(readers, resource=resource)
        self._tracer = self._traces.get_tracer("reverie", reverie.__version__)
        meter = self._meters.get_meter("reverie", reverie.__version__)
        self._histograms = {metric: meter.create_histogram(metric, unit) for metric, unit in _UNITS.items()}
        self._items = meter.create_counter(names.STAGE_ITEMS, "{item}")
        self._callers = TraceContextTextMapPropagator()

    @contextmanager
    def span(self, name: str, attributes: SpanAttributes, *, kind: str) -> Iterator[OpenSpan]:
        """Open a span under the current one."""
        # an error's message may quote what somebody said, so the SDK must not record it
        with self._tracer.start_as_current_span(
            name,
            attributes=dict(attributes),
            kind=_KINDS[kind],
            record_exception=False,
            set_status_on_exception=False,
        ) as current:
            told = _Told(current)
            try:
                yield told
            except Exception as error:
                told.fail(type(error).__name__)
                raise

    @contextmanager
    def called_by(self, headers: Mapping[str, str]) -> Iterator[None]:
        """Make the block part of the trace that a request's headers name, if they name one."""
        context: Context = self._callers.extract(headers)
        token = attach(context)
        try:
            yield
        finally:
            detach(token)

    def record_value(self, metric: str, value: float, attributes: SpanAttributes) -> None:
        """Add a value to a histogram, or to the counter."""
        if metric == names.STAGE_ITEMS:
            self._items.add(value, dict(attributes))
        else:
            self._histograms[metric].record(value, dict(attributes))

    def flush(self) -> None:
        """Send what is pending."""
        self._traces.force_flush()
        self._meters.force_flush()

    def close(self) -> None:
        """Send what is pending, and end the threads."""
        self._traces.shutdown()
        self._meters.shutdown()


class _Told:
    """An open span of OpenTelemetry."""

    def __init__(self, current: OtelSpan) -> None:
        self._current = current

    def set(self, attributes: SpanAttributes) -> None:
        """Add attributes."""
        self._current.set_attributes(dict(attributes))

    def rename(self, name: str) -> None:
        """Rename the span."""
        self._current.update_name(name)

    def fail(self, kind: str) -> None:
        """Set the status to error, and record the kind of the error."""
        self._current.set_attribute(names.ERROR_TYPE, kind)
        self._current.set_status(Status(StatusCode.ERROR))


def _is_named() -> bool:
    """Tell whether the environment names the service."""
    name: Any = Resource.create().attributes.get("service.name", "")
    return not str(name).startswith("unknown_service")
