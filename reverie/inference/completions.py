"""Language models: take a request, and return a text with its tokens and its price.

Nothing here retries, caches or books; `reverie.llm` does, for every model. litellm, which takes seconds to import, is
loaded by the first request that is sent; cached replies never load it.
"""

from __future__ import annotations

import os
import socket
import time
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cached_property, partial
from threading import Lock
from typing import Any, Literal, Protocol

from reverie.errors import InferenceError
from reverie.inference.deadline import call_within
from reverie.inference.extras import load_extra
from reverie.inference.prompts import Messages

#: Why a request brought no reply.
FailureReason = Literal[
    "timeout", "rate", "unavailable", "broken", "rejected", "unexplained", "refused", "credit", "unpriced", "unrecorded"
]

_RETRIED = frozenset({408, 409, 429, 500, 502, 503, 504})
"""HTTP answers after which the same request may succeed."""

_UNEXPLAINED = frozenset({400, 403, 413, 422})
"""HTTP answers that say no more than that a request is bad: its text may be the cause, or an account without money."""

UNSENT = frozenset({"ConnectError", "ConnectTimeout"})
"""Causes of errors after which the provider never had the request."""

BROKEN = frozenset({"APIConnectionError", "RemoteProtocolError", "ReadError"})
"""Causes of errors after which the provider may have done the work."""

_LENGTHS = frozenset({"minLength", "maxLength", "minItems", "maxItems"})
"""Words of JSON schema that say how long something may be."""

