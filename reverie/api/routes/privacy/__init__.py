"""Routes for what a person may ask of whoever keeps memory of her.

- `consents`: what a subject agrees to
- `erasures`: erasures and their receipts
- `exports`: what is kept about a subject, as files
"""
