"""Train the classifier of sentences worth keeping: `python -m bench.train_worth [--cache FOLDER]`.

Writes `reverie/language/cues/worth_weights.json`.

There are few labels: sentences of our own (`sets/worth_sentences.tsv`), and sentences of LongMemEval, MemAware and
GoEmotions that we labelled (`sets/worth_labels.tsv`: the place of each in `../shared/data`, and its label). Therefore a
teacher, which uses sentence vectors and words, is trained on them and classifies other sentences of the same data. The
shipped logistic regression, which uses only words, is trained on the teacher's answers and on the labels. The same data
and libraries give the same bytes. Takes ten minutes, most of it embedding.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.sparse import csr_matrix, vstack
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from bench.mood_data import embedded
from reverie.inference import load_embedder
from reverie.language.cues import wording
from reverie.language.cues.attribution import veil_expr
from reverie.language.cues.telling import tellings_frame
from reverie.language.cues.worth import features

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.bool_]

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT.parent / "shared" / "data"
SETS = Path(__file__).with_name("sets")
WEIGHTS = ROOT / "reverie" / "language" / "cues" / "worth_weights.json"
SOURCES = {
    "goe": "mood/goemotions.train.tsv.gz",
    "lme_s": "retrieval/lme_s.sessions.jsonl.gz",
    "memaware": "messages/memaware.sessions.jsonl.gz",
}
#: Sentences of each source for the teacher; letters of the longest sentence.
ASKED, LONGEST = {"goe": 10_000, "lme_s": 4_000, "memaware": 1_500}, 220
#: Inverse strength of regularisation of the teacher's parts and of the shipped classifier.
TEACHER_WORDS, TEACHER_VECTORS, STRENGTH = 0.3, 3.0, 0.3
#: The fewest sentences with a feature; the weight of a teacher's answer (a label has 1); steps per unit of a weight.
LEAST, ANSWER, SCALE = 4, 0.3, 100
ATTRIBUTION = (
    "Trained on sentences of our own, and of GoEmotions (Demszky et al., 2020; Google Research; Apache License 2.0), "
    "LongMemEval (Wu et al., 2024; MIT) and MemAware (MIT), with labels of our own."
)


def own() -> list[tuple[str, bool]]:
    """Return sentences of our own, each with whether it is worth keeping."""
    rows = [line.split("\t") for line in (SETS / "worth_sentences.tsv").read_text("utf-8").splitlines()]
    return [(text, label == "1") for label, text in rows]


def labelled() -> list[tuple[str, bool]]:
    """Return the sentences of the data that we labelled."""
    rows = [line.split("\t") for line in (SETS / "worth_labels.tsv").read_text("utf-8").splitlines()]
    places = [place.rsplit(":", 2) for place, _ in rows]
    texts = {source: dict(users_texts(source)) for source in SOURCES}
    found = []
    for (source, turn, span), (_, label) in zip(places, rows, strict=True):
        start, end = map(int, span.split("-"))
        found.append((texts[source.split(":")[0]][turn][start:end].replace("’", "'"), label == "1"))
    return found


def users_texts(source: str) -> Iterator[tuple[str, str]]:
    """Yield the texts of a source with their places: a line, or a session and a turn of its user."""
    with gzip.open(DATA / SOURCES[source], "rt", encoding="utf-8") as file:
        yield from _lines(file) if source == "goe" else _turns(file)


def _lines(file: Iterable[str]) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(file):
        yield str(number), line.split("\t")[0]


def _turns(file: Iterable[str]) -> Iterator[tuple[str, str]]:
    for line in file:
        session = json.loads(line)
        for number, turn in enumerate(session["turns"]):
            if turn["role"] == "user":
                yield f"{session['session_id']}/{number}", turn["text"]


def unlabelled(known: set[str]) -> list[str]:
    """Return sentences that reach the classifier, except labelled ones."""
    chosen: list[str] = []
    for source, count in ASKED.items():
        texts = pl.DataFrame({"text": [text for _, text in users_texts(source)]})
        plain = texts.select(wording.plain_expr(veil_expr(pl.col("text")))).to_series()
        found = dict.fromkeys(one.text for one in tellings_frame(plain) if len(one.text) <= LONGEST)
        left = [text for text in found if text not in known]
        chosen += random.Random(0).sample(left, min(count, len(left)))
    return chosen


def matrix(texts: Sequence[str], names: Sequence[str]) -> csr_matrix:
    """Return a matrix with 1 where a sentence (row) has a feature (column)."""
    columns = {name: number for number, name in enumerate(names)}
    cells = [(row, columns[one]) for row, text in enumerate(texts) for one in sorted(features(text)) if one in columns]
    rows, cols = zip(*cells, strict=True)
    return csr_matrix((np.ones(len(cells)), (rows, cols)), shape=(len(texts), len(names)))


def vocabulary(texts: Sequence[str], least: int) -> list[str]:
    """Return the features that occur in enough sentences, in order."""
    counts = Counter(feature for text in texts for feature in features(text))
    return sorted(name for name, count in counts.items() if count >= least)


def taught(
    words: csr_matrix, vectors: Floats, labels: Labels, asked_words: csr_matrix, asked_vectors: Floats
) -> Floats:
    """Return the teacher's answers: the mean of the answers by words and by vectors."""
    by_words = LogisticRegression(C=TEACHER_WORDS, max_iter=1000).fit(words, labels)
    by_vectors = SVC(C=TEACHER_VECTORS, gamma=1.0).fit(vectors, labels)
    margins = by_vectors.decision_function(asked_vectors)
    answers: Floats = (by_words.predict_proba(asked_words)[:, 1] + 1 / (1 + np.exp(-2 * margins))) / 2
    return answers


