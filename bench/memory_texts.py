"""The parts of `bench/memory.py` that read texts alone: sentences, ConvAI2, PrefEval and speed."""

from __future__ import annotations

import json
import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

# one thread, so that CPU seconds do not include threads waiting for work
os.environ.setdefault("POLARS_MAX_THREADS", "1")

import polars as pl

from bench.memory_scoring import Found, Reading, any_of, folds_apart, has_words, measure, read_against
from bench.report import print_table
from bench.rules import candidates_of_texts, convai, cpu, found, in_batch, lines, locomo, rules_of
from reverie.consolidate.extract.decide import decide_turns, turns_frame
from reverie.consolidate.extract.reading import read_messages
from reverie.language.cues.immediate import extract_candidates
from reverie.model import Candidate, Turn
from reverie.policy import Policy, load_policy

SETS = Path(__file__).resolve().parent / "sets"
#: Kinds that state a personal fact, and kinds that state a wish.
STATING, WANTS = {"fact", "preference", "instruction"}, {"preference", "instruction"}
FOLDS = 5


def entries(name: str, part: str) -> list[dict[str, Any]]:
    """Return the entries of a set (`sentences`, `histories`) and its part (`dev`, `held`)."""
    path = SETS / f"{name}.{part}.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def count_tokens(text: str) -> int:
    """Return the number of words; short texts need no tokenizer."""
    return len(text.split())


def spoken(text: str) -> Turn:
    """Return a user's turn with this text."""
    at = datetime(2024, 5, 6, 18, tzinfo=UTC)
    return Turn(
        tenant_id="bench", subject_id="user", session_id="s1", source_id="1", role="user", speaker=None, said_at=at,
        text=text,
    )  # fmt: skip


def statements(candidates: Sequence[Candidate]) -> list[Found]:
    """Return the statements of candidates of the stating kinds; a candidate without a statement has no relation."""
    stated = []
    for one in candidates:
        if one.kind in STATING:
            what = one.statement
            stated.append(
                Found(None, None, one.polarity)
                if what is None
                else Found(what.relation, what.object, one.polarity, what.phase, what.who, what.topic)
            )
    return stated


#: The current names of relations in the sets.
_PRESENT = {
    "grew_up_in": ("comes_from",),
    "manager": ("reports_to",),
    "retired": ("works_as",),
    "plays": ("does",),
    "graduated_from": ("attends", "studies"),
    "budget": ("measure",),
    "opening_hours": ("schedule", "availability"),
}


def expected(entry: dict[str, Any]) -> dict[str, Any] | None:
    """Return the expected statement of a sentence, with the current names of relations; None: it states nothing."""
    expect = entry["expect"]
    if expect is None:
        return None
    names = [name for one in any_of(expect["relation"]) for name in _PRESENT.get(one, (one,))]
    return {**expect, "relation": names}


class Sentence(NamedTuple):
    """A sentence that states something, with the statements found in it."""

    id: str
    relation: str
    read: Reading
    found: list[Found]
    #: whether the text of a memory has the object, in any relation
    told: bool
    text: str


def sentences(part: str, policy_name: str = "reverie", verbose: bool = False) -> None:
    """Print how many sentences are read rightly, in all and by relation, and how many others give no statement."""
    policy, quiet, plain = load_policy(policy_name), 0, 0
    read: list[Sentence] = []
    noisy: list[tuple[str, str, str, str]] = []
    given = list(entries("sentences", part))
    by_text = candidates_of_texts(policy, tuple(entry["text"] for entry in given))
    for entry, candidates in zip(given, by_text, strict=True):
        stated = statements(candidates)
        if (expect := expected(entry)) is not None:
            relation, wanted = any_of(expect["relation"])[0], expect["object"]
            told = any(one.kind in STATING and has_words(one.content, wanted) for one in candidates)
            read.append(Sentence(entry["id"], relation, read_against(expect, stated), stated, told, entry["text"]))
            continue
        quiet += not stated
        named = [one.relation for one in stated if one.relation]
        plain += bool(stated) and not named
        if named:
            noisy.append((entry["id"], "none", entry["text"], "; ".join(map(_shown, stated))))
    _print_sentences(part, read, quiet, plain, noisy)
    if verbose:
        wrong = [one for one in read if not all(one.read)]
        shown = [(one.id, one.relation, one.text, "; ".join(map(_shown, one.found))) for one in wrong]
        print_table("Not right in all", ("sentence", "relation", "text", "found"), shown + noisy)


def _shown(one: Found) -> str:
    return f"{one.who + ' ' if one.who else ''}{one.relation}: {one.object} ({one.phase}, {one.polarity})"


def _print_sentences(part: str, read: list[Sentence], quiet: int, plain: int, noisy: Sequence[object]) -> None:
    def share(flags: Iterator[bool]) -> str:
        return f"{sum(flags) / max(len(read), 1):.3f}"

    rights = [one for one in read if one.read.right]
    rows = [
        ("relation and object right (goal .85)", share(one.read.right for one in read)),
        ("polarity, phase, holder and topic too", share(all(one.read) for one in read)),
        ("relation right", share(one.read.relation for one in read)),
        ("object in the text of a statement", share(one.told for one in read)),
        ("some statement found", share(bool(one.found) for one in read)),
        ("statements beyond the expected", sum(max(len(one.found) - 1, 0) for one in read)),
    ]
    rows += [
        (
            f"{name} right, where relation and object are",
            f"{sum(getattr(one.read, name) for one in rights)}/{len(rights)}",
        )
        for name in ("polarity", "phase", "who")
    ]
    none = quiet + plain + len(noisy)
    rows += [(f"no statement where there is none ({none})", quiet), ("a plain fact, without relation", plain)]
    rows += [("a statement of a relation", len(noisy))]
    print_table(f"Sentences, {part}: {len(read)} that state something", ("", "figure"), rows)
    by_relation: dict[str, list[bool]] = defaultdict(list)
    for one in read:
        by_relation[one.relation].append(one.read.right)
    cells = ", ".join(f"{name} {sum(flags)}/{len(flags)}" for name, flags in by_relation.items())
    print(f"Right by relation: {cells}")


