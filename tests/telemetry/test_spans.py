"""Off, a span costs nothing and imports nothing."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from reverie.store.runs import Report
from reverie.telemetry import names, spans
from reverie.telemetry.spans import measure_tokens, model_span, record_value, span, spanned

#: All that stages, recalls and model calls are made of.
LOADED = """
import sys
import reverie.recall.recall, reverie.llm.requests, reverie.store.runs, reverie.runtime, reverie.cli.root
import reverie.capture.history.database
from reverie.consolidate.stages import STAGES, stage_tables
from importlib import import_module
for stage in STAGES:
    import_module(f"reverie.consolidate.{stage.name}.stage")
from reverie.telemetry.starting import start_lineage, start_tracing
start_tracing()
start_lineage("postgresql://localhost/x", stage_tables())
print(sorted(name for name in sys.modules if name.startswith(("opentelemetry", "openlineage"))))
"""


def test_nothing_is_imported_while_it_is_off() -> None:
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_span_is_one_shared_object_while_it_is_off() -> None:
    assert not spans.recording() and spans.recorder() is None
    with span("one") as one, span("another", {"a": 1}) as another:
        assert one is another
        one.set({"a": 1})
        one.rename("x")
        one.fail("y")
    with model_span("chat", "litellm/openai/some") as asked:
        assert asked is one
    record_value("anything", 1)
    measure_tokens("some", 1, 2)


def test_a_decorated_function_is_called_as_it_is() -> None:
    @spanned("double", {}, lambda result: {"never": result})
    async def double(number: int) -> int:
        return 2 * number

    assert asyncio.run(double(3)) == 6 and double.__name__ == "double"


class _Measures:
    """A recorder that keeps the names of metrics."""

    def __init__(self) -> None:
        self.metrics: list[str] = []

    def span(self, name: str, attributes: spans.SpanAttributes, *, kind: str) -> AbstractContextManager[spans.OpenSpan]:
        return spans._NOTHING

    def called_by(self, headers: Any) -> AbstractContextManager[None]:
        raise NotImplementedError

    def record_value(self, metric: str, value: float, attributes: spans.SpanAttributes) -> None:
        self.metrics.append(metric)


@pytest.mark.parametrize("dry", [True, False])
def test_items_of_a_dry_run_are_not_counted_as_work(run_stage: Callable[..., Report], dry: bool) -> None:
    recorder = _Measures()
    spans.record_to(recorder)
    assert run_stage("extract", dry_run=dry)["turns"] == 2
    assert names.STAGE_SECONDS in recorder.metrics
    assert (names.STAGE_ITEMS in recorder.metrics) is not dry
