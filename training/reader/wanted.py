"""Trains the classifier of wanted statements: `python -m training.reader.wanted [--ask FILE] [--out FILE]`.

Writes `reverie/inference/reader/wanted.npz`: a logistic regression over the states with which the reader reads a
statement, its chance and the length of its message. `wanted/*.jsonl` has people who were invented for this and on whom
the reader was not trained; they and the voices of `dev` are read as memory reads them. `wanted/verdicts.tsv` has a
verdict on each statement, by somebody who took the person's place: voice, line of the message, object, verdict
(`right`, `over`, `wrong`, `beside`) and words, separated by tabs (GUIDE.md, "What is wanted"). A statement is wanted if
it is right, or was right before it was over. `--ask` writes the statements without a verdict, to be judged. Prints
figures by writers left out. The same data, libraries and reader give the same bytes.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from bench.report import print_table
from reverie.consolidate.extract.kept import KeptReader
from reverie.consolidate.extract.reading import read_messages, statement_of
from reverie.consolidate.extract.stated import candidates_of
from reverie.inference.reader import AskedMessage, MessageReading, ReadMessage
from reverie.inference.reader.decoding import Numbers, ObjectSpan, TokenPlaces
from reverie.inference.reader.reader import TrainedReader
from reverie.inference.reader.wanted import WANTED, Wanted, wanted_signs
from reverie.language.cues.keeping import OWN_WORDS
from reverie.language.statements.stated import bare
from reverie.language.text import strip_invisible
from reverie.model import Turn
from reverie.policy import Policy, load_policy
from training.reader.check import read_voice

ROOT = Path(__file__).resolve().parents[2]
PEOPLE, VOICES = Path(__file__).with_name("wanted"), Path(__file__).with_name("voices")
VERDICTS = PEOPLE / "verdicts.tsv"
OUT = ROOT / "reverie" / "inference" / "reader" / WANTED
#: Whether a statement with this verdict is wanted.
WANTED_BY = {"right": True, "over": True, "wrong": False, "beside": False}
#: Inverse strength of regularisation; the weight of a sign relative to one of the states.
STRENGTH, SIGNS = 5e-4, 5.0
#: Features at the end that are not states.
LAST = len(wanted_signs(0.5, 1, 1))
#: Letters of a voice's name that identify its writer.
WRITER = 2
THRESHOLDS = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8)

Floats = npt.NDArray[np.float64]


class Stated(NamedTuple):
    """A statement of a message as memory would keep it, with the reader's features."""

    voice: str
    line: int
    object: str
    words: str
    #: whether it is kept in the person's own words
    own: bool
    #: states, then signs
    features: Floats


class _Unlearned(Wanted):
    """A classifier that wants every statement, in place of the one trained before."""

    def __init__(self) -> None:
        pass

    def chance(self, states: npt.NDArray[np.float32], signs: Floats) -> float:
        return 1.0


class WatchedReader(TrainedReader):
    """A reader that records the features of each statement."""

    def __init__(self) -> None:
        """Load the reader."""
        super().__init__()
        self._wanted = _Unlearned()
        self.seen: dict[AskedMessage, list[tuple[MessageReading, Floats]]] = {}
        self._last: list[tuple[MessageReading, Floats]] = []

    def read(self, messages: Sequence[AskedMessage]) -> list[ReadMessage]:
        """Return the statements of each message, read one by one, without those of its sentences by themselves."""
        found = []
        for message in messages:
            self._last = []
            found += self.read_whole([message])
            self.seen[message] = self._last
        return found

    def _reading(
        self, tokens: TokenPlaces, span: ObjectSpan, said: dict[str, Numbers], stated: float
    ) -> MessageReading:
        reading = super()._reading(tokens, span, said, stated)
        self._last.append((reading, np.concatenate(self._wanted_by(tokens, span, said, stated))))
        return reading


def messages_of() -> Iterator[tuple[str, Sequence[Mapping[str, Any]]]]:
    """Yield the name and lines of each of the invented people and of the voices of dev."""
    for file in sorted(PEOPLE.glob("*.jsonl")):
        lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        heads = [place for place, line in enumerate(lines) if "voice" in line]
        for start, end in zip(heads, [*heads[1:], len(lines)], strict=True):
            yield lines[start]["voice"], lines[start + 1 : end]
    for file in sorted(VOICES.glob("*.jsonl")):
        head, lines, _ = read_voice(file)
        if head["part"] == "dev":
            yield head["voice"], lines


def statements(policy: Policy) -> list[Stated]:
    """Return the statements of all messages that memory would keep, in the words of memory."""
    reader = WatchedReader()
    found: list[Stated] = []
    for voice, lines in messages_of():
        turns = [_turn(voice, number, line) for number, line in enumerate(lines, 1)]
        asked = [line.get("q") for line in lines]
        read = read_messages(_frame(turns, asked), policy, reader=KeptReader(reader))
        for number, (turn, question) in enumerate(zip(turns, asked, strict=True), 1):
            message = AskedMessage(strip_invisible(turn.text), strip_invisible(question or ""))
            states = {place_of(reading, message): of for reading, of in reader.seen.get(message, ())}
            for candidate in candidates_of(read.statements.get(str(turn.id), ()), turn, policy):
                said = candidate.statement
                features = states.get((said.relation, said.object or "")) if said else None
                if said and features is not None:
                    object_, words = (" ".join(each.split()) for each in (said.object or "", candidate.content))
                    found.append(Stated(voice, number, object_, words, candidate.origin == OWN_WORDS, features))
    return found


