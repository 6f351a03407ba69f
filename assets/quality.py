"""The quality gates as asset checks of `memory_health`: one check per gate, all in one run of Great Expectations."""

from collections.abc import Iterator
from typing import Any

import dagster as dg

from assets.runs import RETRIES, as_of
from resources.clients import Clients
from reverie.quality.check import GateResult, check_memory, has_great_expectations
from reverie.quality.gates import GATES

_SEVERITIES = {"warn": dg.AssetCheckSeverity.WARN, "error": dg.AssetCheckSeverity.ERROR}
_SPECS = [dg.AssetCheckSpec(gate.name, asset="memory_health", description=gate.holds) for gate in GATES]


@dg.multi_asset_check(specs=_SPECS, retry_policy=RETRIES)
def quality_gates(context: dg.AssetCheckExecutionContext, clients: Clients) -> Iterator[dg.AssetCheckResult]:
    """All gates over all tenants. Great Expectations is imported only here, not when Dagster loads the definitions."""
    for result in check_memory(clients.store, clients.runtime.url, as_of(context)):
        yield dg.AssetCheckResult(
            check_name=result.gate,
            asset_key="memory_health",
            passed=result.passed,
            severity=_SEVERITIES[result.severity],
            description=" ".join(result.failures) or result.note or result.holds,
            metadata=_metadata(result),
        )


#: Empty without the extra `quality`; Dagster then loads everything else.
quality_checks = [quality_gates] if has_great_expectations() else []


def _metadata(result: GateResult) -> dict[str, dg.MetadataValue[Any] | int | float | str]:
    """Return numbers and ids: how much was compared, and each measure outside its limits with the expected range."""
    if not result.observed:
        return {"measures": result.measures, "compared": result.compared}
    records = [
        dg.TableRecord(
            {
                "tenant": each.tenant_id,
                "part": each.part,
                "observed": round(each.value, 4),
                "expected from": "" if each.low is None else f"{each.low:.4g}",
                "expected to": "" if each.high is None else f"{each.high:.4g}",
            }
        )
        for each in result.observed
    ]
    worst = result.observed[0]
    return {
        "measures": result.measures,
        "compared": result.compared,
        "observed": worst.value,
        "tenants": ", ".join(result.tenants),
        "outside": dg.TableMetadataValue(records=records, schema=_SCHEMA),
    }


_SCHEMA = dg.TableSchema(
    columns=[
        dg.TableColumn("tenant"),
        dg.TableColumn("part"),
        dg.TableColumn("observed", "float"),
        dg.TableColumn("expected from"),
        dg.TableColumn("expected to"),
    ]
)
