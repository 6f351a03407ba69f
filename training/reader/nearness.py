"""Trains the nearness of statements to a message that ends them: `python -m training.reader.nearness VECTORS`.

`VECTORS` comes from `python -m bench.end_pairs --vectors`. A low-rank bilinear form of the vectors of a statement and a
message, plus their cosine, gives the log-odds that the message makes the statement untrue. It is trained on voices of
`train` and single messages, with each message against all earlier statements of its voice, in half a minute on two
cores. For `dev` and `test` it prints the share of ends among the nearest statements, and the pairs that must be read
for a share of the ends, beside the same by cosine alone.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
import optax

from training.reader.network import HIDDEN
from training.reader.train import SEED

FILE = Path(__file__).resolve().parents[2] / "reverie" / "inference" / "judge" / "nearness.npz"
#: Rank of the form, epochs, weight of an end (the log-odds are corrected for it), learning rate, weight decay.
RANK, EPOCHS, END_WEIGHT, RATE, DECAY = 32, 12, 10.0, 3e-3, 3e-2
#: Statements and messages are padded to multiples of these.
STATEMENTS, MESSAGES = 160, 256
SHARES, NEAREST = (0.5, 0.7, 0.8, 0.9), (1, 3, 6, 12)

Array = npt.NDArray[Any]
Numbers = dict[str, Any]


class Voice(NamedTuple):
    """Vectors of statements and of messages, the pairs that count, and those that end."""

    told: Array
    messages: Array
    meets: Array
    ends: Array


def voices(file: Path, part: str) -> Iterator[Voice]:
    """Yield the voices of a part, each in the words of memory and, if it has them, in the person's own."""
    with np.load(file) as read:
        for name in sorted({key.partition("/")[0] for key in read.files}):
            if read[f"{name}/part"] != part:
                continue
            told_at, ended_at, messages = (read[f"{name}/{each}"] for each in ("line", "ended", "messages"))
            line = np.arange(2, len(messages) + 2)
            meets = (told_at[:, None] < line) & (line <= ended_at[:, None])
            for words in ("worded", "own"):
                if f"{name}/{words}" not in read:
                    continue
                told = read[f"{name}/{words}"].astype(np.float32)
                yield Voice(told, messages.astype(np.float32), meets, line == ended_at[:, None])


def filled(voice: Voice) -> Voice:
    """Return a voice padded to one of a few sizes, so that few are compiled."""
    rows = -(-len(voice.told) // STATEMENTS) * STATEMENTS - len(voice.told)
    columns = -(-len(voice.messages) // MESSAGES) * MESSAGES - len(voice.messages)
    return Voice(
        np.pad(voice.told, ((0, rows), (0, 0))),
        np.pad(voice.messages, ((0, columns), (0, 0))),
        np.pad(voice.meets, ((0, rows), (0, columns))),
        np.pad(voice.ends, ((0, rows), (0, columns))),
    )


def log_odds(numbers: Numbers, told: Any, messages: Any) -> Any:
    """Return log-odds (statements, messages), not corrected for the weight of an end."""
    form = (told @ numbers["statement"]) @ (messages @ numbers["message"]).T + numbers["cosine"] * (told @ messages.T)
    return form + (told @ numbers["of_statement"])[:, None] + messages @ numbers["of_message"] + numbers["bias"]


def loss(numbers: Numbers, voice: Voice) -> Any:
    """Return the loss of a voice, divided by 1000."""
    each = optax.sigmoid_binary_cross_entropy(log_odds(numbers, voice.told, voice.messages), voice.ends)
    return (voice.meets * (1 + (END_WEIGHT - 1) * voice.ends) * each).sum() / 1000


def train(some: Sequence[Voice], *, epochs: int = EPOCHS, seed: int = SEED) -> dict[str, Array]:
    """Return the numbers of the nearness, with the log-odds corrected for the weight of an end."""
    first, second = jax.random.split(jax.random.key(seed))
    numbers: Numbers = {
        "statement": jax.random.normal(first, (HIDDEN, RANK)) * 0.05,
        "message": jax.random.normal(second, (HIDDEN, RANK)) * 0.05,
        "of_statement": jnp.zeros(HIDDEN),
        "of_message": jnp.zeros(HIDDEN),
        "cosine": jnp.array(5.0),
        "bias": jnp.array(-6.0),
    }
    optimize = optax.adamw(optax.cosine_decay_schedule(RATE, len(some) * epochs), weight_decay=DECAY)
    state = optimize.init(numbers)

    @partial(jax.jit, donate_argnums=(0, 1))
    def step(numbers: Numbers, state: Any, voice: Voice) -> tuple[Numbers, Any]:
        updates, state = optimize.update(jax.grad(loss)(numbers, voice), state, numbers)
        return optax.apply_updates(numbers, updates), state

    random = np.random.default_rng(seed)
    ready = [filled(voice) for voice in some]
    for _ in range(epochs):
        for place in random.permutation(len(ready)):
            numbers, state = step(numbers, state, ready[place])
    return {name: np.asarray(values) for name, values in numbers.items()} | {
        "bias": np.asarray(numbers["bias"] - np.log(END_WEIGHT))
    }


def measure(title: str, some: Sequence[Voice], scores: Sequence[Array]) -> None:
    """Print the share of ends among the nearest, and the pairs per message that contain a share of the ends."""
    ranks: list[int] = []
    met: list[float] = []
    ends: list[float] = []
    for voice, score in zip(some, scores, strict=True):
        shown = np.where(voice.meets, score, -np.inf)
        ranks += (-shown).argsort(0).argsort(0)[voice.ends].tolist()
        met += score[voice.meets].tolist()
        ends += score[voice.ends].tolist()
    messages = sum(len(voice.messages) for voice in some)
    among = ", ".join(f"{np.mean(np.array(ranks) < most):.2f} among {most}" for most in NEAREST)
    highest = np.sort(ends)[::-1]
    least = {share: highest[int(share * len(ends)) - 1] for share in SHARES}
    read = ", ".join(
        f"{share} by {(np.array(met) >= score).sum() / messages:.1f} (from {score:.2f})"
        for share, score in least.items()
    )
    print(f"{title}: {len(ends)} ends; {among}; pairs a message: {read}")


def main() -> None:
    """Train, write and measure."""
    file = Path(sys.argv[1])
    numbers = train([*voices(file, "train"), *voices(file, "single")])
    halved: dict[str, Any] = {name: values.astype(np.float16) for name, values in numbers.items()}
    np.savez_compressed(FILE, **halved)
    for part in ("dev", "test"):
        held = list(voices(file, part))
        measure(f"{part}, by cosine", held, [voice.told @ voice.messages.T for voice in held])
        measure(f"{part}, learned", held, [log_odds(numbers, voice.told, voice.messages) for voice in held])


if __name__ == "__main__":
    main()
