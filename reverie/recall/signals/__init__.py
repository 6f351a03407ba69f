"""Reads life events, signals and triggers of a subject.

- `life_events`: past and future events of a subject, by day
- `calendar`: life events as an iCalendar file
- `triggers`: reasons to act for a subject, its figures, and its standing with the application
- `zones`: the time zones that a subject's messages name
"""
