"""The reader: upper layers of its own on the states of the embedder MiniLM, in eight bits, on ONNX Runtime."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.resources import files
from math import prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import orjson
from tokenizers import Encoding

from reverie.errors import InferenceError
from reverie.inference.batching import equal_length_batches, work_batches
from reverie.inference.minilm.onnx import BATCH_TOKENS, MiniLM, session_on_one_thread
from reverie.inference.reader.decoding import (
    MOST_TOKENS,
    POINTERS,
    AskedMessage,
    CandidateSpan,
    MessageReading,
    Numbers,
    ObjectSpan,
    ReadMessage,
    TextPlace,
    TokenPlaces,
    calibrated,
    candidates,
    chance_of,
    chance_of_choice,
    choice,
    last_of_question,
    letters_of,
    objects,
    pointed,
    ranked,
    with_marks,
    word_edges,
)
from reverie.inference.reader.sentences import own_sentences, with_sentences
from reverie.inference.reader.wanted import Wanted, wanted_signs
from reverie.inference.version import code_version

#: Parts of a long message that are read; the rest is not.
MOST_PARTS = 16

#: Tokens whose lower states are in memory at once: 1.5 KB each.
_AT_ONCE = 32_768

#: The fused operator takes ten times as long as the two that it replaces.
_UNFUSED = ["SkipLayerNormFusion"]

#: Least chance of a statement that is returned: of the sentences just above it, a third tell something.
_LEAST_CHANCE = 0.05

#: Choices whose chances make up `whole`, besides the confidence and the relation, given that there is one.
_WHOLE = ("phase", "holder_first", "holder_last", "topic_first", "topic_last")

_ENDS_SENTENCE = frozenset(".!?\n")


class _Side(NamedTuple):
    """The tokens of a question or a message: places, and where words begin and end."""

    ids: npt.NDArray[np.int64]
    places: npt.NDArray[np.int64]
    begins: npt.NDArray[np.bool_]
    ends: npt.NDArray[np.bool_]
    letters: npt.NDArray[np.int64]


class _Part(NamedTuple):
    """A unit of reading: a message or a part of a long one, with the question before it."""

    message: int
    ids: list[npt.NDArray[np.int64]]
    tokens: TokenPlaces
    #: for each token, the number of its sentence in the message; -1 in the question
    sentences: npt.NDArray[np.int64]


class TrainedReader:
    """Reads messages. The result depends on the message and its question alone, like the vectors of MiniLM."""

    def __init__(self, embedder: MiniLM | None = None, *, threads: int = 2) -> None:
        """Load the model (0.1 s); `embedder` shares its weights. Raises InferenceError when its files are missing."""
        folder = files(__package__)
        try:
            self._numbers: dict[str, Any] = orjson.loads(folder.joinpath("reader.json").read_bytes())
            spans, heads = (folder.joinpath(name).read_bytes() for name in ("reader.onnx", "objects.onnx"))
        except OSError:
            raise InferenceError("The files of the reader are missing; reinstall reverie.") from None
        self._spans, self._heads = session_on_one_thread(spans, unfused=_UNFUSED), session_on_one_thread(heads)
        self._widths = np.array(self._numbers["widths"], np.float32)
        self._wanted = Wanted()
        self._lower = embedder or MiniLM(threads=threads)
        self._threads = threads

    @property
    def model(self) -> str:
        """The name of the model, which changes with its weights."""
        name: str = self._numbers["model"]
        return name

    @property
    def version(self) -> str:
        """The version of the model and the code around it: the result for a message changes with this alone."""
        return f"{self.model}/{code_version('reverie.inference.minilm', __package__)}"

    def read(self, messages: Sequence[AskedMessage]) -> list[ReadMessage]:
        """Return the statements of each message; if it is unsure of one, it also reads the sentences by themselves."""
        read = self.read_whole(messages)
        unsure = [own_sentences(message, found) for message, found in zip(messages, read, strict=True)]
        alone = iter(self.read_whole([sentence.message for some in unsure for sentence in some]))
        return [
            with_sentences(whole, [(sentence, next(alone)) for sentence in some]) if some else whole
            for whole, some in zip(read, unsure, strict=True)
        ]

    def read_whole(self, messages: Sequence[AskedMessage]) -> list[ReadMessage]:
        """Return the statements of each message, read once."""
        parts = list(self._parts(messages))
        found = [read for some in _at_once(parts) for read in self._read(some)]
        read = [ReadMessage([], 0.0) for _ in messages]
        for part, (readings, states) in zip(parts, found, strict=True):
            before = read[part.message]
            read[part.message] = ReadMessage(before.readings + readings, max(states, before.states))
        return read

    def _parts(self, messages: Sequence[AskedMessage]) -> Iterator[_Part]:
        texts = list(dict.fromkeys(text for message in messages for text in message if text))
        encoded = dict(zip(texts, self._lower.tokens(texts), strict=True))
        for index, (text, question) in enumerate(messages):
            if not text:
                continue
            before = [_cut(question, encoded[question])] if question else []
            for places, ids in _portions(text, encoded[text]):
                sides = [*before, _side(text, ids, places)]
                columns = [np.concatenate(column) for column in list(zip(*sides, strict=True))[1:]]
                of_question = np.arange(len(columns[0])) < len(columns[0]) - len(ids)
                numbers = np.full(len(of_question), -1)
                numbers[~of_question] = _sentences(text, places)
                yield _Part(index, [side.ids for side in sides], TokenPlaces(of_question, *columns), numbers)

    def _read(self, parts: Sequence[_Part]) -> list[ReadMessage]:
        """Read parts: in the lower layers each question and message alone, and once; in the upper layers both."""
        below = self._below(parts)
        found = [ReadMessage([], 0.0) for _ in parts]

        def work(batch: list[int]) -> None:
            chosen = [parts[index] for index in batch]
            states = np.stack([np.concatenate([below[ids.tobytes()] for ids in part.ids]) for part in chosen])
            for index, read in zip(batch, self._above(chosen, states), strict=True):
                found[index] = read

        lengths = [_length(part) for part in parts]
        work_batches(equal_length_batches(lengths, token_budget=BATCH_TOKENS), work, threads=self._threads)
        return found

    def _below(self, parts: Sequence[_Part]) -> dict[bytes, Numbers]:
        """Return the states of questions and messages after the embedder's lower layers, by their ids as bytes."""
        texts = list({ids.tobytes(): ids for part in parts for ids in part.ids}.values())
        found: dict[bytes, Numbers] = {}

        def work(batch: list[int]) -> None:
            ids = [texts[index] for index in batch]
            found.update(zip((each.tobytes() for each in ids), self._lower.middle(np.stack(ids)), strict=True))

        lengths = [len(ids) for ids in texts]
        work_batches(equal_length_batches(lengths, token_budget=BATCH_TOKENS), work, threads=self._threads)
        return found

    def _above(self, parts: Sequence[_Part], states: Numbers) -> list[ReadMessage]:
        side = np.stack([(~part.tokens.of_question).astype(np.int64) for part in parts])
        letters = np.stack([part.tokens.letters for part in parts])
        names = ["hidden", "keys", "spans", "something"]
        given = {"states": states, "side": side, "letters": letters}
        hidden, keys, by_edges, something = self._spans.run(names, given)
        chances = [chance_of(logit) for logit in something[:, 0]]
        found = [candidates(logits, part.tokens, self._widths) for part, logits in zip(parts, by_edges, strict=True)]
        said = self._said(hidden, keys, [(row, span) for row, some in enumerate(found) for span in some])
        said |= _of_sentences(parts, hidden, found)
        read = []
        at = 0
        for part, some, stated in zip(parts, found, chances, strict=True):
            of = {name: values[at : at + len(some)] for name, values in said.items()}
            at += len(some)
            weights = self._numbers["weights"]
            spans = ranked(some, of["relation"], stated, weights) if some else []
            likely = [span for span in spans if span.confidence * stated >= _LEAST_CHANCE]
            readings = [self._reading(part.tokens, span, of, stated) for span in objects(likely, 0)]
            read.append(ReadMessage(readings, round(stated, 3)))
        return read

    def _said(self, hidden: Numbers, keys: Numbers, rows: Sequence[tuple[int, CandidateSpan]]) -> dict[str, Numbers]:
        """Return what is said of spans: logits by the name of an aspect or of a pointer's end; and their `features`."""
        if not rows:
            return {}
        means = hidden.mean(axis=1)
        features = [
            np.concatenate(
                [hidden[row, first], hidden[row, last], hidden[row, first : last + 1].mean(axis=0), means[row]]
            )
            for row, (first, last, _) in rows
        ]
        inputs = {"features": np.stack(features), "keys": keys[[row for row, _ in rows]]}
        names = [output.name for output in self._heads.get_outputs()]
        return dict(zip(names, self._heads.run(names, inputs), strict=True)) | {"features": inputs["features"]}

    def _wanted_by(
        self, tokens: TokenPlaces, span: ObjectSpan, said: dict[str, Numbers], stated: float
    ) -> tuple[Numbers, npt.NDArray[np.float64]]:
        """Return the inputs of `Wanted` for a statement: states and signs."""
        of = {name: said[name][span.candidate] for name in ("features", "sentence", "sentence_tokens")}
        signs = wanted_signs(span.confidence * stated, len(tokens.begins), int(of["sentence_tokens"]))
        return np.concatenate([of["features"], of["sentence"]]), signs

    def _reading(
        self, tokens: TokenPlaces, span: ObjectSpan, said: dict[str, Numbers], stated: float
    ) -> MessageReading:
        numbers, of = self._numbers, {name: values[span.candidate] for name, values in said.items()}
        phase, polarity, duration = (numbers[name][choice(of[name])] for name in ("phase", "polarity", "duration"))
        pointers: dict[str, TextPlace | None] = {}
        for name, longest in POINTERS.items():
            place = pointed(of[f"{name}_first"], of[f"{name}_last"], tokens, longest)
            pointers[name] = tokens.place(*place) if place else None
        confidence = calibrated(span.confidence, numbers["calibration"])
        whole = confidence * prod(map(chance_of_choice, (of["relation"][1:], *(of[name] for name in _WHOLE))))
        return MessageReading(
            relation=numbers["relations"][span.relation],
            object=tokens.place(span.first, span.last),
            phase=phase,
            polarity=polarity,
            duration=duration,
            **pointers,
            confidence=confidence,
            whole=round(whole, 3),
            clause_chance=round(chance_of_choice(of["clause_first"]) * chance_of_choice(of["clause_last"]), 3),
            chance=round(span.confidence * stated, 3),
            wanted=self._wanted.chance(*self._wanted_by(tokens, span, said, stated)),
        )


