"""Quality gates: has what is remembered changed its shape? Distributions against their own past, by Great Expectations.

- `gate`: what a gate is, and one measure of it
- `gates/`: the gates, a module a theme
- `bands`: what is usual, by the weeks before
- `measuring`: the measures of a tenant, into `ops.measures`
- `suites`: the gates as suites of Great Expectations, and what these found
- `check`: a check of all tenants, and its sentences
"""
