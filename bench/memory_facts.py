"""The parts of `bench/memory.py` that run whole conversations: facts covered, and a sample of memories to read."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
from psycopg import Connection

from bench.memory_histories import AFTER, Running, running
from bench.memory_scoring import STATING, drawn, share_of_words
from bench.memory_texts import SETS
from bench.report import print_table
from bench.retrieval import records_of
from bench.rules import DATA, lines
from reverie.drive.cycle import catch_up
from reverie.inference import Vectors

#: A fact is covered by a memory that has this share of its content words, or this cosine to it.
WORDS, COSINE = 0.6, 0.6
VERDICTS = ("sensible", "wrong", "trivial")
#: Seed of the draw of the sample.
SEED = "reverie"
#: The most sources shown of a memory that was made from many.
SHOWN = 40


class Observation(NamedTuple):
    """A fact written about a speaker, with the turns that state it."""

    speaker: str
    fact: str
    #: conversation and turn
    turns: frozenset[tuple[str, str]]


class Extracted(NamedTuple):
    """A memory that was extracted from a turn."""

    kind: str
    content: str
    #: conversation and turn
    turn: tuple[str, str]


def observations() -> list[Observation]:
    """Read the observations of the LoCoMo dev conversations."""
    return [
        Observation(one["speaker"], one["fact"], frozenset((one["conversation_id"], turn) for turn in one["turn_ids"]))
        for one in map(json.loads, lines("facts/locomo-observations.dev.jsonl.gz"))
    ]


def conversations(name: str) -> tuple[list[dict[str, Any]], datetime]:
    """Return the turns of a set as records to import, and the time at which memory is inspected."""
    records = list(records_of(DATA / "retrieval", name, []))
    return records, max(datetime.fromisoformat(one["said_at"]) for one in records) + AFTER


def facts(policy: str = "reverie") -> None:
    """Print the share of the observations that memories cover, after extraction and at the end."""
    known = observations()
    rows: list[list[str]] = []
    with running(policy) as run:
        records, until = conversations("locomo")
        fact_vectors = run.embedder.encode([one.fact for one in known])
        run.take_in("locomo", records, until)
        rows += _coverage_rows(run, "extracted", known, fact_vectors)
        for _ in catch_up(run.work("locomo", until)):
            pass
        rows += _coverage_rows(run, "left", known, fact_vectors)
    measures = ("by words", "by vector", "by either (goal .60)", "precision (goal .75)")
    columns = ("memories", "number", *measures, "recall by turn", "precision by turn")
    print_table(f"{len(known)} observations of LoCoMo dev covered by memories of their turns", columns, rows)


def _coverage_rows(run: Running, when: str, known: Sequence[Observation], of_facts: Vectors) -> Iterator[list[str]]:
    """Yield a row for statements, and one with episodes; precision is the share whose turn an observation cites."""
    with run.store.transaction("locomo") as conn:
        memories = extracted(conn)
    vectors = run.embedder.encode([one.content for one in memories])
    cited = frozenset().union(*(one.turns for one in known))
    for label, kinds in {"statements": STATING, "with episodes": (*STATING, "episode")}.items():
        places = [place for place, one in enumerate(memories) if one.kind in kinds]
        kept = [memories[place] for place in places]
        by_words, by_vector = coverage(known, kept, of_facts, vectors[places])
        turns = {one.turn for one in kept}
        shares = (
            np.mean(by_words),
            np.mean(by_vector),
            np.mean(by_words | by_vector),
            sum(one.turn in cited for one in kept) / max(len(kept), 1),
            len(turns & cited) / len(cited),
            len(turns & cited) / max(len(turns), 1),
        )
        yield [f"{label}, {when}", f"{len(kept)}", *(f"{share:.3f}" for share in shares)]


def extracted(conn: Connection[Any]) -> list[Extracted]:
    """Return the memories that were extracted from turns and are in memory, in any state."""
    found = conn.execute(
        "select m.kind, m.content, t.subject_id, t.source_id from memory.memories m join log.turns t"
        " on t.tenant_id = m.tenant_id and t.id = m.turn_id where m.turn_id is not null order by m.id"
    )
    return [Extracted(kind, content, (subject, source)) for kind, content, subject, source in found]


def coverage(
    known: Sequence[Observation], memories: Sequence[Extracted], of_facts: Vectors, of_memories: Vectors
) -> tuple[np.ndarray, np.ndarray]:
    """Return, by observation, whether a memory of its turns has its words, and whether one is near to its vector."""
    by_turn: dict[tuple[str, str], list[int]] = defaultdict(list)
    for place, memory in enumerate(memories):
        by_turn[memory.turn].append(place)
    by_words, by_vector = np.zeros(len(known), bool), np.zeros(len(known), bool)
    for number, one in enumerate(known):
        places = [place for turn in one.turns for place in by_turn.get(turn, ())]
        if places:
            shares = [share_of_words(one.fact, memories[place].content, one.speaker) for place in places]
            by_words[number] = max(shares) >= WORDS
            by_vector[number] = float((of_memories[places] @ of_facts[number]).max()) >= COSINE
    return by_words, by_vector


def sample(sets: Sequence[str], count: int, policy: str = "reverie") -> None:
    """Print memories of each set with their sources, for a reader to judge, and the shares of the verdicts so far."""
    with running(policy) as run:
        for name in sets:
            run.bring(name, *conversations(name))
            with run.store.transaction(name) as conn:
                _print_sample(conn, name, count)


def _print_sample(conn: Connection[Any], name: str, count: int) -> None:
    found = conn.execute("select id, kind, content from memory.memories where state = 'active'").fetchall()
    memories = {str(id): (kind, content) for id, kind, content in found}
    chosen = drawn({id: kind for id, (kind, _) in memories.items()}, count, SEED)
    print(f"\n## {name}: {len(chosen)} of {len(memories)} active memories")
    for id in chosen:
        kind, content = memories[id]
        print(f"\n{id} {kind}\n  = {content}")
        for line in sources(conn, UUID(id)):
            print(f"  | {line}")
    verdicts = read_verdicts(SETS / f"verdicts.{name}.jsonl")
    _print_shares(name, [(memories[id][0], verdicts.get(id)) for id in chosen])


def sources(conn: Connection[Any], memory: UUID) -> list[str]:
    """Return the sources of a memory: its turn and the one before, or all turns and memories that it was made from."""
    turns = conn.execute(
        "select distinct t.session_id, t.turn_index, t.subject_id, l.relation from memory.lineage l join log.turns t"
        " on t.tenant_id = l.tenant_id and t.id = l.source_id where l.memory_id = %s and l.source = 'turn'"
        " and l.relation <> 'context' order by 1, 2",
        [memory],
    ).fetchall()
    shown = [line for one in turns[:SHOWN] for line in _with_one_before(conn, *one[:3], alone=len(turns) > 1)]
    parts = conn.execute(
        "select m.kind, m.content from memory.lineage l join memory.memories m"
        " on m.tenant_id = l.tenant_id and m.id = l.source_id where l.memory_id = %s and l.source = 'memory'"
        " order by m.happened_at limit %s",
        [memory, SHOWN],
    ).fetchall()
    return shown + [f"({kind}) {content}" for kind, content in parts]


def _with_one_before(conn: Connection[Any], session: str, place: int, subject: str, *, alone: bool) -> list[str]:
    """Return a turn, preceded by the one before it unless `alone`."""
    rows = conn.execute(
        "select coalesce(speaker, role), text from log.turns where subject_id = %s and session_id = %s"
        " and turn_index between %s and %s order by turn_index",
        [subject, session, place if alone else place - 1, place],
    )
    return [f"{speaker}: {text}" for speaker, text in rows]


def read_verdicts(path: Path) -> dict[str, str]:
    """Return the verdict on each memory by its id."""
    if not path.is_file():
        return {}
    read = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    verdicts = {one["id"]: one["verdict"] for one in read}
    if unknown := set(verdicts.values()) - set(VERDICTS):
        raise ValueError(f"{path.name}: unknown verdicts {', '.join(sorted(unknown))}")
    return verdicts


def verdict_shares(judged: Sequence[tuple[str, str | None]]) -> Mapping[str, Mapping[str, float]]:
    """Return the share of each verdict among the memories judged, by kind and in all; `read` is their number."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for kind, verdict in judged:
        if verdict:
            counts[kind][verdict] += 1
            counts["all"][verdict] += 1
    return {kind: {"read": by.total()} | {one: by[one] / by.total() for one in VERDICTS} for kind, by in counts.items()}


def _print_shares(name: str, judged: Sequence[tuple[str, str | None]]) -> None:
    rows = [
        (kind, int(shares["read"]), *(f"{shares[one]:.3f}" for one in VERDICTS))
        for kind, shares in sorted(verdict_shares(judged).items())
    ]
    print_table(f"Verdicts, {name} (goal: sensible .90, wrong .04)", ("kind", "read", *VERDICTS), rows)
    print(f"not read yet: {sum(verdict is None for _, verdict in judged)}")
