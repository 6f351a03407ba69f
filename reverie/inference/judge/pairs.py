"""An earlier statement and a message, as the judge reads them: the message once, each statement beside it; pure."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from reverie.inference.reader.decoding import LETTERS

#: Tokens that are read of a statement, of the message before and of the message, special tokens included.
MOST_OF_STATEMENT, MOST_BEFORE, MOST_OF_MESSAGE = 48, 20, 96
#: Characters below which a message is read with the one before it, which it may answer.
SHORT_MESSAGE = 40
#: Tokens that begin and end every text.
_SPECIAL = (101, 102)
#: Kinds of tokens: by their letters, and for a statement's by whether the message has the token, too.
KINDS = 2 * LETTERS
#: The text that a token belongs to.
STATEMENT, MESSAGE, BEFORE = range(3)


#: Texts of a message, in the order in which they are read: which one, text, most tokens.
Shown = tuple[tuple[int, str, int], ...]


class EndPair(NamedTuple):
    """An earlier statement in words, and a message with what another speaker said before it."""

    statement: str
    message: str
    before: str = ""

    def shown(self) -> Shown:
        """Return the texts that the statement is compared with."""
        message = (MESSAGE, self.message, MOST_OF_MESSAGE)
        is_answer = self.before and len(self.message) < SHORT_MESSAGE
        return ((BEFORE, self.before, MOST_BEFORE), message) if is_answer else (message,)


def statement_kinds(
    ids: npt.NDArray[np.int64], letters: npt.NDArray[np.int64], of_message: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Return the kinds of a statement's tokens, given the ids of the message's.

    They tell a name or number that both have from one that is only similar: to the embedder, Danny and Zoe are near.
    """
    return letters + LETTERS * (np.isin(ids, of_message) & ~np.isin(ids, _SPECIAL))
