"""Every error that a user can meet, in one hierarchy.

The docstring of a class is its message when none is given: one sentence, in the user's words. The command line prints
the sentence, never a traceback, and leaves with the class's `exit_code`. A message holds names, counts and limits,
never the text of a conversation and never a password.
"""

from __future__ import annotations


class ReverieError(Exception):
    """Something went wrong that Reverie can explain."""

    #: What the process exits with when the error reaches the command line; each class has its own.
    exit_code: int = 1

    def __init__(self, message: str | None = None, *, unknown: tuple[str, str] | None = None) -> None:
        super().__init__(message or self.__doc__ or type(self).__name__)
        #: What kind of thing was asked for and its name, where nothing has that name: `("subject", "anna")`.
        self.unknown = unknown
        #: Names that there are and that may have been meant; found by whoever shows the error.
        self.similar: list[str] = []

    @property
    def within(self) -> str:
        """The message as it stands within another sentence: without its full stop."""
        return str(self).removesuffix(".")


class InputError(ReverieError):
    """The input cannot be read as turns or outcomes."""

    #: The code that shells and click give to a wrong use.
    exit_code = 2


class SettingsError(ReverieError):
    """An environment variable has a value that Reverie cannot use."""

    exit_code = 3


class DatabaseError(ReverieError):
    """The database cannot be used: unreachable, refused, too old, without pgvector, or not migrated."""

    exit_code = 4


class PolicyError(ReverieError):
    """The policy has an unknown key or a value out of its range."""

    exit_code = 5


class NotFoundError(ReverieError):
    """Nothing is known by this name."""

    exit_code = 6


class InferenceError(ReverieError):
    """The embedding or language model gave no usable answer."""

    exit_code = 7


class StageError(ReverieError):
    """A stage failed and wrote nothing."""

    exit_code = 8


class ConflictError(ReverieError):
    """What was sent contradicts what is there under the same id, and the log is append-only."""

    exit_code = 9


class UnansweredError(StageError):
    """A language model answered nothing that a stage asked it: it is away, or refuses us."""

    exit_code = 10
