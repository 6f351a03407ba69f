"""The quality of help for an assistant: tools for a message, lessons of other sessions, an inbox in order.

    python -m bench.assisting [--only tools lessons inbox] [--verbose]

`bench/sets/assisting/` has our own labelled histories, written before the code. The numbers of `[assist]` were chosen
on the persons of `dev`; those of `held` were evaluated once, at the end. Inboxes of `held` showed two faults, which
were fixed; those of `fresh` were written and ranked after that.

Tools: the right tool first (accuracy), and no tool if none helps. Peers: the tool that was used most, and that of the
nearest message, whatever its outcome. Lessons: the share of the labelled lessons among the first three, and the
messages without a lesson that get none. Peer: the three items nearest to the message. Inbox: NDCG@5 and Kendall's tau
against a label from 0 to 3. Peers: the latest first, and the similarity of the nearest memory.
"""

from __future__ import annotations

import argparse
import csv
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import combinations
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np

from bench.memory_histories import Running, running
from bench.report import print_table
from reverie.capture.append import log_outcomes
from reverie.capture.live.corrections import CorrectionAsked, correct_memory
from reverie.drive.cycle import catch_up, ingest
from reverie.model import Outcome
from reverie.recall.assist.inbox import InboxItem, rank_inbox
from reverie.recall.assist.lessons import find_lessons
from reverie.recall.assist.tools import suggest_tools
from reverie.recall.query import RecallQuery
from reverie.store.session import perform

SETS = Path(__file__).resolve().parent / "sets" / "assisting"
HALVES = ("dev", "held", "fresh")
#: The time of the questions about the persons.
ASKED_AT = datetime(2026, 3, 6, tzinfo=UTC)
Row = dict[str, str]


