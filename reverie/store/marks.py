"""Marks of corrections: written at once by the correcting request, and again by the stage that applies it."""

from __future__ import annotations

from reverie.store.queries import queries

#: Marks a memory, what it was merged into and what was made of it; returns the ids of the items that state it.
MARK = queries("marks")["mark"]
#: Marks a memory, with those merged into it, as pinned.
ADD_PIN = queries("marks")["add_pin"]
