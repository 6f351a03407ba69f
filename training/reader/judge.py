"""A judge of ends: the probability that a message makes an old statement untrue.

    python -m training.reader.judge PAIRS [--epochs 2] [--measure MORE_PAIRS] [--out FILE]
                                   [--start FILE|published [--keep 0.4]]

`PAIRS` and `MORE_PAIRS` come from `python -m bench.end_pairs`. The upper layers of the published reader, fine-tuned,
read the message, with the question before it if it is short, beside each statement. The statement attends to the
message, but not the message to the statement. The layers below are shared and read each text separately. The judge is
trained on the pairs of `train` and `single`, and measured on those of `dev`, `test` and `held`. `--start` continues
from an earlier judge, or from the published one, at half the rates; the result is then the mean of the earlier judge,
weighted by `--keep`, and the new.
"""

from __future__ import annotations

import argparse
import json
import math
import pickle
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
import optax

from reverie.inference.judge.pairs import KINDS, MOST_OF_STATEMENT, STATEMENT, EndPair, Shown, statement_kinds
from reverie.inference.reader.decoding import LETTERS
from training.reader import network
from training.reader.network import HIDDEN, Parameters, halved
from training.reader.published import averaged, published_judge, published_reader, start_from
from training.reader.states import Encoded, LowerLayers
from training.reader.train import SEED

