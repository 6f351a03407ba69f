"""A check of the memory of tenants: measure each, validate all at once, and report failures in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Literal
from uuid import UUID, uuid4

from psycopg import ClientCursor

from reverie.drive.tenants import try_policies
from reverie.errors import SettingsError
from reverie.installing import install_command
from reverie.quality.gate import Measure, QualityGate
from reverie.quality.gates import GATES
from reverie.store.database import Store
from reverie.store.queries import queries


@dataclass(frozen=True, kw_only=True, slots=True)
class GateResult:
    """The result of one gate, over all checked tenants."""

    gate: str
    holds: str
    severity: Literal["warn", "error"]
    passed: bool
    #: Number of measures, and of those with enough history or known limits to compare with.
    measures: int
    compared: int
    #: Tenants with a measure outside its limits or without a policy that can be read, and a sentence for each of these.
    tenants: tuple[str, ...]
    failures: tuple[str, ...]
    #: The measures outside their limits, with value and expected range.
    observed: tuple[OutsideLimits, ...]
    #: A note about measures that could not be compared; empty if all were compared.
    note: str


@dataclass(frozen=True, kw_only=True, slots=True)
class OutsideLimits:
    """One measure outside its limits."""

    tenant_id: str
    part: str
    value: float
    #: Bounds of the expected range; None: no limit on that side.
    low: float | None
    high: float | None


def has_great_expectations() -> bool:
    """Return whether Great Expectations is installed, without importing it."""
    return find_spec("great_expectations") is not None


def check_memory(
    store: Store,
    url: str,
    at: datetime,
    *,
    tenants: Sequence[str] | None = None,
    docs: Path | None = None,
    gates: Sequence[QualityGate] = GATES,
) -> list[GateResult]:
    """Measure tenants (None: all) at `at`, or at the time of a fixed clock, and return the result of each gate.

    `store` is open in the worker's role, and the user of `url` may act as reverie_analyst. `docs` is a folder for data
    docs. It writes only to `ops.measures`. Gates on states are left out for tenants whose memory has advanced since.
    A tenant whose policy cannot be read is not measured, so it fails every gate; the others are.
    Raises SettingsError if the extra `quality` is not installed, StageError if an expectation cannot be evaluated.
    """
    if not has_great_expectations():
        raise SettingsError(f"The quality gates need an extra; install it with: {install_command('quality')}.")
    from reverie.quality.measuring import measurable, measure_tenant
    from reverie.quality.suites import validate

    check_id = uuid4()
    policies, failed = try_policies(store, tenants)
    gates_of = {name: measurable(store, name, policy=policy, at=at, gates=gates) for name, policy in policies.items()}
    measures = [
        measure
        for name, policy in policies.items()
        for measure in measure_tenant(store, name, policy=policy, at=at, check_id=check_id, gates=gates_of[name])
    ]
    statements = _statements(store, check_id, gates, sorted({measure.tenant_id for measure in measures}))
    verdicts = validate(url, gates, statements, most=len(measures) + 1, docs=docs)
    return [
        _result(
            gate,
            [measure for measure in measures if measure.gate == gate.name],
            verdicts[gate.name].passed,
            verdicts[gate.name].unexpected,
            advanced=sum(gate not in measured for measured in gates_of.values()),
            unmeasured=failed,
        )
        for gate in gates
    ]


def failure_sentence(gate: QualityGate, measure: Measure) -> str:
    """Return a sentence about a measure outside its limits."""
    told = f"Tenant {measure.tenant_id}: {gate.clause(measure.part).format(_shown(gate, measure.value))}"
    if measure.lowest is None or measure.highest is None or gate.history is None:
        return f"{told}."
    weeks = f"{measure.weeks} weeks" if measure.weeks != 1 else "week"
    return f"{told}; {_range(gate, measure.lowest, measure.highest)} in the {weeks} before."


def _statements(store: Store, check_id: UUID, gates: Sequence[QualityGate], tenants: list[str]) -> dict[str, str]:
    """Return the statement that reads each gate's rows, with its parameters filled in by psycopg."""
    sql = queries("quality")["validated"]
    # Great Expectations needs a statement without a leading comment
    select = "\n".join(line for line in sql.splitlines() if not line.startswith("--"))
    params = {"check_id": check_id, "tenants": tenants}
    with store.transaction("quality") as conn, ClientCursor(conn) as cursor:
        return {gate.name: cursor.mogrify(select, params | {"gate": gate.name}) for gate in gates}


def _result(
    gate: QualityGate,
    measures: Sequence[Measure],
    passed: bool,
    unexpected: Sequence[tuple[str, str]],
    *,
    advanced: int,
    unmeasured: Mapping[str, str],
) -> GateResult:
    """Return the result of a gate; `unmeasured`: the reason for each tenant that could not be measured."""
    by_key: Mapping[tuple[str, str], Measure] = {(each.tenant_id, each.part): each for each in measures}
    failed = sorted((by_key[key] for key in unexpected), key=lambda each: (each.tenant_id, -each.value))
    known = [each for each in measures if gate.column == "value" or each.usual is not None]
    return GateResult(
        gate=gate.name,
        holds=gate.holds,
        severity=gate.severity,
        passed=passed and not unmeasured,
        measures=len(measures),
        compared=len(known),
        tenants=tuple(dict.fromkeys([*(each.tenant_id for each in failed), *unmeasured])),
        failures=(
            *(failure_sentence(gate, each) for each in failed),
            *(f"Tenant {name} was not measured: {reason}" for name, reason in unmeasured.items()),
        ),
        observed=tuple(_observed(gate, each) for each in failed),
        note=_note(measures, known, advanced),
    )


def _note(measures: Sequence[Measure], known: Sequence[Measure], advanced: int) -> str:
    """Return a note about measures that are missing; `advanced`: tenants whose memory is past the time of the check."""
    if advanced:
        return f"memory of {_tenants(advanced)} has advanced since" if measures else "memory has advanced since"
    if not measures:
        return "nothing to measure"
    without = {each.tenant_id for each in measures} - {each.tenant_id for each in known}
    if not without:
        return ""
    return "not enough history" if not known else f"not enough history of {_tenants(len(without))}"


def _tenants(number: int) -> str:
    return f"{number} tenant" if number == 1 else f"{number} tenants"


def _observed(gate: QualityGate, measure: Measure) -> OutsideLimits:
    low, high = gate.low, gate.high
    if gate.column == "deviation" and measure.usual is not None and measure.margin is not None:
        low = None if low is None else max(measure.usual + low * measure.margin, 0.0)
        high = None if high is None else measure.usual + high * measure.margin
        if high is not None and gate.unit == "share":
            high = min(high, 1.0)
    return OutsideLimits(tenant_id=measure.tenant_id, part=measure.part, value=measure.value, low=low, high=high)


def _shown(gate: QualityGate, value: float) -> str:
    match gate.unit:
        case "share":
            return f"{_percent(value)} %"
        case "cycles":
            return f"{value:.1f} cycles"
        case "number":
            return f"{value:.0f}"
        case _:
            return f"{value:.2f}"


def _range(gate: QualityGate, lowest: float, highest: float) -> str:
    low, high = _shown(gate, lowest), _shown(gate, highest)
    return high if low == high else f"{low.removesuffix(' %').removesuffix(' cycles')} to {high}"


def _percent(value: float) -> str:
    """Return a share in whole percent, or to a tenth if it is small."""
    percent = 100 * value
    return f"{percent:.0f}" if percent >= 10 or percent == round(percent) else f"{percent:.1f}"
