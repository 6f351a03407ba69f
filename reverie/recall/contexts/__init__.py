"""Contexts: what a language model is told about a subject, laid out within a budget.

- `context`: the context
- `reading`: reads what it is made of
- `notes`: what was missing, in words for people
- `sections`: its sections and what fits into each
- `material`: what it is made of, as a value
- `forms`: the six layouts
- `explained`: which memory was used for which line
- `scope`: what of memory it may give, by mode and active connections
- `request`: what the caller brings
- `conversation`: the conversation so far, older turns summarised
- `earlier`: summaries of the turns that are not given as they were said
- `coming`: the events that a subject has before it
- `identity`: the agent's name, directives and artifacts
- `person`: how the subject writes, whether times are hard, and what of it is known
- `adaptation`: advice on tone from mood and relationship
"""