_MESSAGE_TOKENS = 16
"""More than any chat format spends around one message."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """How a model may be called."""

    #: Requests per second that all processes together send for a tenant; None: no limit.
    per_second: float | None = None
    #: Longest wait of a request for its turn, in seconds.
    patience_s: float = 300.0
    #: Requests that one stage has in flight at once.
    concurrency: int = 4
    #: Most items of a request.
    per_request: int = 1
    #: Attempts before a request has failed.
    attempts: int = 5
    #: Times that the model is asked again after an unusable reply.
    repeats: int = 1
    #: Seconds before the second attempt; doubled for each further one, with jitter.
    backoff_s: float = 1.0
    #: Seconds that a request may take in all, from connecting to the last byte of its reply.
    timeout_s: float = 60.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Completion:
    """One reply, as received."""

    text: str
    #: Whether the provider cut it off.
    truncated: bool
    tokens_in: int
    tokens_out: int
    #: None: neither the price map nor the settings know a price.
    cost_usd: float | None
    seconds: float


class CallError(InferenceError):
    """The language model gave no reply."""

    def __init__(
        self,
        message: str,
        *,
        reason: FailureReason,
        retried: bool = False,
        billed: bool = False,
        after_s: float | None = None,
    ) -> None:
        super().__init__(message)
        self.reason: FailureReason = reason
        #: Whether the same request may succeed later.
        self.retried = retried
        #: Whether the provider may have done the work, and charge for it.
        self.billed = billed
        #: Seconds that the provider asks us to wait.
        self.after_s = after_s


class LanguageModel(Protocol):
    """The interface of a language model. Only `complete`, `most_usd` and `warm` may load a library."""

    @property
    def key(self) -> str:
        """The key of its cached replies."""
        ...

    @property
    def limits(self) -> Limits:
        """How it may be called."""
        ...

    def complete(self, messages: Messages, *, schema: dict[str, Any], max_tokens: int) -> Completion:
        """Send one request, once. Raises CallError."""
        ...

    def most_usd(self, messages: Messages, *, max_tokens: int) -> float | None:
        """Return the most that the request can cost; None if no price is known."""
        ...

    def warm(self) -> None:
        """Load all that the first request needs, without sending one. Raises InferenceError if that fails."""
        ...


@dataclass(frozen=True)
class HostedLanguageModel:
    """Any model that litellm can reach: hosted models by name, or your own behind an OpenAI-compatible server.

    litellm reads the API keys from the environment (`OPENAI_API_KEY`, ...).
    """

    name: str
    limits: Limits = field(kw_only=True, default=Limits())
    api_base: str | None = field(kw_only=True, default=None)
    #: US dollars per million tokens, in and out.
    price: tuple[float, float] | None = field(kw_only=True, default=None)

    @property
    def key(self) -> str:
        """Adapter and model."""
        return f"litellm/{self.name}"

    def complete(self, messages: Messages, *, schema: dict[str, Any], max_tokens: int) -> Completion:
        """Send one request, once, at temperature 0. Raises CallError, whose message quotes no text."""
        began = time.perf_counter()
        try:
            ask = partial(
                self._litellm.acompletion,
                model=self.name,
                messages=list(messages),
                temperature=0,
                max_tokens=max_tokens,
                timeout=self.limits.timeout_s,
                max_retries=0,  # retries are ours: each is booked
                response_format=self._shape(schema),
                drop_params=True,  # a parameter that the model lacks is not sent
                **({"api_base": self.api_base} if self.api_base else {}),
            )
            reply = call_within(self.limits.timeout_s, ask)
            choice = reply.choices[0] if reply.choices else None  # without one, its tokens are charged all the same
            text, ended = (choice.message.content or "", choice.finish_reason) if choice else ("", None)
            tokens_in, tokens_out = int(reply.usage.prompt_tokens), int(reply.usage.completion_tokens)
        except InferenceError:
            raise
        except Exception as error:  # users get one sentence, whatever a provider's client raises
            raise self._failure(error) from None  # the cause may quote the conversation
        if not tokens_in and not tokens_out:  # the server does not count
            tokens_in, tokens_out = most_tokens(messages), max_tokens
        return Completion(
            text=text,
            truncated=ended == "length",
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            cost_usd=self._usd(tokens_in, tokens_out),
            seconds=time.perf_counter() - began,
        )

    def most_usd(self, messages: Messages, *, max_tokens: int) -> float | None:
        """Return the price of as many tokens as the messages have bytes, and of the longest reply."""
        return self._usd(most_tokens(messages), max_tokens)

    def warm(self) -> None:
        """Import litellm and, by a request to a port where nobody listens, what it imports on first use."""
        litellm, asked = self._litellm, [{"role": "user", "content": "warm"}]
        with socket.socket() as nobody, suppress(Exception):
            nobody.bind(("127.0.0.1", 0))
            address = f"http://127.0.0.1:{nobody.getsockname()[1]}/v1"
            warm = partial(litellm.acompletion, model=self.name, messages=asked, api_base=address, max_retries=0)
            call_within(60, partial(warm, timeout=1))

    def _usd(self, tokens_in: int, tokens_out: int) -> float | None:
        if self.price is not None:
            return (self.price[0] * tokens_in + self.price[1] * tokens_out) / 1e6
        try:
            dollars = self._litellm.cost_per_token(
                model=self.name, prompt_tokens=tokens_in, completion_tokens=tokens_out
            )
        except InferenceError:
            raise
        except Exception:  # litellm raises several kinds of errors for a model that it has no price for
            return None
        return float(sum(dollars))

    def _shape(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Return how to ask the provider for JSON: by schema if litellm says that it can, else as llama.cpp does."""
        envelope = reply_schema(schema)
        if self._litellm.supports_response_schema(self.name):
            return {"type": "json_schema", "json_schema": {"name": "replies", "schema": envelope}}
        return {"type": "json_object", "schema": envelope}

    @cached_property
    def _litellm(self) -> Any:
        with _LOADING:
            os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # else the import fetches the price map
            litellm = load_extra("litellm", extra="litellm", needed_by=f"The model {self.name}")
            litellm.suppress_debug_info = True
            litellm.telemetry = False
            litellm.disable_aiohttp_transport = True  # httpx alone, whose errors `_failure` tells apart
            try:
                litellm.get_llm_provider(self.name)
            except litellm.exceptions.BadRequestError:
                sentence = f"No provider is known for the model {self.name}; write it as litellm/provider/model."
                raise CallError(sentence, reason="rejected") from None
            return litellm

    def _failure(self, error: Exception) -> CallError:
        kinds, status = self._litellm.exceptions, getattr(error, "status_code", None)
        causes = names_of_causes(error)
        unsent = bool(causes & UNSENT)
        reason: FailureReason
        match error:
            case kinds.AuthenticationError():
                reason, why = "rejected", "refused the API key; set the one of its provider, e.g. OPENAI_API_KEY"
            case kinds.ContentPolicyViolationError() | kinds.ContextWindowExceededError():
                reason, why = "refused", f"refused a text (HTTP {status})"
            case kinds.RateLimitError():
                reason, why = "rate", "limited our rate"
            case kinds.Timeout() | TimeoutError():
                reason, why = "timeout", f"gave no reply within {self.limits.timeout_s:g} s"
            case _ if unsent:
                reason, why = "unavailable", "cannot be reached"
            case _ if causes & BROKEN:
                reason, why = "broken", "broke off its reply"
            case _ if status in _RETRIED:
                reason, why = "unavailable", f"failed with HTTP {status}"
            case _ if status in _UNEXPLAINED:
                reason, why = "unexplained", f"rejected a request (HTTP {status})"
            case _:
                reason, why = (
                    "rejected",
                    f"failed with {type(error).__name__}" + (f" (HTTP {status})" if status else ""),
                )
        # without an HTTP answer nobody knows whether the work was done
        return CallError(
            f"The model {self.key} {why}.",
            reason=reason,
            retried=reason not in ("rejected", "unexplained", "refused") and (status is None or status in _RETRIED),
            billed=not unsent and reason in ("timeout", "broken"),
            after_s=_retry_after(error),
        )


