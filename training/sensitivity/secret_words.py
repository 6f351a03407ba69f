"""Trains the classifiers of secrets without digits, for `python -m training.sensitivity.secrets`.

Writes `reverie/language/sensitive/secret_word_weights.json`: how common words are, a logistic regression over the words
of a message (has it a secret without a digit?), and one over each word of our own messages and of the tenth of the
voices' messages that look most like having one. The first passes `LOOKED_AT` of the voices' messages that it has not
seen. The second has the least threshold with `PRECISION` by finding in messages of writers left out, and at most
`ALARMS` in voices left out, in those of `dev` and in comments. The same data and libraries give the same bytes.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from bench.report import print_table
from reverie.language.sensitive.secret_words import WEIGHTS, Word, joined, message_features, words_of
from reverie.language.sensitive.secrets import feature_buckets
from reverie.language.text import Span
from training.sensitivity.marked import FOLDS, ROOT, Floats, Message, fitted

OUT: Final = ROOT / "reverie" / "language" / "sensitive" / WEIGHTS
#: Share of ordinary messages whose words are examined, and of those whose words are trained on.
LOOKED_AT, LEARNED = 0.01, 0.1
#: Share of secrets among the findings in messages left out; findings per ordinary message.
PRECISION, ALARMS = 0.9, 1 / 2000
#: The vocabulary of the embedder, the place of its first word, and the level of the most common words.
VOCABULARY: Final = ROOT / "reverie" / "inference" / "minilm" / "tokenizer.json"
FIRST, COMMON = 1996, 9
#: A message with a lower score never passes.
_NEVER: Final = -6.0


class Model(NamedTuple):
    """The levels of words (how common they are), and the weights of messages and of words."""

    levels: Mapping[str, int]
    of_message: Floats
    of_word: Floats


class Read(NamedTuple):
    """A message with its score and those of its words."""

    message: Message
    score: float
    words: list[Word]
    scores: Floats


def levels_of_words() -> dict[str, int]:
    """Return how common words are, by their place in the embedder's vocabulary, which has common ones first."""
    places: dict[str, int] = json.loads(VOCABULARY.read_text("utf-8"))["model"]["vocab"]
    words = sorted(word for word in places if word.isalpha() and word.islower())
    return {word: max(1, min(16 - max(1, places[word] - FIRST).bit_length(), COMMON)) for word in words}


def of_letters(message: Message) -> list[Span]:
    """Return the secrets of a message that have no digit."""
    return [
        (start, end) for start, end in message.secrets if not any(each.isdigit() for each in message.text[start:end])
    ]


def trained(examples: Sequence[Message], ordinary: Sequence[Message], levels: Mapping[str, int]) -> Model:
    """Return a model trained on our own messages and those of voices."""
    firsts = [feature_buckets(message_features(each.text, levels)) for each in (*examples, *ordinary)]
    having = [bool(of_letters(each)) for each in (*examples, *ordinary)]
    weights = fitted(firsts, having)
    looks = np.array([weights[row].sum() for row in firsts[len(examples) :]])
    tempting = np.argsort(-looks, kind="stable")[: int(LEARNED * len(ordinary))]
    rows, flags = [], []
    for each in (*examples, *(ordinary[place] for place in tempting)):
        secrets = of_letters(each)
        for word in words_of(each.text, levels):
            rows.append(feature_buckets(word.names))
            flags.append(any(start <= word.start and word.end <= end for start, end in secrets))
    return Model(levels, weights, fitted(rows, flags))


def read(model: Model, messages: Sequence[Message]) -> list[Read]:
    """Return the scores of messages, and those of their words if the message may pass."""
    found = []
    for each in messages:
        score = float(model.of_message[feature_buckets(message_features(each.text, model.levels))].sum())
        words = words_of(each.text, model.levels) if score >= _NEVER else []
        scores = np.array([model.of_word[feature_buckets(word.names)].sum() for word in words])
        found.append(Read(each, score, words, scores))
    return found


def left_out(examples: Sequence[Message], ordinary: Sequence[Message], levels: Mapping[str, int]) -> list[Read]:
    """Return the scores of messages by models that have seen no message of their fold."""
    return [
        each
        for fold in FOLDS
        for each in read(
            trained([e for e in examples if e.fold != fold], [o for o in ordinary if o.fold != fold], levels),
            [message for message in (*examples, *ordinary) if message.fold == fold],
        )
    ]


