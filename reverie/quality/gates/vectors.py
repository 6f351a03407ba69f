"""Gates on vectors, with fixed limits: recall's cosines need unit vectors of the same dimension."""

from __future__ import annotations

from reverie.quality.gate import QualityGate
from reverie.store.queries import queries

#: Half precision changes a norm by less than 0.001.
VECTOR_NORMS = QualityGate(
    name="vector_norms",
    sql=queries("quality")["vector_norms"],
    holds="Every vector is a unit vector.",
    clause=lambda part: f"a vector of the model {part} has the norm {{}}, and all must have 1",
    unit="norm",
    history=None,
    column="value",
    low=0.99,
    high=1.01,
    severity="error",
)

VECTOR_DIMENSIONS = QualityGate(
    name="vector_dimensions",
    sql=queries("quality")["vector_dimensions"],
    holds="All vectors of a model have the same number of dimensions.",
    clause=lambda part: f"vectors of the model {part} have {{}} different numbers of dimensions",
    unit="number",
    history=None,
    column="value",
    low=1,
    high=1,
    severity="error",
)
