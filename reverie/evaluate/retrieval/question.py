"""A question with what it needs, made from a log or read from a file."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

#: What it was made of: a message that refers to an earlier turn, a recall with a good outcome, a correction, a file.
QuestionSource = Literal["reference", "outcome", "correction", "file"]


@dataclass(frozen=True, kw_only=True, slots=True)
class HeldQuestion:
    """A question whose answer is held back: known to the evaluation, and to be found by recall."""

    #: Id of the message, recall or correction that it was made of; of a file the number of its line.
    id: str
    source: QuestionSource
    subject_id: str
    text: str
    #: As of when it is asked: what was said later may not answer.
    asked_at: datetime
    #: What recall should find: turns, or the correction whose replacement is right.
    needs: frozenset[UUID]
    #: What recall should not give: what a person said is wrong.
    avoids: frozenset[UUID] = frozenset()
