"""What follows from a subject's behaviour, to read.

- `life_events`: what happened to a subject or will happen, by day
- `calendar`: life events as an iCalendar file
- `triggers`: reasons to act for a subject, its figures, and how it stands to the application
"""
