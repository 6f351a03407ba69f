"""Marks of corrections: written at once by the request that corrects, and again by the stage that works it in."""

from __future__ import annotations

from reverie.store.queries import queries

#: Mark a memory, what it was merged into and what was made of it; returns the ids of what states it.
MARK = queries("marks")["mark"]
#: Mark a memory, with those merged into it, as pinned.
ADD_PIN = queries("marks")["add_pin"]
