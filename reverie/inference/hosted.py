"""Any embedding model that litellm can reach: hosted ones by name, or your own behind an OpenAI-compatible server."""

from __future__ import annotations

import os
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from tenacity import RetryCallState, Retrying, retry_if_exception, stop_after_attempt, wait_exponential_jitter

from reverie.errors import InferenceError
from reverie.inference.batching import work_batches
from reverie.inference.completions import BROKEN, UNSENT, names_of_causes
from reverie.inference.deadline import call_within
from reverie.inference.embedder import EmbeddingError, Vectors, lost_texts
from reverie.inference.extras import load_extra

RETRIED_STATUSES = frozenset({408, 409, 429, 500, 502, 503, 504})
"""HTTP answers after which the same request may succeed; litellm maps a lost connection and a timeout to them."""

LONGEST_WAIT_S = 60.0
"""A server may ask for more; then the stage fails and its own retry comes later."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Patience:
    """The timeout of a request, and how often it is repeated."""

    timeout_s: float = 60.0
    attempts: int = 5
    backoff_s: float = 1.0


class HostedEmbedder:
    """A model behind a network, with many texts per request.

    Such a model may give a text different vectors; the call cache, not this class, keeps a text's vector the same. Keys
    and addresses are those of litellm, from the environment (`OPENAI_API_KEY`, `OPENAI_API_BASE`, ...) or arguments.
    """

    def __init__(
        self,
        name: str,
        *,
        threads: int = 2,
        dimensions: int | None = None,
        api_base: str | None = None,
        api_key: str | None = None,
        batch_size: int = 64,
        patience: Patience | None = None,
    ) -> None:
        """Load litellm, and find out the dimensions of the model.

        `dimensions` asks a model that can for shorter vectors, and tells the length for one that litellm's price map
        does not list; without it, one word is embedded to find out. Raises InferenceError if the extra is absent or no
        provider is known for the name.
        """
        os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # else the import fetches the price map
        self._litellm = load_extra("litellm", extra="litellm", needed_by=f"The model {name}")
        self._litellm.suppress_debug_info = True
        self._litellm.disable_aiohttp_transport = True  # one HTTP client for all calls
        self._litellm.DEFAULT_MAX_RETRIES = 0  # retries are ours alone; max_retries=0 on the call is ignored
        try:
            self._litellm.get_llm_provider(name)
        except self._litellm.exceptions.BadRequestError:
            raise InferenceError(
                f"No provider is known for the model {name}; write it as provider/model, e.g. openai/{name}."
            ) from None
        known = self._price_entry(name)
        self.model = f"litellm/{name}" if dimensions is None else f"litellm/{name}/{dimensions}"
        self.price_per_token = float(known.get("input_cost_per_token") or 0.0)
        self._name, self._threads, self._batch_size = name, threads, batch_size
        self._patience = patience or Patience()
        options = {"api_base": api_base, "api_key": api_key, "dimensions": dimensions}
        self._options = {key: value for key, value in options.items() if value is not None}
        self.dimensions = dimensions or known.get("output_vector_size") or self._request(["dimensions"], []).shape[1]

    def _price_entry(self, name: str) -> dict[str, Any]:
        try:
            return dict(self._litellm.get_model_info(name))
        except Exception:  # litellm raises a bare Exception for a model that it has no price for
            return {}

    def with_patience(self, patience: Patience) -> HostedEmbedder:
        """Return the same model with another patience."""
        other = copy(self)
        other._patience = patience
        return other

    def count_tokens(self, text: str) -> int:
        """Return the tokens by litellm's tokenizer for the model; an estimate if the provider does not publish it."""
        return int(self._litellm.token_counter(model=self._name, text=text))

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector per text, in the order of the texts; `threads` requests are in flight at once.

        The texts of requests that were lost, and that the provider may charge for, are added to `lost_texts`.

        Raises EmbeddingError if a request fails for good or the reply is not what was asked for; it is billed if any of
        the requests may be.
        """
        if not texts:
            return np.empty((0, self.dimensions), np.float32)
        batches = [list(texts[at : at + self._batch_size]) for at in range(0, len(texts), self._batch_size)]
        replies: dict[int, Vectors] = {}
        billed: list[bool] = []
        lost = lost_texts()  # of the caller's thread

        def ask(places: list[int]) -> None:
            for place in places:
                try:
                    replies[place] = self._request(batches[place], lost)
                except EmbeddingError as error:
                    billed.append(error.billed)
                    raise

        try:
            work_batches([[place] for place in range(len(batches))], ask, threads=self._threads)
        except EmbeddingError as error:
            raise EmbeddingError(str(error), billed=bool(replies) or any(billed)) from None
        vectors = np.concatenate([replies[place] for place in range(len(batches))])
        if vectors.shape[1] != self.dimensions:
            raise EmbeddingError(
                f"The model {self.model} answered with {vectors.shape[1]} dimensions instead of {self.dimensions}.",
                billed=True,
            )
        return vectors

    def _request(self, texts: list[str], lost: list[str]) -> Vectors:
        retrying = Retrying(
            stop=stop_after_attempt(self._patience.attempts),
            wait=self._wait,
            retry=retry_if_exception(
                lambda error: isinstance(error, TimeoutError) or getattr(error, "status_code", None) in RETRIED_STATUSES
            ),
            reraise=True,
        )
        ask = partial(
            self._litellm.aembedding,
            model=self._name,
            input=texts,
            timeout=self._patience.timeout_s,
            drop_params=True,  # a model that cannot shorten its vectors is not asked to
            encoding_format="float",
            **self._options,
        )
        billed = False

        def attempt() -> Any:
            nonlocal billed
            try:
                return call_within(self._patience.timeout_s, ask)
            except Exception as error:
                if self._may_be_billed(error):
                    billed = True
                    lost.extend(texts)
                raise

        try:
            reply = retrying(attempt)
        except Exception as error:  # users get one sentence, whatever a provider's client raises
            raise EmbeddingError(self._sentence(error), billed=billed) from None  # the cause may quote the texts
        return self._vectors(reply.data, len(texts))

    def _may_be_billed(self, error: Exception) -> bool:
        """Return whether the provider may have done the work of a failed attempt: it had it, and did not answer."""
        causes = names_of_causes(error)
        if causes & UNSENT:
            return False
        return isinstance(error, (self._litellm.exceptions.Timeout, TimeoutError)) or bool(causes & BROKEN)

    def _wait(self, state: RetryCallState) -> float:
        """Return the seconds that the server asks for, else exponential backoff with jitter."""
        error = state.outcome.exception() if state.outcome else None
        headers = getattr(error, "litellm_response_headers", None) or {}
        try:
            return min(float(headers["retry-after"]), LONGEST_WAIT_S)
        except (KeyError, ValueError):  # absent, or a date
            return wait_exponential_jitter(multiplier=self._patience.backoff_s, max=LONGEST_WAIT_S)(state)

    def _sentence(self, error: Exception) -> str:
        kinds = self._litellm.exceptions
        match error:
            case kinds.AuthenticationError():
                reason = "refused the API key; set the one of its provider, e.g. OPENAI_API_KEY"
            case kinds.RateLimitError():
                reason = f"still limited our rate at attempt {self._patience.attempts}"
            case kinds.Timeout() | TimeoutError():
                times = f", {self._patience.attempts} times" if self._patience.attempts > 1 else ""
                reason = f"gave no reply within {self._patience.timeout_s:.4g} s{times}"
            case _:
                status = getattr(error, "status_code", None)
                reason = f"failed with {type(error).__name__}" + (f" (HTTP {status})" if status else "")
        return f"The model {self.model} {reason}."

    def _vectors(self, data: list[dict[str, Any]], count: int) -> Vectors:
        """Return the reply as unit rows; providers may answer out of order."""
        try:
            rows = np.array([item["embedding"] for item in sorted(data, key=lambda item: item["index"])], np.float32)
        except (KeyError, TypeError, ValueError):
            rows = np.empty((0, 0), np.float32)
        if rows.ndim != 2 or len(rows) != count:
            sentence = f"The model {self.model} did not answer with one vector for each of {count} texts."
            raise EmbeddingError(sentence, billed=True)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        if not (np.isfinite(lengths).all() and lengths.all()):
            raise EmbeddingError(f"The model {self.model} answered with a zero or infinite vector.", billed=True)
        unit: Vectors = rows / lengths
        return unit
