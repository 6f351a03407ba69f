"""Generations: memories of a tenant that a rebuild makes beside the live one, each in its own database.

Tenant, ids, schema and roles are those of the live memory, so stages and recall work there as they do here.

- `catalog`: the generations of a tenant, with their states
- `following`: copies the log, and whatever else a rebuild reads, into a generation's database
- `building`: makes a generation from the log, while recall goes on
- `publishing`: makes a generation the live memory, or reverts this
- `restoring`: a drill that makes memory again from the log alone
- `gates`: the checks that a generation must pass to be published
- `switching`: replaces the differing rows, in one transaction
- `differing`: compares two memories of a tenant
- `memory_changes`: differing memories, facts and profiles
- `answer_changes`: differing answers to logged questions
"""
