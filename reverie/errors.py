"""Every error that Reverie raises for users, in one hierarchy.

The docstring of a class is its default message. A message is one sentence in the user's terms. The command line prints
the message without a traceback and exits with the class's `exit_code`. A message holds names, counts and limits, never
the text of a conversation and never a password.
"""

from __future__ import annotations


class ReverieError(Exception):
    """Something went wrong that Reverie can explain."""

    #: Exit status of the command line; each class has its own.
    exit_code: int = 1

    def __init__(self, message: str | None = None, *, unknown: tuple[str, str] | None = None) -> None:
        super().__init__(message or self.__doc__ or type(self).__name__)
        #: Kind and name of what does not exist: `("subject", "anna")`.
        self.unknown = unknown
        #: Similar names that exist. The code that shows the error fills it in.
        self.similar: list[str] = []

    @property
    def within(self) -> str:
        """The message without its full stop, to quote it within a sentence."""
        return str(self).removesuffix(".")


class InputError(ReverieError):
    """The input cannot be read as turns or outcomes."""

    #: The exit status that shells and click use for wrong usage.
    exit_code = 2

    #: The invalid field of a request, as a JSON pointer into its body; None: not known.
    pointer: str | None = None


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
    """Another record has the same id, and the log is append-only."""

    exit_code = 9


class UnansweredError(StageError):
    """The language model answered none of a stage's requests: it is unavailable or refuses them."""

    exit_code = 10
