"""Answers of a language model: a reply for each input, or the reason why there is none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from reverie.errors import InferenceError, UnansweredError
from reverie.inference.completions import LanguageModel
from reverie.inference.replies import HINTS, Reply
from reverie.llm.inputs import PromptInput

R = TypeVar("R", bound=Reply)

#: With this many garbled replies and no good one, the model is not fit for the prompt.
UNFIT = 5
#: Reasons for which a request brought no reply at all.
NO_REPLY = frozenset({"timeout", "rate", "unavailable", "broken", "rejected", "unexplained"})
#: Reason of a request that was refused because of a text in it: by a content filter, or as too long.
REFUSED = "refused"
#: Reason of a bad request that does not say whether a text in it is the cause, or something that concerns all requests,
#: such as an account without money.
UNEXPLAINED = "unexplained"
#: Reason of an input that has no kept reply and was not sent.
UNASKED = "unasked"
#: Reasons that say nothing about the model: of a text, or because nothing was sent.
_NO_FAULT = frozenset({REFUSED, "credit", "unpriced", UNASKED})


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelAnswer(Generic[R]):
    """The result of asking about one input."""

    #: None: see `reason`.
    reply: R | None = None
    #: Why there is no reply, as a code.
    reason: str | None = None
    #: Whether the reply was kept from an earlier request, and cost nothing.
    kept: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class InvalidReply:
    """Why a reply that fits its schema is not accepted."""

    #: A code, for counting.
    reason: str
    #: The correction that the model is given when it is asked again; may quote its own words, and is not stored.
    hint: str


#: Checks a reply against the input that it was made from; None: it is accepted.
ReplyCheck = Callable[[PromptInput, R], InvalidReply | None]


def unanswered_error(model: LanguageModel, reasons: Counter[str | None]) -> UnansweredError | None:
    """Return the error for a model that replied to nothing; None if it replied, or nothing was asked.

    Texts that were refused or not sent do not count, and a few unexplained rejections alone may be due to the texts.
    `reasons`: the number of inputs, by reason; None for those that got a reply.
    """
    sent = reasons.keys() - _NO_FAULT
    if not sent or not sent <= NO_REPLY or (sent == {UNEXPLAINED} and reasons[UNEXPLAINED] < UNFIT):
        return None
    return UnansweredError(f"The model {model.key} gave no reply about any of {_summary(reasons)}.")


def require_some_reply(model: LanguageModel, reasons: Counter[str | None]) -> None:
    """Raise UnansweredError if no request was answered, and InferenceError if every reply of many is garbled."""
    if (error := unanswered_error(model, reasons)) is not None:
        raise error
    if reasons.keys() <= HINTS.keys() and reasons.total() >= UNFIT:
        raise InferenceError(f"The model {model.key} gave no usable reply to any of {_summary(reasons)}.")


def _summary(reasons: Counter[str | None]) -> str:
    by_reason = ", ".join(f"{reason} {number:,}" for reason, number in sorted(reasons.items(), key=str))
    return f"{reasons.total():,} items: {by_reason}"