def _at_once(parts: Sequence[_Part]) -> Iterator[Sequence[_Part]]:
    """Yield parts whose states are in memory together, in order: a message is often the question of the next."""
    start = tokens = 0
    for at, part in enumerate(parts):
        if tokens + _length(part) > _AT_ONCE:
            yield parts[start:at]
            start, tokens = at, 0
        tokens += _length(part)
    yield parts[start:]


def _length(part: _Part) -> int:
    return sum(map(len, part.ids))


def _cut(text: str, encoding: Encoding) -> _Side:
    """Return the last tokens of what was said before, after the special one: a long reply asks at its end."""
    ids, places = np.array(encoding.ids, np.int64), np.array(encoding.offsets, np.int64)
    kept = last_of_question(len(ids))
    return _side(text, ids[kept], places[kept])


def _side(text: str, ids: npt.NDArray[np.int64], places: npt.NDArray[np.int64]) -> _Side:
    marked = with_marks(text, places)
    return _Side(ids, marked, *word_edges(text, marked), letters_of(text, places))


def _sentences(text: str, places: npt.NDArray[np.int64]) -> list[int]:
    """Return the sentence number of each token: a sentence ends with a mark before white space, or with a line."""
    found, number, before = [], 0, 0
    for start, end in places.tolist():
        between = text[before:start]
        if between and ("\n" in between or text[before - 1] in _ENDS_SENTENCE):
            number += 1
        found.append(number)
        before = max(before, end)
    return found


