"""Generations: memories of a tenant that a rebuild makes beside the live one, each in a database of its own.

Tenant, ids, schema and roles are those of the live memory, so every stage and recall works there as it does here.

- `catalog`: which generations a tenant has, and what became of each
- `following`: the log and what a rebuild reads beside it, from the live database into a generation's
- `building`: a generation made from the log, while recall goes on
- `publishing`: the live memory becomes that of a generation, or again what it replaced
- `restoring`: a drill: memory made again from the log alone
- `gates`: what a generation must not change
- `switching`: rows that differ are replaced, in one transaction
- `differing`: what would change: two memories of a tenant side by side
- `memory_changes`: memories, facts and profiles that differ
- `answer_changes`: logged questions, asked of both
"""
