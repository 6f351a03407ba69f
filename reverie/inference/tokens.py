"""Token counts for the model that will read a text: exact if its tokenizer is installed, else estimated.

Nothing is downloaded: of the hosted models' tokenizers, only those that come with the extra `litellm` are used.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from reverie.inference.embedder import Embedder

#: Average characters of a token, for budgets without a tokenizer.
CHARACTERS_A_TOKEN = 4
#: Byte-pair encodings that come with the extra.
_SHIPPED = ("o200k_base", "cl100k_base")


@dataclass(frozen=True, kw_only=True, slots=True)
class Counter:
    """Counts the tokens of texts."""

    #: The tokenizer: an encoding, an embedding model's key, or `characters/4`.
    name: str
    count: Callable[[str], int]
    #: Why the count is not exact, as a sentence; None if it is.
    note: str | None = None
    #: Whether the count is estimated, without a tokenizer.
    estimates: bool = False


def plain_count(embedder: Embedder | None) -> Callable[[str], int]:
    """Return the embedder's own count of tokens, or without an embedder an estimate; it keeps no text."""
    return _estimate if embedder is None else embedder.count_tokens


def token_counter(model: str | None, embedder: Embedder | None) -> Counter:
    """Return the best counter for a chat model (`gpt-4o`, `openai/gpt-4o`); for None, of the embedder's own tokens.

    It may keep the lines that it has counted, so use it for one text and those like it, not as long as a process lives.
    If a model's tokenizer is not installed, the embedder's is used, which splits words more finely than most chat
    models do; without an embedder, characters are counted. The counter's note says so.
    """
    encoding = _encoding(model) if model else None
    if encoding is not None:
        return Counter(name=encoding.name, count=lambda text: len(encoding.encode(text, disallowed_special=())))
    if embedder is not None:
        why = f"The tokenizer of {model} is not here: tokens are those of {embedder.model}." if model else None
        # word pieces end at white space, so each line has one count, however lines are put together
        by_line = getattr(embedder, "word_pieces", False)
        count = _by_line(embedder.count_tokens) if by_line else embedder.count_tokens
        return Counter(name=embedder.model, count=count, note=why)
    return Counter(
        name=f"characters/{CHARACTERS_A_TOKEN}",
        count=_estimate,
        note=f"Tokens are estimated at {CHARACTERS_A_TOKEN} characters each.",
        estimates=True,
    )


def _estimate(text: str) -> int:
    return -(-len(text) // CHARACTERS_A_TOKEN)


def _by_line(count: Callable[[str], int]) -> Callable[[str], int]:
    """Return a counter that counts each line once; it alone keeps the lines, since they are what people said."""
    sizes: dict[str, int] = {}

    def counted(text: str) -> int:
        total = 0
        for line in text.split("\n"):
            if line not in sizes:
                sizes[line] = count(line)
            total += sizes[line]
        return total

    return counted


@cache
def _encoding(model: str) -> Any | None:
    """Return the byte-pair encoding of a model, if its name is known and its file is on this disk.

    litellm takes seconds to import, so it is only located.
    """
    extra = importlib.util.find_spec("litellm")
    if extra is None or not extra.submodule_search_locations or importlib.util.find_spec("tiktoken") is None:
        return None
    import tiktoken

    try:
        name = tiktoken.encoding_name_for_model(model.rpartition("/")[2])
    except KeyError:
        return None
    if name not in _SHIPPED:
        return None
    folder = Path(extra.submodule_search_locations[0]) / "litellm_core_utils" / "tokenizers"
    os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(folder))  # as litellm itself does
    return tiktoken.get_encoding(name)