def rows_of(name: str) -> list[Row]:
    """Return the rows of a set."""
    text = (SETS / f"{name}.tsv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))


def by_person(rows: Sequence[Row]) -> dict[tuple[str, str], list[Row]]:
    """Return rows by half and person, in their order."""
    found: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        found.setdefault((row["half"], row["person"]), []).append(row)
    return found


def at_noon(day: str) -> datetime:
    """Return noon of a day, or the time if one is given, in UTC."""
    at = datetime.fromisoformat(day).replace(tzinfo=UTC)
    return at if "T" in day else at + timedelta(hours=12)


def asked_by(person: str, message: str, top_k: int | None = None) -> RecallQuery:
    """Return the recall query for a person's message."""
    return RecallQuery(text=message, subject_id=person, as_of=ASKED_AT, top_k=top_k)


def turn(person: str, session: str, number: int, role: str, at: datetime, text: str, **more: Any) -> dict[str, Any]:
    """Return a turn as a record to import."""
    said = {"subject_id": person, "session_id": session, "source_id": f"t{number}", "role": role, "text": text}
    return said | {"said_at": at.isoformat()} | more


# ------------------------------------------------------------------------------------------------------------- tools
def take_in_uses(bench: Running, person: str, rows: Sequence[Row]) -> None:
    """Import uses of tools: the message, the call, and its outcome."""
    turns, outcomes = [], []
    for number, row in enumerate(each for each in rows if each["what"] == "use"):
        at, session = at_noon(row["when"]), f"s{number}"
        turns.append(turn(person, session, 2 * number, "user", at, row["message"]))
        call = {"name": row["tool"], "arguments": {}}
        later = at + timedelta(seconds=5)
        turns.append(turn(person, session, 2 * number + 1, "assistant", later, "Done.", tool_calls=[call]))
        if row["outcome"]:
            outcomes.append((session, f"t{2 * number + 1}", row["outcome"] == "good", at + timedelta(hours=1)))
    bench.bring(person, turns, ASKED_AT)
    note_outcomes(bench, person, outcomes)


def note_outcomes(bench: Running, person: str, outcomes: Sequence[tuple[str, str, bool, datetime]]) -> None:
    """Log outcomes: the session, the turn's source id, whether it was good, and its time."""
    found = [
        Outcome(
            tenant_id=person, subject_id=person, session_id=session, source_id=source, metric="served",
            value=float(good), positive=good, observed_at=at,
        )
        for session, source, good, at in outcomes
    ]  # fmt: skip
    perform(log_outcomes(bench.store.session(person), found))


def tool_verdicts(bench: Running, person: str, rows: Sequence[Row], verbose: bool) -> Iterator[tuple[str, bool, bool]]:
    """Yield the method, whether a tool was wanted, and whether the method's answer was right."""
    used = [row for row in rows if row["what"] == "use"]
    most = Counter(row["tool"] for row in used).most_common(1)[0][0]
    vectors = bench.embedder.encode([row["message"] for row in used])
    for row in (each for each in rows if each["what"] == "ask"):
        right = row["tool"]
        found = perform(
            suggest_tools(
                bench.store.session(person),
                asked_by(person, row["message"]),
                policy=bench.policy,
                embedder=bench.embedder,
            )
        )
        first = found.suggested[0].tool if found.suggested else "none"
        nearest = used[int(np.argmax(vectors @ bench.embedder.encode([row["message"]])[0]))]["tool"]
        if verbose and first != right:
            told = [
                (each.tool, each.score, [(use.text, use.similarity) for use in each.why]) for each in found.suggested
            ]
            print(f"{person}: {row['message']!r} wants {right}, not {first}: {told or found.notes}")
        for method, answer in (("reverie", first), ("used most", most), ("nearest message", nearest)):
            yield method, right != "none", answer == right


def measure_tools(bench: Running, halves: Sequence[str], verbose: bool) -> None:
    """Print how often the right tool is suggested."""
    counts: dict[tuple[str, str], dict[bool, list[bool]]] = {}
    for (half, person), rows in by_person(rows_of("tools")).items():
        if half in halves:
            take_in_uses(bench, person, rows)
            for method, wanted, is_right in tool_verdicts(bench, person, rows, verbose):
                counts.setdefault((half, method), {True: [], False: []})[wanted].append(is_right)
    table = [
        (half, method, f"{sum(of[True])} of {len(of[True])}", f"{sum(of[False])} of {len(of[False])}")
        for (half, method), of in counts.items()
    ]
    print_table("Tools for a message", ("half", "method", "right tool first", "none where none helps"), table)


# ----------------------------------------------------------------------------------------------------------- lessons
def take_in_lessons(bench: Running, person: str, rows: Sequence[Row]) -> dict[str, str]:
    """Import sessions with outcomes and corrections; return, by label, the text by which each lesson is recognised."""
    said = [row for row in rows if row["what"] == "say"]
    texts = {row["label"]: row["text"] for row in said if row["label"]}
    turns = [
        turn(person, row["session"], number, row["role"], at_noon(row["when"]), row["text"])
        for number, row in enumerate(said)
    ]
    bench.bring(person, turns, ASKED_AT - timedelta(days=10))
    outcomes = [
        (row["session"], f"t{number}", row["mark"] == "good", at_noon(row["when"]) + timedelta(days=1))
        for number, row in enumerate(said)
        if row["mark"] in ("good", "bad")
    ]
    note_outcomes(bench, person, outcomes)
    for row in said:
        if row["mark"].startswith("replace:"):
            texts[row["label"]] = row["mark"].partition(":")[2]
            for memory_id in made_of(bench, person, row["text"]):
                correction = CorrectionAsked(memory_id=memory_id, content=texts[row["label"]])
                at = ASKED_AT - timedelta(days=9)
                perform(correct_memory(bench.store.session(person), correction, policy=bench.policy, as_of=at))
    for stage in (ingest, catch_up):
        list(stage(bench.work(person, ASKED_AT)))
    return texts


def made_of(bench: Running, person: str, text: str) -> list[UUID]:
    """Return a memory that was made from a turn with this text, or an empty list."""
    with bench.store.transaction(person) as conn:
        found = conn.execute(
            "select m.id from memory.memories m join log.turns t on t.tenant_id = m.tenant_id and t.id = m.turn_id"
            " where m.tenant_id = %s and t.text = %s and m.state = 'active' limit 1",
            [person, text],
        ).fetchall()
    return [row[0] for row in found]


def texts_behind(bench: Running, person: str, ids: Sequence[UUID]) -> str:
    """Return the texts of turns and corrections."""
    with bench.store.transaction(person) as conn:
        found = conn.execute(
            "select text from log.turns where tenant_id = %(tenant)s and id = any(%(ids)s)"
            " union all select content from log.corrections where tenant_id = %(tenant)s and id = any(%(ids)s)",
            {"tenant": person, "ids": list(ids)},
        ).fetchall()
    return "\n".join(row[0] or "" for row in found)


def lesson_verdicts(
    bench: Running, person: str, rows: Sequence[Row], texts: dict[str, str], verbose: bool
) -> Iterator[tuple[str, int, int, bool | None]]:
    """Yield method, labelled lessons, those among its first three and, if none is labelled, whether it gives none."""
    said = [row["text"] for row in rows if row["what"] == "say"]
    vectors = bench.embedder.encode(said)
    for row in (each for each in rows if each["what"] == "ask"):
        wanted = [texts[label] for label in row["label"].split(",") if label]
        found = perform(
            find_lessons(
                bench.store.session(person),
                asked_by(person, row["text"], 3),
                session_id="now",
                policy=bench.policy,
                embedder=bench.embedder,
            )
        )
        behind = "\n".join(texts_behind(bench, person, [*each.sources]) for each in found.lessons)
        hits = sum(text in behind for text in wanted)
        if verbose and (hits < len(wanted) or (not wanted and found.lessons)):
            told = [(each.kind, each.similarity, each.content) for each in found.lessons]
            print(f"{person}: {row['text']!r} wants {wanted}: {told or found.notes}")
        order = np.argsort(-(vectors @ bench.embedder.encode([row["text"]])[0]))[:3]
        nearest = {said[place] for place in order}
        none = not wanted
        yield "reverie", len(wanted), hits, (not found.lessons) if none else None
        yield "nearest three", len(wanted), sum(text in nearest for text in wanted), False if none else None


def measure_lessons(bench: Running, halves: Sequence[str], verbose: bool) -> None:
    """Print how many of the labelled lessons are offered."""
    counts: dict[tuple[str, str], list[tuple[int, int, bool | None]]] = {}
    for (half, person), rows in by_person(rows_of("lessons")).items():
        if half in halves:
            texts = take_in_lessons(bench, person, rows)
            for method, wanted, hits, is_quiet in lesson_verdicts(bench, person, rows, texts, verbose):
                counts.setdefault((half, method), []).append((wanted, hits, is_quiet))
    table = []
    for (half, method), of in counts.items():
        quiet = [is_quiet for _, _, is_quiet in of if is_quiet is not None]
        offered = f"{sum(hits for _, hits, _ in of)} of {sum(wanted for wanted, _, _ in of)}"
        table.append((half, method, offered, f"{sum(quiet)} of {len(quiet)}"))
    print_table("Lessons of other sessions", ("half", "method", "among the first 3", "nothing where none is"), table)


# ------------------------------------------------------------------------------------------------------------- inbox
def ndcg(labels: Sequence[int], most: int = 5) -> float:
    """Return NDCG of labels in their ranked order, with gains of 2^label - 1."""

    def gain(order: Sequence[int]) -> float:
        return sum((float(2**label) - 1) / math.log2(place + 2) for place, label in enumerate(order[:most]))

    return gain(labels) / gain(sorted(labels, reverse=True))


def tau(labels: Sequence[int]) -> float:
    """Return Kendall's tau of a ranked order against its labels, without pairs of equal labels."""
    pairs = [(first, second) for first, second in combinations(labels, 2) if first != second]
    return sum(1 if first > second else -1 for first, second in pairs) / len(pairs)


def inbox_orders(bench: Running, person: str, rows: Sequence[Row], verbose: bool) -> Iterator[tuple[str, list[int]]]:
    """Yield each method, and the labels of the items in the method's order."""
    told = [row for row in rows if row["what"] == "told"]
    sent = [row for row in rows if row["what"] == "item"]
    turns = [
        turn(person, f"s{number}", number, "user", at_noon(row["when"]), row["text"]) for number, row in enumerate(told)
    ]
    bench.bring(person, turns, ASKED_AT)
    items = [
        InboxItem(id=str(number), text=row["text"], sender=row["sender"], received_at=at_noon(row["when"]))
        for number, row in enumerate(sent)
    ]
    found = perform(
        rank_inbox(
            bench.store.session(person), subject_id=person, items=items, as_of=ASKED_AT, policy=bench.policy,
            embedder=bench.embedder,
        )
    )  # fmt: skip
    labels = [int(row["label"]) for row in sent]
    if verbose:
        for each in found.items:
            why = [(reason.kind, reason.adds, reason.content[:60]) for reason in each.why[:4]]
            print(f"{person}: {labels[int(each.id)]} {each.score:+.3f} {items[int(each.id)].read[:70]!r} {why}")
    yield "reverie", [labels[int(each.id)] for each in found.items]
    yield "latest first", labels[::-1]
    near = bench.embedder.encode([row["text"] for row in told]) @ bench.embedder.encode([each.read for each in items]).T
    yield "nearest memory", [labels[place] for place in np.argsort(-near.max(axis=0), kind="stable")]


def measure_inbox(bench: Running, halves: Sequence[str], verbose: bool) -> None:
    """Print how well the order of each method agrees with the labels."""
    found: dict[tuple[str, str], list[list[int]]] = {}
    for (half, person), rows in by_person(rows_of("inbox")).items():
        if half in halves:
            for method, order in inbox_orders(bench, person, rows, verbose):
                found.setdefault((half, method), []).append(order)
    table = [
        (half, method, f"{np.mean([ndcg(each) for each in of]):.2f}", f"{np.mean([tau(each) for each in of]):.2f}")
        for (half, method), of in found.items()
    ]
    print_table("Items of an inbox", ("half", "method", "NDCG@5", "tau"), table)


MEASURES = {"tools": measure_tools, "lessons": measure_lessons, "inbox": measure_inbox}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=MEASURES, default=list(MEASURES))
    parser.add_argument("--half", nargs="+", choices=HALVES, default=list(HALVES))
    parser.add_argument("--policy", default="reverie")
    parser.add_argument("--verbose", action="store_true", help="show what is answered otherwise")
    given = parser.parse_args()
    for name in given.only:
        with running(given.policy) as bench:
            MEASURES[name](bench, given.half, given.verbose)


if __name__ == "__main__":
    main()