_LOADING = Lock()


def reply_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a whole reply: a list of what `schema` describes, each with the number of its item.

    It has no limits of length, which the prompt shows and which are checked afterwards: llama.cpp's grammars cannot
    hold a text of two thousand letters, and some providers refuse them.
    """
    schema = _unmeasured(schema)
    one = {key: value for key, value in schema.items() if key != "$defs"}
    one["properties"] = {"number": {"type": "integer"}, **schema.get("properties", {})}
    one["required"] = ["number", *schema.get("required", ())]
    return {
        "type": "object",
        "properties": {"replies": {"type": "array", "items": one}},
        "required": ["replies"],
        **({"$defs": schema["$defs"]} if "$defs" in schema else {}),
    }


def _unmeasured(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {key: _unmeasured(value) for key, value in schema.items() if key not in _LENGTHS}
    return [_unmeasured(each) for each in schema] if isinstance(schema, list) else schema


def most_tokens(messages: Messages) -> int:
    """Return an upper bound on the tokens of the messages: no tokenizer makes more than one of a byte."""
    return sum(len(message["content"].encode()) + _MESSAGE_TOKENS for message in messages)


def names_of_causes(error: BaseException | None) -> set[str]:
    """Return the names of the types of an error and its causes."""
    found: set[str] = set()
    while error is not None:
        found.add(type(error).__name__)
        error = error.__cause__ or error.__context__
    return found


def _retry_after(error: Exception) -> float | None:
    """Return the seconds that the provider asks for, written as seconds or as a date (RFC 9110, 10.2.3)."""
    headers = getattr(error, "litellm_response_headers", None) or getattr(
        getattr(error, "response", None), "headers", {}
    )
    asked = str(headers.get("retry-after") or "")
    try:
        return max(float(asked), 0.0)
    except ValueError:
        pass
    try:
        return max((parsedate_to_datetime(asked) - datetime.now(UTC)).total_seconds(), 0.0)
    except (TypeError, ValueError):
        return None
