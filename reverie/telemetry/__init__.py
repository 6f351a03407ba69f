"""Traces, metrics and lineage events for other systems, each off until it is set. Nothing that anybody said is in them.

- `spans`: spans and metrics, by OpenTelemetry
- `names`: the names of their attributes
- `export`: starts OpenTelemetry's exporters
- `lineage`: events of stage runs, by OpenLineage
- `stages`: what a stage run tells both
- `starting`: turns on what the environment sets
"""