def place_of(reading: MessageReading, message: AskedMessage) -> tuple[str, str]:
    """Return the relation and the object of a reading, as memory has them."""
    return reading.relation, bare(statement_of(reading, message).object.strip())


def _turn(voice: str, number: int, line: Mapping[str, Any]) -> Turn:
    day = datetime.fromisoformat(line.get("day", "2026-01-05")).replace(hour=9, tzinfo=UTC)
    return Turn(
        tenant_id="wanted", subject_id=voice, session_id="1", source_id=f"{voice}:{number}", role="user", speaker=None,
        said_at=day + timedelta(minutes=number), text=line["t"],
    )  # fmt: skip


def _frame(turns: Sequence[Turn], asked: Sequence[str | None]) -> pl.DataFrame:
    rows = [(str(turn.id), turn.role, turn.text, question) for turn, question in zip(turns, asked, strict=True)]
    return pl.DataFrame(rows, schema={"id": str, "role": str, "text": str, "asked": str}, orient="row")


def verdicts() -> dict[tuple[str, int, str], str]:
    """Return the verdicts by voice, line, and the object or the words of the statement."""
    found = {}
    for row in VERDICTS.read_text(encoding="utf-8").splitlines():
        voice, line, object_, verdict, words = row.split("\t")
        found[voice, int(line), object_] = found[voice, int(line), words] = verdict
    return found


def fitted(features: Floats, wanted: npt.NDArray[np.bool_]) -> Floats:
    """Return the weight of each feature; the last feature is constant 1."""
    from sklearn.linear_model import LogisticRegression  # takes a second

    means, scales = features[:, :-1].mean(axis=0), features[:, :-1].std(axis=0) + 1e-6
    scales[1 - LAST :] /= SIGNS
    model = LogisticRegression(C=STRENGTH, max_iter=2000).fit((features[:, :-1] - means) / scales, wanted)
    weights: Floats = model.coef_[0] / scales
    return np.append(weights, model.intercept_[0] - weights @ means)


def print_figures(rows: Sequence[Stated], given: Sequence[str], chances: Floats) -> None:
    """Print, by least chance, how many statements in the person's own words are kept, and their verdicts."""
    own = [(verdict, chance) for one, verdict, chance in zip(rows, given, chances, strict=True) if one.own]
    table = []
    for least in (0.0, *THRESHOLDS):
        kept = [verdict for verdict, chance in own if chance >= least]
        shares = [f"{kept.count(name) / max(len(kept), 1):.3f} ({kept.count(name)})" for name in WANTED_BY]
        table.append((f"{least}", f"{len(kept)} of {len(own)}", *shares))
    print_table("In own words, by writers left out", ("least", "kept", *WANTED_BY), table)


def main() -> None:
    """Ask for verdicts, or train."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ask", type=Path, help="write the statements without a verdict, and train nothing")
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    policy = load_policy("reverie")
    reader = policy.extract.reader.model_copy(update={"wanted": 0.0})
    policy = policy.model_copy(update={"extract": policy.extract.model_copy(update={"reader": reader})})
    known = verdicts() if VERDICTS.exists() else {}
    found = statements(policy)
    given = [
        known.get((one.voice, one.line, one.object)) or known.get((one.voice, one.line, one.words)) for one in found
    ]
    if options.ask:
        missing = [one for one, verdict in zip(found, given, strict=True) if verdict is None]
        lines = [f"{one.voice}\t{one.line}\t{one.object}\t?\t{one.words}\n" for one in missing]
        options.ask.write_text("".join(lines), encoding="utf-8")
        return
    judged = [(one, verdict) for one, verdict in zip(found, given, strict=True) if verdict is not None]
    rows, names = [one for one, _ in judged], [verdict for _, verdict in judged]
    features = np.stack([one.features for one in rows]).astype(np.float64)
    wanted = np.array([WANTED_BY[name] for name in names])
    writers = [one.voice[:WRITER] for one in rows]
    chances = np.zeros(len(rows))
    for writer in dict.fromkeys(writers):
        out = np.array([each == writer for each in writers])
        chances[out] = 1 / (1 + np.exp(-features[out] @ fitted(features[~out], wanted[~out])))
    print_figures(rows, names, chances)
    weights = fitted(features, wanted).astype(np.float32)
    packed = BytesIO()
    np.savez(packed, states=weights[:-LAST], signs=weights[-LAST:])
    options.out.write_bytes(packed.getvalue())
    print(f"{len(rows)} statements with a verdict, {len(found) - len(rows)} without")


if __name__ == "__main__":
    main()
