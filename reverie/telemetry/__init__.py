"""Traces, metrics and lineage events for other systems, all off by default. They never contain what anybody said.

- `spans`: spans and metrics, for OpenTelemetry
- `names`: the names of their attributes
- `export`: starts OpenTelemetry's exporters
- `lineage`: events of stage runs, for OpenLineage
- `stages`: reports stage runs to both
- `starting`: turns on what the environment sets
"""
