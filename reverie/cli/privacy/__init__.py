"""Commands for what people are owed of their data.

- `erase`: erases a turn, a session, a memory, a subject or a tenant
- `receipts`: the receipts of erasures
- `consent`: what a subject agrees to
- `export`: exports a person or a tenant
"""
