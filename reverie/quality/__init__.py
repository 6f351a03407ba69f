"""Quality gates: compare distributions of a tenant's memory with their own past, by Great Expectations.

- `gate`: a gate, and one measure of it
- `gates/`: the gates, one module for each theme
- `bands`: the usual range of a measure, from earlier weeks
- `measuring`: the measures of a tenant, written to `ops.measures`
- `suites`: the gates as suites of Great Expectations, and their verdicts
- `check`: a check of all tenants, with its failures in words
"""