#: Lengths in tokens to which a message with its statements is padded, and tokens of a batch.
LENGTHS, BATCH_TOKENS = (40, 64, 88, 116, 164), 2048
#: Statements of a message that are read together.
TOGETHER = 12
#: Total weight of the pairs of an epoch without an end, for each pair with one: of voices, and of single messages; the
#: number of voices' messages without an end for each with one; and the least log-odds by vectors of a pair to use.
NEGATIVES, LABELLED, MORE, NEAR = 2.5, 2.3, 2.0, -8.0
#: Share of the statements that are read in the person's own words, if all that these state ends at once.
OWN = 0.5
#: Learning rates of the layers and of the head; the target for an end, below 1 as some labels are missing or wrong.
RATES, SURE = (2e-4, 1e-3), 0.98
#: The factor of the rates when training continues from a trained judge.
AGAIN = 0.5
#: Share of tokens whose state is hidden in training.
HIDDEN_TOKENS = 0.07
#: Width of the head, and number of the embedder's layers below, which read each text separately.
INNER, LOWER = 256, 2
#: Steps between two reports of the loss.
TOLD_EVERY = 100
THRESHOLDS = (0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


class Pair(NamedTuple):
    """An old statement in words, and a message with the question before it."""

    old: str
    question: str
    text: str
    ended: bool
    near: float = 1.0
    part: str = "train"
    #: the statement in the person's own words; empty if only a part of them ends
    own: str = ""
    #: the weight in training
    weight: float = 1.0

    @property
    def shown(self) -> Shown:
        """The texts of the message."""
        return EndPair(self.old, self.text, self.question).shown()


def read_pairs(file: Path) -> list[Pair]:
    """Return the pairs of a file of `bench.end_pairs`."""
    lines = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    return [
        Pair(one["old"], one["q"], one["t"], one["ended"], one["near"], one["part"], one.get("own", ""))
        for one in lines
    ]


class Texts:
    """States of texts after the layers below, each read once."""

    def __init__(self, lower: int) -> None:
        self.lower = lower
        self._lower = LowerLayers(lower)
        self._texts: dict[str, Encoded] = {}

    def read(self, pairs: Sequence[Pair]) -> None:
        """Encode the texts that were not encoded before."""
        texts = dict.fromkeys(text for pair in pairs for text in (pair.old, *(shown for _, shown, _ in pair.shown)))
        new = [text for text in texts if text not in self._texts]
        self._texts |= dict(zip(new, self._lower.encode([("", text) for text in new]), strict=True))

    def of_message(self, pair: Pair) -> list[tuple[int, Encoded]]:
        """Return the texts of a pair's message, truncated, each with its side."""
        return [(side, _cut(self._texts[text], most)) for side, text, most in pair.shown]

    def of_statement(self, pair: Pair) -> Encoded:
        """Return the statement of a pair, truncated."""
        return _cut(self._texts[pair.old], MOST_OF_STATEMENT)

    def rows(self, pairs: Sequence[Pair], order: Iterable[int]) -> list[tuple[int, list[int]]]:
        """Return rows of one message and as many of its statements as fit: number of tokens, places of the pairs."""
        by_message: dict[Shown, list[int]] = {}
        for place in order:
            by_message.setdefault(pairs[place].shown, []).append(place)
        rows: list[tuple[int, list[int]]] = []
        for places in by_message.values():
            begins = used = sum(len(text.ids) for _, text in self.of_message(pairs[places[0]]))
            row: list[int] = []
            for place in places:
                tokens = len(self.of_statement(pairs[place]).ids)
                if row and (used + tokens > LENGTHS[-1] or len(row) == TOGETHER):
                    rows.append((used, row))
                    row, used = [], begins
                row.append(place)
                used += tokens
            rows.append((used, row))
        return rows

    def batches(self, pairs: Sequence[Pair], order: Iterable[int]) -> list[tuple[int, list[list[int]]]]:
        """Return batches of rows of similar length: the number of tokens, places by row."""
        by_length: dict[int, list[list[int]]] = {}
        for used, row in self.rows(pairs, order):
            by_length.setdefault(next(each for each in LENGTHS if each >= used), []).append(row)
        return [
            (tokens, alike[at : at + size])
            for tokens, alike in sorted(by_length.items())
            for size in [BATCH_TOKENS // tokens]
            for at in range(0, len(alike), size)
        ]

    def arrays(self, pairs: Sequence[Pair], rows: Sequence[Sequence[int]], tokens: int) -> dict[str, npt.NDArray[Any]]:
        """Return a batch padded to one length and one number of rows and statements.

        `of`: 0 for tokens of the message, then the number of the statement in its row; -1 for padding.
        """
        size = BATCH_TOKENS // tokens
        batch: dict[str, npt.NDArray[Any]] = {
            "states": np.zeros((size, tokens, HIDDEN), np.float32),
            "side": np.ones((size, tokens), np.int32),
            "letters": np.zeros((size, tokens), np.int32),
            "of": np.full((size, tokens), -1, np.int32),
            "ended": np.zeros((size, TOGETHER), np.float32),
            "weight": np.zeros((size, TOGETHER), np.float32),
        }
        for row, places in enumerate(rows):
            shown = self.of_message(pairs[places[0]])
            ids = np.concatenate([text.ids for _, text in shown])
            parts = [(0, side, text, text.letters) for side, text in shown]
            for number, place in enumerate(places):
                said = self.of_statement(pairs[place])
                parts.append((number + 1, STATEMENT, said, statement_kinds(said.ids, said.letters, ids)))
                batch["ended"][row, number], batch["weight"][row, number] = pairs[place].ended, pairs[place].weight
            at = 0
            for of, side, text, kinds in parts:
                place_of = slice(at, at := at + len(text.ids))
                batch["states"][row, place_of], batch["side"][row, place_of] = text.states, side
                batch["letters"][row, place_of], batch["of"][row, place_of] = kinds, of
        return batch


def _cut(text: Encoded, most: int) -> Encoded:
    return replace(text, states=text.states[:most], ids=text.ids[:most], letters=text.letters[:most])


def start(key: jax.Array, lower: int) -> Parameters:
    """Return initial parameters: layers of the published reader, the embedder's below them, and a random head."""
    above, found = published_reader()
    below = network.start(key, lower)["layers"][: above - lower]
    first, second = jax.random.split(key)
    question, message = found["side"]
    return {
        "side": jnp.stack([question, message, question]),
        # kinds of tokens: a kind for tokens that the other text has too starts like that of the same letters
        "letters": jnp.tile(found["letters"], (KINDS // LETTERS, 1)),
        "layers": [*below, *found["layers"]],
        "heads": {
            "pair": {"w": jax.random.normal(first, (4 * HIDDEN, INNER)) * 0.03, "b": jnp.zeros(INNER)},
            "ends": {"w": jax.random.normal(second, (INNER, 1)) * 0.05, "b": jnp.full(1, -1.5)},
        },
    }


def logits(parameters: Parameters, batch: dict[str, jax.Array], states: jax.Array) -> jax.Array:
    """Return the logits of "the message makes the statement untrue" of a batch: rows, statements.

    A statement attends to itself and the message, a message only to itself, so it is read once for all statements.
    """
    of = batch["of"]
    seen = (of[:, None] == of[..., None]) | (of[:, None] == 0)
    hidden = network.upper(parameters, batch, states, None, halved, seen)
    mask = of[:, None] == jnp.arange(TOGETHER + 1)[:, None]
    number = jnp.maximum(1, mask.sum(-1, keepdims=True))
    mean = jnp.einsum("rst,rth->rsh", mask.astype(jnp.float32), hidden) / number
    highest = jnp.where(mask[..., None], hidden[:, None], -100.0).max(2)
    told = jnp.where(mask.any(-1)[..., None], jnp.concatenate([mean, highest], -1), 0)  # padding rows
    message = jnp.broadcast_to(told[:, :1], (len(of), TOGETHER, 2 * HIDDEN))
    heads = parameters["heads"]
    inner = jax.nn.relu(halved(heads["pair"], jnp.concatenate([told[:, 1:], message], -1)))
    return halved(heads["ends"], inner)[..., 0]


def loss(parameters: Parameters, batch: dict[str, jax.Array], key: jax.Array) -> jax.Array:
    """Return the mean loss of a batch."""
    kept = jax.random.bernoulli(key, 1 - HIDDEN_TOKENS, batch["of"].shape)
    found = logits(parameters, batch, batch["states"] * kept[..., None])
    wanted = batch["ended"] * (2 * SURE - 1) + 1 - SURE
    each = optax.sigmoid_binary_cross_entropy(found, wanted)
    return (batch["weight"] * each).sum() / batch["weight"].sum()


def sample(pairs: Sequence[Pair], random: np.random.Generator, others_each: float, more: float) -> list[Pair]:
    """Return the pairs of an epoch: of all messages that end something, and of `more` others for each.

    Together, the pairs without an end have a weight of `others_each` for each pair with one.
    """
    near = [pair for pair in pairs if pair.ended or pair.near >= NEAR]
    by_message: dict[tuple[str, str], list[Pair]] = {}
    for pair in near:
        by_message.setdefault((pair.question, pair.text), []).append(pair)
    ending = [some for some in by_message.values() if any(pair.ended for pair in some)]
    others = [some for some in by_message.values() if not any(pair.ended for pair in some)]
    number = min(len(others), round(min(more, len(others)) * len(ending)))
    chosen = [pair for some in ending for pair in some]
    chosen += [pair for at in random.choice(len(others), number, replace=False) for pair in others[at]]
    stay = sum(not pair.ended for pair in chosen)
    weight = others_each * (len(chosen) - stay) / max(stay, 1)
    in_own = random.random(len(chosen)) < OWN
    return [
        pair._replace(old=pair.own if pair.own and own else pair.old, weight=1.0 if pair.ended else weight)
        for pair, own in zip(chosen, in_own, strict=True)
    ]


def train(
    texts: Texts,
    pairs: Sequence[Pair],
    epochs: int,
    *,
    labelled: Sequence[Pair],
    trained: Parameters | None = None,
    seed: int = SEED,
) -> Parameters:
    """Return parameters trained on `pairs` and `labelled` ones; an epoch has a sample of both.

    `trained`: parameters to continue from, at a share of the rates.
    """
    random = np.random.default_rng(seed)
    parameters = start(jax.random.key(seed), texts.lower) if trained is None else jax.tree.map(jnp.array, trained)
    samples = [
        [*sample(pairs, random, NEGATIVES, MORE), *sample(labelled, random, LABELLED, math.inf)] for _ in range(epochs)
    ]
    texts.read([pair for chosen in samples for pair in chosen])
    plans = [texts.batches(chosen, random.permutation(len(chosen)).tolist()) for chosen in samples]
    optimize = _optimizer(sum(map(len, plans)), 1.0 if trained is None else AGAIN)
    state = optimize.init(parameters)

    @partial(jax.jit, donate_argnums=(0, 1))
    def step(parameters: Parameters, state: Any, batch: Any, key: jax.Array) -> tuple[Parameters, Any, jax.Array]:
        value, gradient = jax.value_and_grad(loss)(parameters, batch, key)
        updates, state = optimize.update(gradient, state, parameters)
        return optax.apply_updates(parameters, updates), state, value

    number = 0
    for epoch, (chosen, plan) in enumerate(zip(samples, plans, strict=True), 1):
        began, losses = time.monotonic(), []
        for index in random.permutation(len(plan)):
            tokens, rows = plan[index]
            batch = texts.arrays(chosen, rows, tokens)
            key = jax.random.fold_in(jax.random.key(seed), number)
            parameters, state, value = step(parameters, state, batch, key)
            losses.append(value)
            number += 1
            if number % TOLD_EVERY == 0:
                print(f"step {number} of {sum(map(len, plans))}: loss {np.mean(losses[-TOLD_EVERY:]):.3f}", flush=True)
        print(
            f"epoch {epoch}: {len(chosen)} pairs, loss {np.mean(losses):.3f}, {time.monotonic() - began:.0f} s",
            flush=True,
        )
    return parameters


def _optimizer(steps: int, share: float) -> optax.GradientTransformation:
    def falling(rate: float) -> optax.GradientTransformation:
        rates = optax.warmup_cosine_decay_schedule(0, share * rate, steps // 12, steps)
        return optax.adamw(rates, weight_decay=0.01)

    def labels(parameters: Parameters) -> Any:
        return {name: jax.tree.map(lambda _, n=name: "heads" if n == "heads" else "layers", part)
                for name, part in parameters.items()}  # fmt: skip

    rates = {"layers": falling(RATES[0]), "heads": falling(RATES[1])}
    return optax.chain(optax.clip_by_global_norm(5.0), optax.multi_transform(rates, labels))


def chances(texts: Texts, parameters: Parameters, pairs: Sequence[Pair]) -> npt.NDArray[np.float64]:
    """Return, for each pair, the chance that the message makes the statement untrue."""
    texts.read(pairs)
    forward = jax.jit(lambda parameters, batch: jax.nn.sigmoid(logits(parameters, batch, batch["states"])))
    found = np.zeros(len(pairs))
    for tokens, rows in texts.batches(pairs, range(len(pairs))):
        of_rows = np.asarray(forward(parameters, texts.arrays(pairs, rows, tokens)))
        for places, of_row in zip(rows, of_rows, strict=False):  # without padding rows
            found[places] = of_row[: len(places)]
    return found


def average_precision(ended: npt.NDArray[np.bool_], chance: npt.NDArray[np.float64]) -> float:
    """Return the mean of the precision at each end, with the likeliest pair first."""
    right = ended[np.argsort(-chance, kind="stable")]
    precision = right.cumsum() / np.arange(1, len(right) + 1)
    return float(precision[right].mean()) if right.any() else 0.0


def measure(title: str, pairs: Sequence[Pair], chance: npt.NDArray[np.float64]) -> None:
    """Print average precision, and precision and recall by least chance."""
    ended = np.array([pair.ended for pair in pairs])
    print(f"{title}: {len(pairs)} pairs, {ended.sum()} ended, average precision {average_precision(ended, chance):.3f}")
    for least in THRESHOLDS:
        taken = chance >= least
        right = (ended & taken).sum()
        print(f"  {least}: {right / max(taken.sum(), 1):.2f}, {right / max(ended.sum(), 1):.2f} ({taken.sum()} taken)")


def main() -> None:
    """Train and measure."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("pairs", type=Path)
    options.add_argument("--epochs", type=int, default=2)
    options.add_argument("--measure", type=Path, nargs="*", default=[])
    options.add_argument("--out", type=Path)
    options.add_argument("--lower", type=int, default=LOWER)
    options.add_argument("--start")
    options.add_argument("--keep", type=float, default=0.0)
    chosen = options.parse_args()
    lower, trained = start_from(chosen.start, published_judge) if chosen.start else (chosen.lower, None)
    texts, pairs = Texts(lower), read_pairs(chosen.pairs)
    of_train = [pair for pair in pairs if pair.part == "train"]
    labelled = [pair for pair in pairs if pair.part == "single"]
    parameters = train(texts, of_train, chosen.epochs, labelled=labelled, trained=trained)
    if trained is not None:
        parameters = averaged(trained, parameters, chosen.keep)
    if chosen.out:
        chosen.out.write_bytes(pickle.dumps((lower, jax.tree.map(np.asarray, parameters))))
    for file in (chosen.pairs, *chosen.measure):
        for part in ("dev", "test", "held"):
            some = [pair for pair in read_pairs(file) if pair.part == part and pair.near >= NEAR]
            if some:
                measure(f"{file.name}, {part}", some, chances(texts, parameters, some))


if __name__ == "__main__":
    main()
