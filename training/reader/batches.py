"""Messages as arrays, with one shape per batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from reverie.inference.reader.decoding import POINTERS
from training.reader.messages import Label, Message, Place
from training.reader.network import WIDTH
from training.reader.states import Encoded

#: Lengths in tokens to which messages are padded, and tokens of a batch.
LENGTHS = (12, 16, 20, 24, 32, 48, 96, 176)
BATCH_TOKENS = 1024
#: The most objects of a message that are trained on.
OBJECTS = 8

Batch = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Example:
    """A message, its tokens, and its labels by tokens."""

    message: Message
    encoded: Encoded
    #: (objects, 3)
    objects: npt.NDArray[np.int32]
    #: phase, polarity, duration by object
    aspects: npt.NDArray[np.int32]
    #: first and last token by pointer and object, one more than their places; 0: none
    pointers: npt.NDArray[np.int32]


def example(message: Message, encoded: Encoded) -> Example:
    """Return a message with its labels by tokens, without labels whose object is beyond the tokens or too long."""
    objects, aspects, pointers = [], [], []
    for label in message.labels:
        place = tokens_of(encoded, label.object)
        if place is None or place[1] - place[0] >= WIDTH:
            continue
        objects.append((label.relation + 1, *place))
        aspects.append((label.phase, label.polarity, label.duration))
        pointers.append([_pointed(encoded, label, name) for name in POINTERS])
    return Example(
        message,
        encoded,
        np.array(objects, np.int32).reshape(-1, 3)[:OBJECTS],
        np.array(aspects, np.int32).reshape(-1, 3)[:OBJECTS],
        np.array(pointers, np.int32).reshape(-1, len(POINTERS), 2)[:OBJECTS],
    )


def _pointed(encoded: Encoded, label: Label, name: str) -> tuple[int, int]:
    place: Place | None = getattr(label, name)
    found = tokens_of(encoded, place) if place else None
    return (found[0] + 1, found[1] + 1) if found else (0, 0)


def tokens_of(encoded: Encoded, place: Place) -> tuple[int, int] | None:
    """Return the first and the last token that a place covers, if it covers any."""
    side, start, end = place
    starts, ends = encoded.offsets.T
    inside = np.flatnonzero((encoded.side == side) & (starts < end) & (ends > start) & (ends > starts))
    return (int(inside[0]), int(inside[-1])) if len(inside) else None


def span_mask(encoded: Encoded) -> npt.NDArray[np.bool_]:
    """Return a mask of the spans that are whole words of one text: (tokens, WIDTH)."""
    tokens = len(encoded.side)
    mask = np.zeros((tokens, WIDTH), bool)
    for width in range(min(WIDTH, tokens)):
        last = np.arange(width, tokens)
        first = last - width
        mask[first, width] = encoded.begins[first] & encoded.ends[last] & (encoded.side[first] == encoded.side[last])
    return mask


def padded(length: int) -> int:
    """Return the number of tokens to which a message is padded."""
    return next(each for each in LENGTHS if each >= length)


def shuffled(examples: Sequence[Example], random: np.random.Generator) -> list[list[Example]]:
    """Return batches of messages of similar length, in random order."""
    order = random.permutation(len(examples))
    by_length: dict[int, list[Example]] = {}
    for index in order:
        by_length.setdefault(padded(len(examples[index].encoded.side)), []).append(examples[index])
    batches = [
        alike[at : at + size]
        for length, alike in sorted(by_length.items())
        for size in [BATCH_TOKENS // length]
        for at in range(0, len(alike), size)
    ]
    return [batches[index] for index in random.permutation(len(batches))]


def in_order(examples: Sequence[Example]) -> Iterator[tuple[list[int], list[Example]]]:
    """Yield batches of messages of similar length, with their places."""
    by_length: dict[int, list[int]] = {}
    for index, each in enumerate(examples):
        by_length.setdefault(padded(len(each.encoded.side)), []).append(index)
    for length, indexes in sorted(by_length.items()):
        for at in range(0, len(indexes), size := BATCH_TOKENS // length):
            chosen = indexes[at : at + size]
            yield chosen, [examples[index] for index in chosen]


def arrays(examples: Sequence[Example]) -> Batch:
    """Return a batch padded to one length and one number of messages."""
    tokens = padded(max(len(each.encoded.side) for each in examples))
    size = BATCH_TOKENS // tokens
    batch: Batch = {
        "states": np.zeros((size, tokens, 384), np.float32),
        "side": np.ones((size, tokens), np.int32),
        "letters": np.zeros((size, tokens), np.int32),
        "real": np.zeros((size, tokens), bool),
        "spans": np.zeros((size, tokens, WIDTH), bool),
        "relations": np.zeros((size, tokens, WIDTH), np.int32),
        "weight": np.zeros(size, np.float32),
        "said": np.zeros((size, OBJECTS), bool),
        "first": np.zeros((size, OBJECTS), np.int32),
        "last": np.zeros((size, OBJECTS), np.int32),
        "aspects": np.zeros((size, OBJECTS, 3), np.int32),
        "pointers": np.zeros((size, OBJECTS, len(POINTERS), 2), np.int32),
    }
    for row, each in enumerate(examples):
        length, number = len(each.encoded.side), len(each.objects)
        batch["states"][row, :length] = each.encoded.states
        batch["side"][row, :length] = each.encoded.side
        batch["letters"][row, :length] = each.encoded.letters
        batch["real"][row, :length] = True
        batch["spans"][row, :length] = span_mask(each.encoded)
        batch["weight"][row] = each.message.weight
        for relation, first, last in each.objects[::-1]:
            batch["relations"][row, first, last - first] = relation
            batch["spans"][row, first, last - first] = True
        batch["said"][row, :number] = True
        batch["first"][row, :number], batch["last"][row, :number] = each.objects[:, 1], each.objects[:, 2]
        batch["aspects"][row, :number], batch["pointers"][row, :number] = each.aspects, each.pointers
    return batch
