"""A judge of ends: how likely a message makes an old statement untrue. Tried, not part of the engine (decision 0089).

    python -m training.reader.judge PAIRS [--epochs 2] [--measure MORE_PAIRS] [--out FILE]
                                   [--start FILE [--keep 0.4]]

`PAIRS` and `MORE_PAIRS` are of `python -m bench.end_pairs`. The upper layers of the published reader, fine-tuned, read
the statement, the question before the message if that is short, and the message side by side; the layers below are
shared and read each text apart. It is trained on the pairs of `train` and `single`, and measured on those of `dev` and
`test`. `--start` goes on with a judge that was trained before, at half the rates; the judge is then the mean of what it
was, by `--keep`, and of what it became.
"""

from __future__ import annotations

import argparse
import json
import pickle
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
import optax

from reverie.inference.judge.pairs import KINDS, EndPair, kinds_of
from reverie.inference.reader.decoding import LETTERS
from training.reader import network
from training.reader.export import FOLDER, parameters_of
from training.reader.network import HIDDEN, Parameters
from training.reader.states import LAYERS, Encoded, LowerLayers
from training.reader.train import SEED
from training.reader.whole import WholeMatrix

#: Tokens to which pairs are filled up, and tokens of a batch.
LENGTHS, BATCH_TOKENS = (24, 32, 40, 56, 96, 164), 2048
#: Pairs in which nothing ends: of an epoch, for each in which something does, of voices and of single messages; the
#: share of them that is near, and the log-odds by vectors alone from which one is.
NEGATIVES, LABELLED, NEAR_SHARE, NEAR = 2.5, 2.3, 0.9, -6.0
#: Share of the statements that are read in the person's own words, where all that they state ends at once.
OWN = 0.5
#: Of the layers and of the head; what an end is taken for, as some labels are missing and some are wrong.
RATES, SURE = (2e-4, 1e-3), 0.98
#: Share of the rates at which a trained judge learns more.
AGAIN = 0.5
#: Share of tokens whose state is hidden in training.
HIDDEN_TOKENS = 0.07
#: Width of the head, and layers of the embedder below, in which each text is read apart.
INNER, LOWER = 256, 2
THRESHOLDS = (0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


class Pair(NamedTuple):
    """An old statement in words, and a message with the question before it."""

    old: str
    question: str
    text: str
    ended: bool
    near: float = 1.0
    part: str = "train"
    #: the statement in the person's own words; nothing where only a part of them ends
    own: str = ""

    @property
    def sides(self) -> list[tuple[int, str, int]]:
        """Its texts: which one, text, most tokens."""
        return EndPair(self.old, self.text, self.question).sides()


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
        """Read what was not read yet."""
        texts = dict.fromkeys(side[1] for pair in pairs for side in pair.sides)
        new = [text for text in texts if text not in self._texts]
        self._texts |= dict(zip(new, self._lower.encode([("", text) for text in new]), strict=True))

    def tokens(self, pair: Pair) -> int:
        """Return the number of tokens of a pair."""
        return sum(min(len(self._texts[text].ids), most) for _, text, most in pair.sides)

    def arrays(self, pairs: Sequence[Pair], tokens: int, rows: int = 0) -> dict[str, npt.NDArray[Any]]:
        """Return a batch filled up to one length and one number of pairs."""
        size = rows or BATCH_TOKENS // tokens
        batch: dict[str, npt.NDArray[Any]] = {
            "states": np.zeros((size, tokens, HIDDEN), np.float32),
            "side": np.ones((size, tokens), np.int32),
            "letters": np.zeros((size, tokens), np.int32),
            "real": np.zeros((size, tokens), bool),
            "ended": np.zeros(size, np.float32),
            "weight": np.zeros(size, np.float32),
        }
        for row, pair in enumerate(pairs):
            parts = [(side, self._texts[text], most) for side, text, most in pair.sides]
            at = 0
            for side, text, most in parts:
                place = slice(at, at := at + min(len(text.ids), most))
                batch["states"][row, place], batch["side"][row, place] = text.states[:most], side
            ids, letters = ([getattr(text, name)[:most] for _, text, most in parts] for name in ("ids", "letters"))
            batch["letters"][row, :at] = kinds_of([side for side, _, _ in parts], ids, letters)
            batch["real"][row, :at] = True
            batch["ended"][row], batch["weight"][row] = pair.ended, 1
        return batch

    def batches(self, pairs: Sequence[Pair], order: npt.NDArray[np.int64]) -> list[tuple[int, list[int]]]:
        """Return batches of pairs of like length: tokens, places."""
        by_length: dict[int, list[int]] = {}
        for index in order.tolist():
            length = next(each for each in LENGTHS if each >= self.tokens(pairs[index]))
            by_length.setdefault(length, []).append(index)
        return [
            (tokens, alike[at : at + size])
            for tokens, alike in sorted(by_length.items())
            for size in [BATCH_TOKENS // tokens]
            for at in range(0, len(alike), size)
        ]


def _published() -> list[bytes]:
    return [(FOLDER / name).read_bytes() for name in ("reader.onnx", "objects.onnx")]


def start(key: jax.Array, lower: int) -> Parameters:
    """Return parameters to train from: layers of the published reader, the embedder's below them, a head at random."""
    found = parameters_of(*_published())

    def whole(matrix: Any) -> dict[str, jax.Array]:
        if isinstance(matrix, WholeMatrix):
            weights = matrix.weights.astype(np.float32) * matrix.scales * matrix.factors[:, None]
            return {"w": jnp.asarray(weights), "b": jnp.asarray(matrix.bias)}
        return {name: jnp.asarray(values) for name, values in matrix.items()}

    upper = [{name: whole(each) for name, each in layer.items()} for layer in found["layers"]]
    below = network.start(key, lower)["layers"][: LAYERS - len(upper) - lower]
    first, second = jax.random.split(key)
    question, message = map(jnp.asarray, found["side"])
    return {
        "side": jnp.stack([question, message, question]),
        # kinds of tokens: those whose other text has the token, too, begin as the same letters do elsewhere
        "letters": jnp.tile(jnp.asarray(found["letters"]), (KINDS // LETTERS, 1)),
        "layers": [*below, *upper],
        "heads": {
            "pair": {"w": jax.random.normal(first, (4 * HIDDEN, INNER)) * 0.03, "b": jnp.zeros(INNER)},
            "ends": {"w": jax.random.normal(second, (INNER, 1)) * 0.05, "b": jnp.full(1, -1.5)},
        },
    }


def _multiplied(values: jax.Array, matrix: jax.Array) -> jax.Array:
    return jnp.dot(values.astype(jnp.bfloat16), matrix.astype(jnp.bfloat16), preferred_element_type=jnp.float32)


#: Multiplies in half precision, both ways: twice as fast on processors that have it.
_product: Any = jax.custom_vjp(_multiplied)


def _there(values: jax.Array, matrix: jax.Array) -> tuple[jax.Array, tuple[jax.Array, jax.Array]]:
    return _multiplied(values, matrix), (values, matrix)


def _back(given: tuple[jax.Array, jax.Array], gradient: jax.Array) -> tuple[jax.Array, jax.Array]:
    values, matrix = given
    rows, wanted = values.reshape(-1, values.shape[-1]), gradient.reshape(-1, gradient.shape[-1])
    return _multiplied(gradient, matrix.T), _multiplied(rows.T, wanted)


_product.defvjp(_there, _back)


def halved(parameters: Parameters, values: jax.Array) -> jax.Array:
    """Multiply in half precision, and add."""
    product: jax.Array = _product(values, parameters["w"])
    return product + parameters["b"]


def logits(parameters: Parameters, batch: dict[str, jax.Array], states: jax.Array) -> jax.Array:
    """Return the logits of "the message makes the statement untrue" of a batch."""
    hidden = network.upper(parameters, batch, states, None, halved)

    def told(mask: jax.Array) -> list[jax.Array]:
        mean = (hidden * mask[..., None]).sum(1) / jnp.maximum(1, mask.sum(1, keepdims=True))
        return [mean, jnp.where(mask[..., None], hidden, -100.0).max(1)]

    old = batch["side"] == 0
    features = jnp.concatenate([*told(batch["real"] & old), *told(batch["real"] & ~old)], -1)
    features = jnp.where(batch["real"].any(1)[:, None], features, 0)  # rows that fill up
    heads = parameters["heads"]
    return halved(heads["ends"], jax.nn.relu(halved(heads["pair"], features)))[:, 0]


def loss(parameters: Parameters, batch: dict[str, jax.Array], key: jax.Array) -> jax.Array:
    """Return the mean loss of a batch."""
    kept = jax.random.bernoulli(key, 1 - HIDDEN_TOKENS, batch["real"].shape)
    found = logits(parameters, batch, batch["states"] * kept[..., None])
    wanted = batch["ended"] * (2 * SURE - 1) + 1 - SURE
    each = optax.sigmoid_binary_cross_entropy(found, wanted)
    return (batch["weight"] * each).sum() / batch["weight"].sum()


def sample(pairs: Sequence[Pair], random: np.random.Generator, others_each: float) -> list[Pair]:
    """Return pairs of an epoch: all in which something ends, and so many others for each, most of them near."""
    others = [pair for pair in pairs if not pair.ended]
    chosen = [pair for pair in pairs if pair.ended]
    negatives = others_each * len(chosen)
    for is_near, share in ((True, NEAR_SHARE), (False, 1 - NEAR_SHARE)):
        some = [pair for pair in others if (pair.near >= NEAR) == is_near]
        number = min(len(some), round(negatives * share))
        chosen += [some[at] for at in random.choice(len(some), number, replace=False)]
    in_own = random.random(len(chosen)) < OWN
    return [pair._replace(old=pair.own) if pair.own and own else pair for pair, own in zip(chosen, in_own, strict=True)]


def train(
    texts: Texts,
    pairs: Sequence[Pair],
    epochs: int,
    *,
    labelled: Sequence[Pair],
    trained: Parameters | None = None,
    seed: int = SEED,
) -> Parameters:
    """Return parameters trained on pairs and `labelled` ones, of each of which an epoch has a sample.

    `trained`: parameters to go on with, at a share of the rates.
    """
    random = np.random.default_rng(seed)
    parameters = start(jax.random.key(seed), texts.lower) if trained is None else jax.tree.map(jnp.array, trained)
    samples = [[*sample(pairs, random, NEGATIVES), *sample(labelled, random, LABELLED)] for _ in range(epochs)]
    texts.read([pair for chosen in samples for pair in chosen])
    plans = [texts.batches(chosen, random.permutation(len(chosen))) for chosen in samples]
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
            tokens, places = plan[index]
            batch = texts.arrays([chosen[place] for place in places], tokens)
            key = jax.random.fold_in(jax.random.key(seed), number)
            parameters, state, value = step(parameters, state, batch, key)
            losses.append(value)
            number += 1
        print(
            f"epoch {epoch}: {len(chosen)} pairs, loss {np.mean(losses):.3f}, {time.monotonic() - began:.0f} s",
            flush=True,
        )
    return parameters


def averaged(before: Parameters, after: Parameters, share: float) -> Parameters:
    """Return the weighted mean of two judges of one origin, `share` of it of the first: surer than either."""
    mean: Parameters = jax.tree.map(lambda one, other: share * one + (1 - share) * other, before, after)
    return mean


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
    """Return of each pair the chance that the message makes the statement untrue."""
    texts.read(pairs)
    forward = jax.jit(lambda parameters, batch: jax.nn.sigmoid(logits(parameters, batch, batch["states"])))
    found = np.zeros(len(pairs))
    for tokens, places in texts.batches(pairs, np.arange(len(pairs))):
        batch = texts.arrays([pairs[place] for place in places], tokens)
        found[places] = np.asarray(forward(parameters, batch))[: len(places)]
    return found


def average_precision(ended: npt.NDArray[np.bool_], chance: npt.NDArray[np.float64]) -> float:
    """Return the mean precision at each end, the likeliest pair first."""
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
    options.add_argument("--start", type=Path)
    options.add_argument("--keep", type=float, default=0.0)
    chosen = options.parse_args()
    lower, trained = pickle.loads(chosen.start.read_bytes()) if chosen.start else (chosen.lower, None)
    texts, pairs = Texts(lower), read_pairs(chosen.pairs)
    of_train = [pair for pair in pairs if pair.part == "train"]
    labelled = [pair for pair in pairs if pair.part == "single"]
    parameters = train(texts, of_train, chosen.epochs, labelled=labelled, trained=trained)
    if trained is not None:
        parameters = averaged(trained, parameters, chosen.keep)
    if chosen.out:
        chosen.out.write_bytes(pickle.dumps((lower, jax.tree.map(np.asarray, parameters))))
    for file in (chosen.pairs, *chosen.measure):
        for part in ("dev", "test"):
            some = [pair for pair in read_pairs(file) if pair.part == part and pair.near >= NEAR]
            measure(f"{file.name}, {part}", some, chances(texts, parameters, some))


if __name__ == "__main__":
    main()
