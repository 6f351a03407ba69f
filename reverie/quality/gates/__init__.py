"""The gates, in the order of reports.

- `turns`: shares of discards, languages and moods
- `memories`: their growth, importance and repeats
- `vectors`: norms and dimensions
- `serving`: recalls that find nothing, and turns that wait
"""

from reverie.quality.gate import QualityGate
from reverie.quality.gates.memories import GROWTH, IMPORTANCE, REPEATS
from reverie.quality.gates.serving import EMPTY_RECALLS, LAG
from reverie.quality.gates.turns import DISCARDS, LANGUAGES, MOODS
from reverie.quality.gates.vectors import VECTOR_DIMENSIONS, VECTOR_NORMS

GATES: tuple[QualityGate, ...] = (
    DISCARDS,
    LANGUAGES,
    MOODS,
    GROWTH,
    IMPORTANCE,
    REPEATS,
    VECTOR_NORMS,
    VECTOR_DIMENSIONS,
    EMPTY_RECALLS,
    LAG,
)
