"""An earlier statement and a message, as the judge reads them: the message once, each statement beside it; pure."""

from __future__ import annotations

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
#: Kinds of tokens: by their letters, and of a statement's, whether the message has the token, too.
KINDS = 2 * LETTERS
#: Which of the texts a token is of.
STATEMENT, MESSAGE, BEFORE = range(3)


#: Texts of a message, in the order in which they are read: which one, text, most tokens.
Shown = tuple[tuple[int, str, int], ...]


class EndPair(NamedTuple):
    """An earlier statement in words, and a message with what another speaker said before it."""

    statement: str
    message: str
    before: str = ""

    def shown(self) -> Shown:
        """Return the texts that the statement is held against."""
        message = (MESSAGE, self.message, MOST_OF_MESSAGE)
        is_answer = self.before and len(self.message) < SHORT_MESSAGE
        return ((BEFORE, self.before, MOST_BEFORE), message) if is_answer else (message,)


def statement_kinds(
    ids: npt.NDArray[np.int64], letters: npt.NDArray[np.int64], of_message: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Return the kinds of a statement's tokens, given the ids of the message's.

    A name or a number that both have is told from one that only looks alike: to the embedder, Danny and Zoe are near.
    """
    return letters + LETTERS * (np.isin(ids, of_message) & ~np.isin(ids, _SPECIAL))
