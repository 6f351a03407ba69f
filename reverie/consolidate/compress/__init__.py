"""compress: episodes become patterns, sessions become summaries.

- `stage`: the stage
- `patterns`: patterns of a subject's episodes
- `themes`: which episodes belong to one theme
- `quantify`: what the numbers of a theme say
- `sessions`: summaries of sessions
- `worded_patterns`: patterns in a language model's words
- `worded_sessions`: summaries in a language model's words
- `write`: the new memories with their lineage and links
"""
