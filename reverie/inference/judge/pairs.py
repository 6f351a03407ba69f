"""An earlier statement and a message, as the judge reads them side by side; pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from reverie.inference.reader.decoding import LETTERS

#: Tokens that are read of a statement, of the message before and of the message, the special ones included.
MOST_OF_STATEMENT, MOST_BEFORE, MOST_OF_MESSAGE = 48, 20, 96
#: Characters up to which a message is read with the one before it, which it may answer.
SHORT_MESSAGE = 40
#: Tokens that begin and end every text.
_SPECIAL = (101, 102)
#: Kinds of tokens: by their letters, and whether the other text has the token, too.
KINDS = 2 * LETTERS
#: Which of the texts a token is of.
STATEMENT, MESSAGE, BEFORE = range(3)


class EndPair(NamedTuple):
    """An earlier statement in words, and a message with what another speaker said before it."""

    statement: str
    message: str
    before: str = ""

    def sides(self) -> list[tuple[int, str, int]]:
        """Return its texts in the order in which they are read: which one, text, most tokens."""
        before = self.before if len(self.message) < SHORT_MESSAGE else ""
        texts = (
            (STATEMENT, self.statement, MOST_OF_STATEMENT),
            (BEFORE, before, MOST_BEFORE),
            (MESSAGE, self.message, MOST_OF_MESSAGE),
        )
        return [text for text in texts if text[1]]


def kinds_of(
    sides: Sequence[int], ids: Sequence[npt.NDArray[np.int64]], letters: Sequence[npt.NDArray[np.int64]]
) -> npt.NDArray[np.int64]:
    """Return the kinds of the tokens of a pair's texts, one after the other.

    A name or a number that both texts have is told from one that only looks alike: to the embedder, Danny and Zoe are
    near.
    """
    of_statement = [side == STATEMENT for side in sides]
    statement = [each for each, is_statement in zip(ids, of_statement, strict=True) if is_statement]
    others = [each for each, is_statement in zip(ids, of_statement, strict=True) if not is_statement]
    kinds = []
    for each, kind, is_statement in zip(ids, letters, of_statement, strict=True):
        other = np.concatenate(others if is_statement else statement)
        kinds.append(kind + LETTERS * (np.isin(each, other) & ~np.isin(each, _SPECIAL)))
    return np.concatenate(kinds)
