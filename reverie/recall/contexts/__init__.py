"""Contexts: the text about a subject for a language model, laid out within a budget.

- `context`: assembles the context
- `reading`: reads its material
- `notes`: notes for people on anything missing
- `sections`: its sections, and the lines that fit into each
- `material`: the material of a context, as a value
- `forms`: the six layouts
- `profile_lines`: the lines of the profile
- `explained`: the memories behind each line
- `scope`: the part of memory that it may use, by mode and active connections
- `request`: the caller's part
- `conversation`: the conversation so far, older turns summarised
- `earlier`: summaries of turns that are not given verbatim
- `coming`: a subject's next events
- `identity`: the agent's name, directives and artifacts
- `person`: the subject's style, difficult periods, and known topics
- `adaptation`: advice on tone from mood and relationship
"""