def _of_sentences(
    parts: Sequence[_Part], hidden: Numbers, found: Sequence[Sequence[CandidateSpan]]
) -> dict[str, Numbers]:
    """Return for the sentence of each span the mean of its states, and its number of tokens."""
    means, tokens = [], []
    for row, (part, spans) in enumerate(zip(parts, found, strict=True)):
        numbers = [int(part.sentences[span.first]) for span in spans]
        of = {number: part.sentences == number for number in set(numbers)}
        mean = {number: hidden[row, same].mean(axis=0) for number, same in of.items()}
        means += [mean[number] for number in numbers]
        tokens += [of[number].sum() for number in numbers]
    return {"sentence": np.array(means, np.float32), "sentence_tokens": np.array(tokens, np.float32)} if means else {}


def _portions(text: str, encoding: Encoding) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
    """Yield the places and ids of a text's tokens, of a long one in parts that end with a sentence if they can."""
    ids, places = np.array(encoding.ids, np.int64), np.array(encoding.offsets, np.int64)
    if len(ids) <= MOST_TOKENS:
        yield places, ids
        return
    first, last, at = ids[:1], ids[-1:], 1
    none = np.zeros((1, 2), np.int64)
    for _ in range(MOST_PARTS):
        end = min(at + MOST_TOKENS - 2, len(ids) - 1)
        if end < len(ids) - 1:
            stops = [each for each in range(at + 1, end) if text[places[each - 1][0]] in _ENDS_SENTENCE]
            end = stops[-1] if stops else end
        if at >= end:
            return
        yield np.concatenate([none, places[at:end], none]), np.concatenate([first, ids[at:end], last])
        at = end
