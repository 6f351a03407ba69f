"""The judge: a small model of our own that says which statements a message ends ([model card](MODEL_CARD.md)).

- `pairs`: an earlier statement and a message, as they are read side by side; pure
- `nearness`: scores which statements a message may end, by vectors alone
- `kept`: a cache of texts that it has read
- `judge`: the model
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from reverie.inference.judge.pairs import EndPair

if TYPE_CHECKING:
    from reverie.inference.judge.judge import TrainedJudge

__all__ = ["EndPair", "shared_judge"]


@cache
def shared_judge(threads: int = 2) -> TrainedJudge:
    """Return the judge, loaded once per process."""
    from reverie.inference.judge.judge import TrainedJudge

    return TrainedJudge(threads=threads)