def spans(each: Read, passing: float, least: float) -> list[Span]:
    """Return the secrets found in a message, by the least scores of a message and of a word."""
    if each.score < passing:
        return []
    return joined(each.message.text, each.words, [float(score) - least for score in each.scores])


def rates(reads: Sequence[Read], passing: float, least: float) -> tuple[float, float, float]:
    """Return precision by finding, and the shares of messages with secrets of letters in which one or all are found."""
    right, hit, whole = [], [], []
    for each in reads:
        found, secrets = spans(each, passing, least), of_letters(each.message)
        right += [any(2 * _common(span, other) > span[1] - span[0] for other in each.message.secrets) for span in found]
        if secrets:
            hit.append(any(_common(span, other) > 0 for span in found for other in secrets))
            whole.append(all(any(a <= start and end <= b for a, b in found) for start, end in secrets))
    return _mean(right), _mean(hit), _mean(whole)


def alarms(reads: Sequence[Read], passing: float, least: float) -> float:
    """Return the number of findings per message."""
    return sum(len(spans(each, passing, least)) for each in reads) / max(len(reads), 1)


def train(
    examples: Sequence[Message], ordinary: Sequence[Message], parts: Mapping[str, Sequence[Message]], *, talk: bool
) -> None:
    """Write the weights and print the figures; `parts`: ordinary messages."""
    levels = levels_of_words()
    unseen = left_out(examples, ordinary, levels)
    own, voices = [each for each in unseen if each.message.writer], [each for each in unseen if not each.message.writer]
    model = trained(examples, ordinary, levels)
    by_part = {"voices left out": voices} | {part: read(model, messages) for part, messages in parts.items()}
    passing = round(float(np.quantile([each.score for each in voices], 1 - LOOKED_AT)), 1)
    least = _threshold(own, [voices, by_part["dev"], by_part["comments"]], passing)
    _write(model, passing, least, len(examples))
    rows = [("all", len(own), *(f"{rate:.2f}" for rate in rates(own, passing, least)))]
    for writer in dict.fromkeys(each.writer for each in examples):
        of = [each for each in own if each.message.writer == writer]
        rows.append((writer, len(of), *(f"{rate:.2f}" for rate in rates(of, passing, least))))
    title = f"Secrets of letters alone, by writers left out, score {least} in messages of {passing}"
    print_table(title, ("writer", "messages", "precision", "recall", "wholly"), rows)
    for part, reads in by_part.items():
        share = np.mean([each.score >= passing for each in reads])
        rate = 1000 * alarms(reads, passing, least)
        print(f"{part}: {rate:.2f} of 1,000 messages ({len(reads)}), {share:.3f} looked at")
        for each in reads if talk else ():
            for start, end in spans(each, passing, least):
                print(f"    {each.message.text[start:end]!r} in {each.message.text[:200]!r}")


def _threshold(own: Sequence[Read], ordinary: Sequence[Sequence[Read]], passing: float) -> float:
    fitting = (
        least
        for least in np.arange(-2.0, 4.0, 0.1)
        if rates(own, passing, least)[0] >= PRECISION
        and all(alarms(reads, passing, least) <= ALARMS for reads in ordinary)
    )
    return round(float(next(fitting)), 1)


def _write(model: Model, passing: float, least: float, number: int) -> None:
    model.of_message[feature_buckets([""])] -= passing
    model.of_word[feature_buckets(["bias"])] -= least
    levels = {
        str(level): " ".join(word for word, other in model.levels.items() if other == level)
        for level in sorted(set(model.levels.values()))
    }
    weights = {
        name: base64.b64encode(of.astype("<f2").tobytes()).decode()
        for name, of in (("messages", model.of_message), ("words", model.of_word))
    }
    stored = {"trained_on": f"{number} messages of our own, and voices", "levels": levels, **weights}
    OUT.write_text(json.dumps(stored, ensure_ascii=False), encoding="utf-8")


def _mean(flags: Sequence[bool]) -> float:
    return float(np.mean(flags)) if flags else 1.0


def _common(one: Span, other: Span) -> int:
    return min(one[1], other[1]) - max(one[0], other[0])
