"""A question with the items that it needs, made from a log or read from a file."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

#: Origin: a message that refers to an earlier turn, a recall with a good outcome, a correction, or a file.
QuestionSource = Literal["reference", "outcome", "correction", "file"]


@dataclass(frozen=True, kw_only=True, slots=True)
class HeldQuestion:
    """A question whose answer is held back: the evaluation knows it, and recall should find it."""

    #: Id of the message, recall or correction that it was made from, or its line number in a file.
    id: str
    source: QuestionSource
    subject_id: str
    text: str
    #: Time as of which it is asked; later turns may not answer it.
    asked_at: datetime
    #: Items that recall should find: turns, or the correction whose replacement is right.
    needs: frozenset[UUID]
    #: Items that recall should not return, since a person called them wrong.
    avoids: frozenset[UUID] = frozenset()