class Dialogues(NamedTuple):
    """The lines of the ConvAI2 dialogues, each once, with whether it states a fact and its fold."""

    texts: list[str]
    stated: list[bool]
    folds: list[int]


def convai_dialogues() -> Dialogues:
    """Read the ConvAI2 dev dialogues. A line's fold is that of its speaker's persona; folds share no persona sentence.

    The odd lines of a dialogue are the partner's. A repeated line counts only where it occurs first."""
    personas: list[list[str]] = []
    owner: dict[str, int] = {}
    told = True
    for line in lines("facts/convai2-dnli.dev.txt.gz"):
        first, _, rest = line.partition("\t")
        who, colon, sentence = first.partition("persona: ")
        if colon:
            if told:
                personas += [[], []]
                told = False
            personas[-1 if who.startswith("partner") else -2].append(sentence)
        else:
            told = True
            owner.setdefault(rest.partition("\t")[0], len(personas) - (1 if int(first) % 2 else 2))
    texts, triples = convai(persona=False)
    fold = folds_apart(personas, FOLDS)
    return Dialogues(texts, [bool(one) for one in triples], [fold[owner[text]] for text in texts])


def convai_figures(policy_name: str = "reverie") -> None:
    """Print precision, recall and F1 of "states a personal fact", in all and by fold."""
    texts, stated, folds = convai_dialogues()
    said = found(texts, load_policy(policy_name), STATING)
    rows = [("all", len(texts), *_cells(said, stated))]
    kept = found(texts, load_policy(policy_name), STATING | {"episode"})
    rows.append(("all, episodes too", len(texts), *_cells(kept, stated)))
    for fold in range(FOLDS):
        places = [place for place, one in enumerate(folds) if one == fold]
        cells = _cells([said[place] for place in places], [stated[place] for place in places])
        rows.append((f"fold {fold + 1}", len(places), *cells))
    columns = ("part", "lines", "precision", "recall", "F1 (goal .70)")
    print_table("ConvAI2 dev dialogues: does a line state a personal fact?", columns, rows)


def _cells(predicted: Sequence[bool], truth: Sequence[bool]) -> list[str]:
    return [f"{one:.3f}" for one in measure(predicted, truth)]


def prefeval(policy_name: str = "reverie") -> None:
    """Print precision, recall and F1 of "states a preference" on PrefEval, as `bench/rules.py` measures it."""
    pairs = [json.loads(line) for line in lines("preferences/prefeval-explicit.dev.jsonl.gz")]
    turns, cited = locomo()
    stated, asked = [one["preference"] for one in pairs], [one["question"] for one in pairs]
    quiet = [text for text, positive in zip(turns, cited, strict=True) if not positive]
    texts = stated + asked + quiet
    said = found(texts, load_policy(policy_name), WANTS)
    row = _cells(said, [place < len(stated) for place in range(len(texts))])
    print_table("PrefEval dev", ("stated", "others", "precision", "recall", "F1 (goal .94)"), [
        (len(stated), len(texts) - len(stated), *row),
    ])  # fmt: skip


def speed(policy_name: str = "reverie", rows: int = 6_000) -> None:
    """Print turns per CPU-second of patterns and extraction in batches, and milliseconds of a turn; best of three."""
    policy, (turns, _) = load_policy(policy_name), locomo()
    rules = rules_of(policy_name)
    batch = (turns * (rows // len(turns) + 1))[:rows]
    texts = pl.DataFrame({"text": batch})
    at = datetime(2024, 5, 6, tzinfo=UTC)
    rows_ = [(f"{n:032x}", "user", "s1", "user", None, at, text, None, None) for n, text in enumerate(batch)]
    frame = turns_frame(rows_)

    def decide() -> None:
        decide_turns(frame, "bench", policy, count_tokens, read=read_messages(frame, policy))

    figures = [
        ("patterns alone, turns a CPU-second", f"{rows / _best(lambda: in_batch(texts, rules)):,.0f}"),
        ("extraction, turns a CPU-second", f"{rows / _best(decide):,.0f}"),
    ]
    each = sorted(min(_wall(spoken(text), policy) for _ in range(3)) for text in turns)
    p50, p95 = (1e3 * each[len(each) * share // 100] for share in (50, 95))
    figures.append(("one turn, ms p50 / p95 (goal p95 1)", f"{p50:.3f} / {p95:.3f}"))
    print_table(f"Speed of extraction, {rows:,} turns", ("", "figure"), figures)


def _best(work: Callable[[], object]) -> float:
    return min(cpu(work) for _ in range(3))


def _wall(turn: Turn, policy: Policy) -> float:
    start = time.perf_counter()
    extract_candidates(turn, policy, count_tokens)
    return time.perf_counter() - start
