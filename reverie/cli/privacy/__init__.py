"""Commands for the rights of people to their data.

- `erase`: erases a turn, a session, a memory, a subject or a tenant
- `receipts`: lists and verifies the receipts of erasures
- `consent`: shows or sets what a subject agrees to
- `export`: exports a person or a tenant
"""
