"""Statements: what a clause that a rule matches says, as data and as a sentence in the third person.

- `reading`: reads what a rule matched in a clause
- `predicates`: reads a clause as a predicate: of whom, which phase, which verb
- `headless`: the forms of clauses without a subject
- `verbs`: the forms of verbs
- `sentences`: words what a predicate states in the third person
- `trimming`: where the object of a statement ends, and whether it is one
- `refusals`: why a match is not kept
- `stated`: statements as a reader gives them, and their wording in the third person
- `things`: what an event is about
- `short_replies`: what a short reply states, with the question before it
"""
