"""Finds sensitive content in texts: its classes, and secrets.

- `classes`: finds sensitive content by class, and removes secrets from texts; by rules
- `secrets`: finds secrets that no word gives away, by their shape and context; learned
- `secret_words`: finds secrets of letters alone, by their words; learned
- `vectors`: finds sensitive content by the vector of a text; learned
"""
