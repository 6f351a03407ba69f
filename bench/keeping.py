"""Do the stages after reading keep memory right? Histories with hand-written statements go through all later stages.

    python -m bench.keeping [--part dev|held|fresh] [--policy reverie] [--verbose]

`bench/sets/keeping.jsonl` has messages with perfect statements (training/reader/GUIDE.md) and the knowledge expected at
the end. Each history runs session by session, as in live use, and again in one go: both must give the same memory.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

from psycopg import Connection
from psycopg.rows import class_row

from bench.memory_histories import Running, running
from bench.report import print_table
from reverie.capture.append import insert_turns
from reverie.consolidate.embed.stage import embed
from reverie.consolidate.extract.decide import TurnDecisions, TurnVerdict
from reverie.consolidate.extract.stated import candidates_of
from reverie.consolidate.extract.write import write_turns
from reverie.drive.cycle import catch_up
from reverie.language.statements.stated import MessageStatement
from reverie.model import Turn
from reverie.store.runs import run
from reverie.store.tenants import ensure_tenant
from reverie.store.work import Work

SETS = Path(__file__).resolve().parent / "sets" / "keeping.jsonl"
#: Histories on which the stages were developed; histories first run unseen; and histories written after that.
PARTS = ("dev", "held", "fresh")
#: The keys of a statement in the set, by the name of its field.
_KEYS = {
    "relation": "r", "object": "o", "holder": "h", "topic": "tp", "replaced": "x", "phase": "p", "polarity": "n",
    "duration": "d", "until": "u", "clause": "c",
}  # fmt: skip
#: Phases of statements that hold, now or later.
_HOLDING = ("holds", "begins", "adds", "planned")
#: Time after a session at which memory is brought up to date, so that a cycle has passed.
_AFTER = timedelta(hours=12)

History = Mapping[str, Any]


class Said(NamedTuple):
    """A turn with its statements, and those of the message before it in its session."""

    turn: Turn
    statements: list[MessageStatement]
    before: list[MessageStatement]


class Kept(NamedTuple):
    """A memory in its current state."""

    id: UUID
    kind: str
    content: str
    state: str
    relation: str | None
    polarity: int
    phase: str | None
    valid_to: datetime | None
    into_id: UUID | None

    @property
    def is_open(self) -> bool:
        """Return whether the memory is in force."""
        return self.state == "active" and self.valid_to is None and self.phase in _HOLDING


@dataclass(slots=True)
class Verdict:
    """The result of a history: by measure, whether each expectation was met, and the expectations that were not."""

    right: defaultdict[str, list[bool]] = field(default_factory=lambda: defaultdict(list))
    wrong: list[str] = field(default_factory=list)

    def count(self, measure: str, is_right: bool, what: str) -> None:
        """Count an expectation."""
        self.right[measure].append(is_right)
        if not is_right:
            self.wrong.append(f"{measure}: {what}")


def statement_of(label: Mapping[str, Any]) -> MessageStatement:
    """Return a statement from its label in the set or in training/reader/voices."""
    return MessageStatement(**{name: label[key] for name, key in _KEYS.items() if key in label})


def said_in(history: History, tenant: str) -> list[list[Said]]:
    """Return the turns of a history by session, a minute apart."""
    sessions: list[list[Said]] = []
    for number, line in enumerate(history["turns"]):
        if "day" in line:
            start = datetime.fromisoformat(line["day"]).replace(hour=18, tzinfo=UTC)
            sessions.append([])
        session = sessions[-1]
        turn = Turn(
            tenant_id=tenant,
            subject_id=history["id"],
            session_id=f"s{len(sessions)}",
            source_id=f"{history['id']}:{number}",
            role="user",
            speaker=None,
            said_at=start + timedelta(minutes=len(session)),
            text=line["t"],
        )
        stated = [statement_of(one) for one in line["s"]]
        session.append(Said(turn, stated, session[-1].statements if session else []))
    return sessions


def take_in(work: Work, said: Sequence[Said]) -> None:
    """Log the turns, with the candidates of their labelled statements instead of those extracted, and embed."""
    with work.transaction() as conn:
        ensure_tenant(conn, work.tenant_id, work.policy.name)
        insert_turns(conn, work.tenant_id, [one.turn for one in said])
    found = {one.turn.id: candidates_of(one.statements, one.turn, work.policy, before=one.before) for one in said}
    verdicts = [
        TurnVerdict(str(one.turn.id), one.turn.subject_id, len(found[one.turn.id]), 0, None, waits=False)
        for one in said
    ]
    decisions = TurnDecisions(
        candidates=[each for some in found.values() for each in some], verdicts=verdicts, refused=Counter(), entities=[]
    )
    with run(work, "extract") as attempt, work.transaction() as conn:
        write_turns(conn, attempt, decisions)
        attempt.record(conn)
    embed(work)


def bring(bench: Running, tenant: str, said: Sequence[Said], until: datetime) -> None:
    """Take in turns and run every later stage up to a time."""
    work = bench.work(tenant, until)
    take_in(work, said)
    for _ in catch_up(work):
        pass


def kept_of(conn: Connection[Any], tenant: str, subject: str) -> list[Kept]:
    """Return the memories of a subject."""
    columns = ", ".join(Kept._fields)
    with conn.cursor(row_factory=class_row(Kept)) as cursor:
        return cursor.execute(
            f"select {columns} from memory.memories where tenant_id = %s and subject_id = %s order by happened_at, id",  # noqa: S608
            [tenant, subject],
        ).fetchall()


def says(memory: Kept, expected: Sequence[Any]) -> bool:
    """Return whether a memory states a value: its relation and words, and its polarity if given."""
    relation, words, *polarity = expected
    if memory.relation != relation or memory.phase not in _HOLDING:
        return False
    if polarity and (memory.polarity > 0) - (memory.polarity < 0) != polarity[0]:
        return False
    return has_words(memory.content, words)


def has_words(content: str, words: str) -> bool:
    """Return whether a text has all words: each as a whole word or, from four letters on, as part of one."""
    own = re.findall(r"[^\W_]+(?:[.,:@'’-]+[^\W_]+)*", content.casefold())
    return all(
        word in own or (len(word) > 3 and any(word in each for each in own)) for word in words.casefold().split()
    )


def judge(history: History, known: Mapping[UUID, Kept]) -> Verdict:
    """Judge the memories; `known` has the last state of each, including forgotten ones."""
    verdict = Verdict()
    memories = list(known.values())

    def survivor(memory: Kept) -> Kept:
        while memory.into_id is not None and memory.state == "merged" and memory.into_id in known:
            memory = known[memory.into_id]
        return memory

    def stating(expected: Sequence[Any]) -> list[Kept]:
        return [each for each in memories if says(each, expected)]

    def is_open(expected: Sequence[Any]) -> bool:
        return any(survivor(each).is_open for each in stating(expected))

    for value in history["current"]:
        stale = [old for old in history["old"] if old[0] == value[0] and is_open(old)]
        verdict.count("current", is_open(value) and not stale, f"{value}" + (f", but {stale} too" if stale else ""))
    for value in history["old"]:
        found = stating(value)
        verdict.count("old", bool(found) and not is_open(value), f"{value}" + ("" if found else " was never known"))
    for value in history["same"]:
        found = stating(value)
        ids = {survivor(each).id for each in found}
        verdict.count("merges", len(found) > 1 and len(ids) == 1, f"{value} is {len(ids)} memories of {len(found)}")
    for pair in history["apart"]:
        first, second = ({survivor(each).id for each in stating(value)} for value in pair)
        verdict.count("merges", bool(first and second) and first.isdisjoint(second), f"{pair} are one")
    for value in history["decoys"]:
        verdict.count("decoys", is_open(value), f"{value}")
    for word in history.get("patterns", ()):
        patterns = [each for each in memories if each.kind == "pattern" and has_words(each.content, word)]
        verdict.count("patterns", bool(patterns), word)
    return verdict


def live(bench: Running, history: History) -> tuple[dict[UUID, Kept], list[Kept]]:
    """Run a history session by session; return the last state of each memory, and the memories left at the end."""
    known: dict[UUID, Kept] = {}
    kept: list[Kept] = []
    for said in said_in(history, "live"):
        bring(bench, "live", said, said[-1].turn.said_at + _AFTER)
        with bench.store.transaction("live") as conn:
            kept = kept_of(conn, "live", history["id"])
        known |= {each.id: each for each in kept}
    return known, kept


def shown(memories: Sequence[Kept]) -> list[str]:
    """Return memories as text, without ids, which differ between tenants."""
    return sorted(f"{each.kind} {each.content} {each.state} {each.phase} {each.valid_to}" for each in memories)


def at_once(bench: Running, told: Sequence[History], lived: Mapping[str, Sequence[Kept]]) -> Iterator[str]:
    """Run all histories in one go; yield those whose memory then differs from that of a run session by session."""
    for history in told:
        said = [one for session in said_in(history, "at once") for one in session]
        bring(bench, "at once", said, said[-1].turn.said_at + _AFTER)
        with bench.store.transaction("at once") as conn:
            kept = kept_of(conn, "at once", history["id"])
        if shown(kept) != shown(lived[history["id"]]):
            yield history["id"]


def histories(part: str | None = None) -> list[History]:
    """Return the histories of one of the `PARTS`, or all."""
    told = [json.loads(line) for line in SETS.read_text(encoding="utf-8").splitlines() if line]
    return [one for one in told if part in (None, one["part"])]


def figures(title: str, verdicts: Mapping[str, Verdict]) -> None:
    """Print the figures of some histories, and the expectations that were not met."""
    flags: dict[str, list[bool]] = defaultdict(list)
    for verdict in verdicts.values():
        for measure, right in verdict.right.items():
            flags[measure] += right
    labels = {
        "current": "current value in force, and no old one (goal .98)", "old": "old value marked (goal .98)",
        "merges": "merges right (goal .98)", "decoys": "decoys in force (goal .98)", "patterns": "patterns made",
    }  # fmt: skip
    rows = [
        (label, f"{sum(flags[name]) / max(len(flags[name]), 1):.3f} ({sum(flags[name])}/{len(flags[name])})")
        for name, label in labels.items()
    ]
    print_table(title, ("", "figure"), rows)
    for name, verdict in verdicts.items():
        for wrong in verdict.wrong:
            print(f"{name} {wrong}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=PARTS, help="of the set; both if it is not given")
    parser.add_argument("--policy", default="reverie")
    parser.add_argument("--only", nargs="+", default=[], help="ids of histories")
    parser.add_argument("--verbose", action="store_true", help="show the memories of each history")
    given = parser.parse_args()
    told = [one for one in histories(given.part) if not given.only or one["id"] in given.only]
    with running(given.policy) as bench:
        lived = {one["id"]: live(bench, one) for one in told}
        others = list(at_once(bench, told, {name: kept for name, (_, kept) in lived.items()}))
    known = {name: memories for name, (memories, _) in lived.items()}
    if given.verbose:
        for name, memories in known.items():
            print(f"\n{name}", *(f"  {one}" for one in shown(list(memories.values()))), sep="\n")
    for part in PARTS:
        some = {one["id"]: judge(one, known[one["id"]]) for one in told if one["part"] == part}
        if some:
            figures(f"Kept of perfect statements, {part}: {len(some)} histories", some)
    print(f"\nanother memory in one go than session by session: {' '.join(others) or 'none'}")


if __name__ == "__main__":
    main()
