"""A query: a question, message or request about a subject, as of a time, and how much may answer it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

import orjson

from reverie.model import require_aware
from reverie.recall.filters import Filters


@dataclass(frozen=True, kw_only=True, slots=True)
class RecallQuery:
    """A query to a subject's memory.

    A recall uses every field. A context and a staged recall have budgets of their own; they need no text.
    """

    #: In the asker's words; "" asks nothing.
    text: str = ""
    subject_id: str
    #: Memory answers as of this time, which must be aware.
    as_of: datetime
    #: Most hits and most tokens; None: the policy's.
    top_k: int | None = None
    token_budget: int | None = None
    #: Only memories of these kinds; None: turns and memories of every kind.
    kinds: Sequence[str] | None = None
    #: Whether memories that a pattern or summary replaced are searched too.
    include_compressed: bool = False
    #: Only items with these attributes.
    filters: Filters | None = None
    #: Number of turns to return before and after each hit.
    neighbours: int = 0
    #: Texts that the caller already has: waiting turns with these words are left out.
    said: Collection[str] = ()
    #: Whether a person says the text, and it is no search. Hits too far from it or telling too little are dropped; so
    #: are all hits if it is small talk or a request that general knowledge answers.
    is_spoken: bool = False

    def __post_init__(self) -> None:
        """Convert the time to UTC. Raises ValueError: it has no offset."""
        object.__setattr__(self, "as_of", require_aware(self.as_of))

    @property
    def limits(self) -> tuple[str, ...]:
        """The fields beyond text, subject and time that change the answer and are set: a part of its id."""
        wanted = {
            "top_k": self.top_k,
            "token_budget": self.token_budget,
            "kinds": self.kinds and sorted(self.kinds),
            "include_compressed": self.include_compressed or None,
            "filters": asdict(self.filters) if self.filters else None,
        }
        given = {name: value for name, value in wanted.items() if value is not None}
        return (orjson.dumps(given, option=orjson.OPT_SORT_KEYS).decode(),) if given else ()
