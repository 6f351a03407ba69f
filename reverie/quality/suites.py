"""The gates as suites of Great Expectations, over SQL, and their verdicts.

Great Expectations reads `ops.measures` as `reverie_analyst`, which sees every tenant's numbers but no text, on
connections that the store opens, so it needs no password. Importing it takes six to nine seconds of CPU, so it is
imported only for validation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reverie.errors import StageError
from reverie.quality.gate import QualityGate
from reverie.store.connect import connect

if TYPE_CHECKING:
    from great_expectations.core.expectation_validation_result import ExpectationValidationResult
    from great_expectations.data_context.data_context.ephemeral_data_context import EphemeralDataContext
    from great_expectations.datasource.fluent.postgres_datasource import PostgresDatasource

#: Columns that identify a failure; they are ids and codes.
_KEYS = ("tenant_id", "part")
#: URL that names only the driver, not a server: the store opens the connections.
_URL = "postgresql+psycopg://store@store/store"
_SEVERITIES = {"warn": "warning", "error": "critical"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """The verdict of Great Expectations on one gate."""

    passed: bool
    #: Number of rows, and of those with a value to compare.
    rows: int
    compared: int
    #: (tenant, part) of each row outside the limits.
    unexpected: tuple[tuple[str, str], ...]


def validate(
    url: str, gates: Sequence[QualityGate], statements: Mapping[str, str], *, most: int, docs: Path | None = None
) -> dict[str, Verdict]:
    """Return the verdict on the rows of each gate's statement, by gate.

    `most` is the largest number of rows of a gate; a verdict names no more unexpected ones. `docs` is a folder for
    the data docs, as HTML. Raises StageError if an expectation could not be evaluated.
    """
    context = _context(docs)
    with ExitStack() as connections:
        options: dict[str, Any] = {
            "connection_string": _URL,
            "kwargs": {"creator": lambda: connections.enter_context(closing(connect(url, role="analyst")))},
        }
        source = context.data_sources.add_postgres("reverie", **options)
        verdicts = {gate.name: _verdict(gate, _run(context, source, gate, statements, most)) for gate in gates}
        if docs:
            context.build_data_docs()
        source.get_engine().dispose()
    return verdicts


def expectation(gate: QualityGate) -> Any:
    """Return the gate as an expectation on the rows of its measures."""
    from great_expectations.expectations.core.expect_column_values_to_be_between import ExpectColumnValuesToBeBetween
    from great_expectations.expectations.metadata_types import FailureSeverity

    return ExpectColumnValuesToBeBetween(
        column=gate.column,
        min_value=gate.low,
        max_value=gate.high,
        severity=FailureSeverity(_SEVERITIES[gate.severity]),
        notes=gate.holds,
    )


def _context(docs: Path | None) -> EphemeralDataContext:
    """Return a context in memory that sends no analytics and draws no progress bars."""
    import great_expectations as gx
    from great_expectations.data_context.types.base import (
        DataContextConfig,
        InMemoryStoreBackendDefaults,
        ProgressBarsConfig,
    )

    context = gx.get_context(
        mode="ephemeral",
        project_config=DataContextConfig(
            store_backend_defaults=InMemoryStoreBackendDefaults(init_temp_docs_sites=False),
            analytics_enabled=False,
            progress_bars=ProgressBarsConfig(globally=False),
        ),
    )
    if docs:
        context.add_data_docs_site(
            "local",
            {
                "class_name": "SiteBuilder",
                "site_index_builder": {"class_name": "DefaultSiteIndexBuilder"},
                "store_backend": {"class_name": "TupleFilesystemStoreBackend", "base_directory": str(docs.resolve())},
            },
        )
    return context


def _run(
    context: EphemeralDataContext,
    source: PostgresDatasource,
    gate: QualityGate,
    statements: Mapping[str, str],
    most: int,
) -> ExpectationValidationResult:
    """Validate one gate, and return the result of its expectation."""
    import great_expectations as gx

    asset = source.add_query_asset(gate.name, query=statements[gate.name])
    suite = context.suites.add(gx.ExpectationSuite(name=gate.name, expectations=[expectation(gate)]))
    definition = context.validation_definitions.add(
        gx.ValidationDefinition(name=gate.name, data=asset.add_batch_definition("check"), suite=suite)
    )
    # with SQL, the list of unexpected rows is cut at partial_unexpected_count
    result = definition.run(
        result_format={
            "result_format": "COMPLETE",
            "unexpected_index_column_names": list(_KEYS),
            "partial_unexpected_count": most,
            "include_unexpected_rows": False,
        }
    )
    return result.results[0]


def _verdict(gate: QualityGate, found: ExpectationValidationResult) -> Verdict:
    # a broken query is not a failure of the data; its message may quote values, so it is left out
    if found.exception_info and _raised(found.exception_info):
        raise StageError(f"Great Expectations could not evaluate the gate {gate.name}.")
    result = found.result
    return Verdict(
        passed=bool(found.success),
        rows=result["element_count"],
        compared=result["element_count"] - result["missing_count"],
        unexpected=tuple((row["tenant_id"], row["part"]) for row in result.get("unexpected_index_list") or ()),
    )


def _raised(info: Mapping[str, Any]) -> bool:
    """Return whether there was an exception; it is reported once, or once per metric."""
    if "raised_exception" in info:
        return bool(info["raised_exception"])
    return any(_raised(each) for each in info.values() if isinstance(each, Mapping))
