"""Token counts: exact where a tokenizer is here, and otherwise it is said that they are not."""

from __future__ import annotations

import socket
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.inference.minilm.onnx import MiniLM
from reverie.inference.tokens import plain_count, token_counter


class Words:
    model, dimensions, price_per_token = "words", 1, 0.0

    def encode(self, texts: Any) -> Any:
        raise NotImplementedError

    def count_tokens(self, text: str) -> int:
        return len(text.split())


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("a tokenizer wants the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.mark.usefixtures("no_network")
@pytest.mark.parametrize(
    ("model", "encoding"),
    [("gpt-4o", "o200k_base"), ("openai/gpt-4o-mini", "o200k_base"), ("gpt-4", "cl100k_base")],
)
def test_of_a_model_whose_tokenizer_is_here(model: str, encoding: str) -> None:
    counter = token_counter(model, Words())
    assert (counter.name, counter.note) == (encoding, None)
    assert counter.count("My name is Alex.") == 5
    # what a person typed is text, also where it looks like a mark of the tokenizer's own
    assert counter.count("<|endoftext|>") > 1


@pytest.mark.usefixtures("no_network")
@pytest.mark.parametrize("model", ["claude-sonnet-4", "text-davinci-003", "my-own/model"])
def test_of_any_other_the_embedder_counts_and_a_note_says_so(model: str) -> None:
    counter = token_counter(model, Words())
    assert (counter.name, counter.count("one two")) == ("words", 2)
    assert counter.note == f"The tokenizer of {model} is not here: tokens are those of words."


def test_without_a_model_they_are_the_embedders() -> None:
    assert token_counter(None, Words()).note is None


@given(st.text("ab ,.é你\n\r\t#-1", max_size=120))
def test_counting_by_line_is_counting(minilm: MiniLM, text: str) -> None:
    assert minilm.word_pieces
    assert token_counter(None, minilm).count(text) == minilm.count_tokens(text)


def test_without_anything_characters_are_counted() -> None:
    counter = token_counter("my-own/model", None)
    assert [counter.count(text) for text in ("", "a", "abcd", "abcde")] == [0, 1, 1, 2]
    assert counter.note == "Tokens are estimated at 4 characters each."


def test_a_count_for_the_life_of_a_process_keeps_no_text() -> None:
    words = Words()
    assert plain_count(words) == words.count_tokens, "the embedder's own"
    assert [plain_count(None)(text) for text in ("", "abcd", "abcde")] == [0, 1, 2]
