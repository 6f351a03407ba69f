"""compress: episodes become patterns, sessions become summaries, and memories beyond the budget are forgotten.

- `stage`: the stage
- `patterns`: a pattern for each theme of a subject's episodes
- `sessions`: a summary for each old session, and for the older turns of long ones
- `folds`: a summary for each week, month and year, from the summaries of its parts
- `budget`: the least valuable memories beyond the policy's number are forgotten
- `themes`: the episodes of one theme
- `quantify`: comparisons and ranges of the numbers of a theme
- `wording`: patterns in the rules' words
- `thing_names`: the usual names of things whose entities are single words
- `worded_patterns`: patterns in a language model's words
- `worded_sessions`: summaries in a language model's words
- `decide`: new memories, and the memories that they replace
- `read`: themes and sessions, from Postgres
- `write`: the new memories, with their lineage and links
"""
