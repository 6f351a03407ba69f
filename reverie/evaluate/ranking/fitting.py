"""Cross-validation of weights by conversations and by sets, and the decision to adopt them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from reverie.evaluate.ranking.weights import Example, Quality, fit_weights, mean, qualities
from reverie.policy import QUERY_KINDS, QueryKind, RecallPolicy

#: Number of folds over conversations.
FOLDS = 5
#: Minimum number of labelled queries of a kind for a source to count.
FEWEST = 30


@dataclass(frozen=True, kw_only=True, slots=True)
class Fold:
    """A source's held-out queries under the present weights, and under weights fitted on the rest."""

    kind: QueryKind
    source: str
    #: `1` to `5`, or `without <source>` for weights fitted on the other sources alone.
    name: str
    queries: int
    before: Quality
    after: Quality


@dataclass(frozen=True, kw_only=True, slots=True)
class FittedKind:
    """The weights of one kind of query."""

    kind: QueryKind
    queries: int
    before: Mapping[str, float]
    #: Weights fitted on all queries; the present ones if there are too few queries.
    after: Mapping[str, float]
    folds: tuple[Fold, ...]
    by_source: tuple[Fold, ...]
    #: Sources whose held-out queries find less than before; with any, nothing is adopted.
    worse: tuple[str, ...]

    @property
    def is_adopted(self) -> bool:
        """Whether the new weights replace the present ones."""
        return bool(self.folds) and not self.worse and self.after != self.before


def fit_kinds(
    examples: Sequence[Example], policy: RecallPolicy, *, progress: Callable[[str], None] = lambda _: None
) -> Iterator[FittedKind]:
    """Yield the weights of each kind of query that has examples, with every fold."""
    for kind in QUERY_KINDS:
        of_kind = [each for each in examples if each.kind == kind]
        if of_kind:
            progress(kind)
            yield fit_kind(kind, of_kind, policy.weights_for(kind))


def fit_kind(kind: QueryKind, examples: Sequence[Example], before: Mapping[str, float]) -> FittedKind:
    """Return the weights of the signals that a kind weighs, fitted by folds over conversations and sources.

    Sources with too few queries of the kind are left out.
    """
    signals = [name for name, weight in before.items() if weight]
    per_source = Counter(each.source for each in examples)
    examples = [each for each in examples if per_source[each.source] >= FEWEST]
    fold_of = _folds(examples)
    if len(set(fold_of.values())) < 2:
        return FittedKind(
            kind=kind, queries=len(examples), before=before, after=before, folds=(), by_source=(), worse=()
        )
    folds: list[Fold] = []
    held: dict[str, list[tuple[Quality, Quality]]] = defaultdict(list)
    for number in sorted(set(fold_of.values())):
        rest = [each for each in examples if fold_of[each.source, each.group] != number]
        weights = fit_weights(rest, before, signals)
        for source in _sources(examples):
            here = [each for each in examples if each.source == source and fold_of[each.source, each.group] == number]
            if here:
                old, new = qualities(here, before), qualities(here, weights)
                held[source] += zip(old, new, strict=True)
                folds.append(_fold(kind, source, str(number + 1), old, new))
    worse = [
        source
        for source, pairs in held.items()
        if mean([new for _, new in pairs]).recall_10 < mean([old for old, _ in pairs]).recall_10
    ]
    return FittedKind(
        kind=kind,
        queries=len(examples),
        before=before,
        after=fit_weights(examples, before, signals),
        folds=tuple(folds),
        by_source=tuple(_without(kind, examples, before, signals)),
        worse=tuple(worse),
    )


def _without(
    kind: QueryKind, examples: Sequence[Example], before: Mapping[str, float], signals: Sequence[str]
) -> Iterator[Fold]:
    """Yield a fold for each source, under weights fitted on the other sources."""
    sources = _sources(examples)
    for source in sources if len(sources) > 1 else ():
        weights = fit_weights([each for each in examples if each.source != source], before, signals)
        here = [each for each in examples if each.source == source]
        yield _fold(kind, source, f"without {source}", qualities(here, before), qualities(here, weights))


def _fold(kind: QueryKind, source: str, name: str, old: Sequence[Quality], new: Sequence[Quality]) -> Fold:
    return Fold(kind=kind, source=source, name=name, queries=len(old), before=mean(old), after=mean(new))


def _sources(examples: Sequence[Example]) -> list[str]:
    return list(dict.fromkeys(each.source for each in examples))


def _folds(examples: Sequence[Example]) -> dict[tuple[str, str], int]:
    """Return the fold of each conversation; the largest come first, each into the emptiest fold.

    Sources planted in the same conversations share their folds.
    """
    sizes: dict[str, int] = defaultdict(int)
    for each in examples:
        sizes[each.group] += 1
    filled = [0] * FOLDS
    fold: dict[str, int] = {}
    for group in sorted(sizes, key=lambda name: (-sizes[name], name)):
        fold[group] = filled.index(min(filled))
        filled[fold[group]] += sizes[group]
    return {(each.source, each.group): fold[each.group] for each in examples}


def weights_toml(base: str, adopted: Iterable[FittedKind]) -> str:
    """Return a policy file on `base` with the weights of these kinds."""
    parts = [f'# Weights by `reverie fit-ranking`.\nbase = "{base}"\n']
    for each in adopted:
        lines = [f"{name} = {weight}" for name, weight in each.after.items()]
        parts.append("\n".join((f"[recall.query_weights.{each.kind}]", *lines)) + "\n")
    return "\n".join(parts)
