"""What follows from a subject's behaviour, to read.

- `triggers`: reasons to act for a subject, its figures, and how it stands to the application
"""
