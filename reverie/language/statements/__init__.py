"""Statements: the content of a clause that a rule matches, as data and as a sentence in the third person.

- `reading`: reads what a rule matched in a clause
- `verbs`: the forms of verbs
- `stated`: statements as a reader gives them, and their wording in the third person
- `holders`: the people of whom statements are true, if not their author
- `things`: finds what an event is about
"""