def student(words: csr_matrix, labels: Labels, asked: csr_matrix, answers: Floats) -> LogisticRegression:
    """Return the shipped classifier, trained on labels and on each answer as both classes, weighted by certainty."""
    table = vstack([words, asked, asked])
    truth = np.concatenate([labels, np.ones(len(answers), bool), np.zeros(len(answers), bool)])
    weights = np.concatenate([np.ones(len(labels)), ANSWER * answers, ANSWER * (1 - answers)])
    return LogisticRegression(C=STRENGTH, max_iter=2000).fit(table, truth, sample_weight=weights)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, help="folder that keeps the vectors for the next run")
    parser.add_argument("--out", type=Path, default=WEIGHTS)
    options = parser.parse_args()
    mine = own()
    rows = mine + labelled()
    texts, labels = [text for text, _ in rows], np.array([label for _, label in rows])
    asked = unlabelled(set(texts))
    embedder = load_embedder("minilm")
    vectors, others = (embedded(part, embedder, options.cache).astype(np.float64) for part in (texts, asked))
    names = vocabulary(texts + asked, LEAST)
    few = vocabulary(texts, 2)
    words, pool, few_words, few_pool = (matrix(part, kept) for kept in (names, few) for part in (texts, asked))
    odds = np.zeros(len(texts))
    for fit, test in StratifiedKFold(5, shuffle=True, random_state=0).split(texts, labels):
        answers = taught(few_words[fit], vectors[fit], labels[fit], few_pool, others)
        odds[test] = student(words[fit], labels[fit], pool, answers).predict_proba(words[test])[:, 1]
    for name, part in (("own", slice(0, len(mine))), ("labelled", slice(len(mine), None))):
        print(f"{name}: {np.mean((odds[part] >= 0.5) == labels[part]):.3f} right in five folds")
    model = student(words, labels, pool, taught(few_words, vectors, labels, few_pool, others))
    weights = {name: round(value * SCALE) for name, value in zip(names, model.coef_[0].tolist(), strict=True)}
    kept = {name: value for name, value in weights.items() if abs(value) > 1}
    stored = {
        "what": "Logistic regression over the features of worth.py; a weight is divided by the scale.",
        "attribution": ATTRIBUTION,
        "sentences": {"labelled": len(texts), "asked": len(asked)},
        "scale": SCALE,
        "bias": round(float(model.intercept_[0]), 4),
        "weights": kept,
    }
    options.out.write_text(json.dumps(stored, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"{len(texts)} + {len(asked)} sentences, {len(kept)} weights -> {options.out}")


if __name__ == "__main__":
    main()
