"""Routes for the requests that a person may make about their own data.

- `consents`: the consent of a subject
- `erasures`: erasures and their receipts
- `exports`: the data kept about a subject, as files
"""
