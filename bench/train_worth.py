"""Train the classifier of sentences worth keeping: `python -m bench.train_worth`.

Writes `reverie/language/cues/worth_weights.json`.

Logistic regression over `reverie.language.cues.worth.features` of sentences of our own (`sets/worth_sentences.tsv`) and
of LongMemEval, MemAware and GoEmotions sentences that we labelled (`sets/worth_labels.tsv`: where each stands in
`../shared/data`, and its label). Same data, same libraries: same bytes.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from reverie.language.cues.worth import features

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT.parent / "shared" / "data"
SETS = Path(__file__).with_name("sets")
WEIGHTS = ROOT / "reverie" / "language" / "cues" / "worth_weights.json"
SOURCES = {
    "goe": "mood/goemotions.train.tsv.gz",
    "lme_s": "retrieval/lme_s.sessions.jsonl.gz",
    "memaware": "messages/memaware.sessions.jsonl.gz",
}
#: Inverse strength of regularisation; sentences in which a feature must occur; steps of a weight.
STRENGTH, LEAST, SCALE = 0.3, 2, 100
ATTRIBUTION = (
    "Trained on sentences of our own, of GoEmotions (Demszky et al., 2020; Google Research; Apache License 2.0), "
    "LongMemEval (Wu et al., 2024; MIT) and MemAware (MIT), with labels of our own."
)


def own() -> list[tuple[str, bool]]:
    """Return sentences of our own, each with whether it is worth keeping."""
    rows = [line.split("\t") for line in (SETS / "worth_sentences.tsv").read_text("utf-8").splitlines()]
    return [(text, label == "1") for label, text in rows]


def labelled() -> list[tuple[str, bool]]:
    """Return sentences of the data that we labelled."""
    rows = [line.split("\t") for line in (SETS / "worth_labels.tsv").read_text("utf-8").splitlines()]
    places = [place.rsplit(":", 2) for place, _ in rows]
    texts = {source: _texts(source, {turn for one, turn, _ in places if one == source}) for source in SOURCES}
    found = []
    for (source, turn, span), (_, label) in zip(places, rows, strict=True):
        start, end = map(int, span.split("-"))
        found.append((texts[source][turn][start:end].replace("’", "'"), label == "1"))
    return found


def _texts(source: str, wanted: set[str]) -> dict[str, str]:
    """The texts of a source by their place: a line, or a session and a turn."""
    with gzip.open(DATA / SOURCES[source], "rt", encoding="utf-8") as file:
        places = _lines(file) if source == "goe" else _turns(file)
        return {place: text for place, text in places if place in wanted}


def _lines(file: Iterator[str]) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(file):
        yield str(number), line.split("\t")[0]


def _turns(file: Iterator[str]) -> Iterator[tuple[str, str]]:
    for line in file:
        session = json.loads(line)
        for number, turn in enumerate(session["turns"]):
            yield f"{session['session_id']}/{number}", turn["text"]


def matrix(texts: list[str], names: list[str]) -> csr_matrix:
    """Which sentences (rows) have which features (columns)."""
    columns = {name: number for number, name in enumerate(names)}
    cells = [(row, columns[one]) for row, text in enumerate(texts) for one in features(text) if one in columns]
    rows, cols = zip(*cells, strict=True)
    return csr_matrix((np.ones(len(cells)), (rows, cols)), shape=(len(texts), len(names)))


def vocabulary(texts: list[str]) -> list[str]:
    """Return the features that occur often enough, in order."""
    counts = Counter(feature for text in texts for feature in features(text))
    return sorted(name for name, count in counts.items() if count >= LEAST)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=WEIGHTS)
    options = parser.parse_args()
    rows = own() + labelled()
    texts, labels = [text for text, _ in rows], np.array([label for _, label in rows])
    names = vocabulary(texts)
    table = matrix(texts, names)
    model = LogisticRegression(C=STRENGTH, max_iter=1000)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    odds = cross_val_predict(model, table, labels, cv=folds, method="predict_proba")[:, 1]
    for name, part in (("own", slice(0, len(own()))), ("labelled", slice(len(own()), None))):
        print(f"{name}: {np.mean((odds[part] >= 0.5) == labels[part]):.3f} right in five folds")
    model.fit(table, labels)
    weights = {name: round(value * SCALE) for name, value in zip(names, model.coef_[0].tolist(), strict=True)}
    stored = {
        "what": "Logistic regression over the features of worth.py; a weight is divided by the scale.",
        "attribution": ATTRIBUTION,
        "sentences": len(rows),
        "scale": SCALE,
        "bias": round(float(model.intercept_[0]), 4),
        "weights": {name: value for name, value in weights.items() if value},
    }
    options.out.write_text(json.dumps(stored, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"{len(rows)} sentences, {len(stored['weights'])} weights -> {options.out}")


if __name__ == "__main__":
    main()
