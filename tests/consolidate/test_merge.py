"""Merge: one memory for what was said twice, the same however the work is cut, and undone without a trace."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import combinations
from math import cos, sin
from uuid import UUID

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reverie.consolidate.merge import pairs as merge_pairs
from reverie.consolidate.merge.decide import NearMemory, decide_merges
from reverie.consolidate.merge.stage import merge
from reverie.consolidate.merge.undo import undo
from reverie.errors import NotFoundError
from reverie.language.cues.keeping import OWN_WORDS
from reverie.model import KINDS, Scope, stable_id
from reverie.policy import DecayPolicy, MergePolicy, Policy, PrunePolicy, load_policy
from reverie.store.database import Store
from reverie.store.work import Work
from tests.promises.world import WordEmbedder

ORIGIN = datetime(2026, 1, 1, tzinfo=UTC)
#: The numbers of the seeds; merge reads no other part of a policy.
POLICY = Policy.model_construct(
    name="test",
    merge=MergePolicy(threshold=0.92, reinforce=0.05, kinds=("fact", "preference", "instruction", "episode"), recent=0),
    decay=DecayPolicy(grace_days=7, rates=dict.fromkeys(KINDS, 0.004)),
    prune=PrunePolicy(below=0.1, unaccessed_days=30),
)
POLICY._hash = "test"
MODEL = "test"
LATE = ORIGIN + timedelta(days=400)
#: Angles at which two vectors are nearer than, and further than, the threshold of the policy.
NEAR, FAR = 0.1, 1.0


@dataclass
class Memory:
    """A candidate of a test: what it says, when, and the angle of its vector in a plane."""

    content: str
    day: float = 0.0
    angle: float = 0.0
    subject: str = "ann"
    kind: str = "fact"
    base: float = 0.6
    polarity: int = 0
    vector: bool = True

    @property
    def at(self) -> datetime:
        return ORIGIN + timedelta(days=self.day)

    @property
    def id(self) -> UUID:
        return stable_id(self.at, self.subject, self.kind, self.content)


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    with Store.open(database_url) as opened:
        yield opened


def put(store: Store, *memories: Memory, tenant: str = "t") -> None:
    with store.transaction(tenant) as conn:
        for memory in memories:
            row = (tenant, memory.id, memory.subject, memory.kind, memory.content, memory.polarity, *[memory.base] * 3)
            conn.execute(
                """insert into memory.memories (tenant_id, id, subject_id, kind, state, content, content_hash, polarity,
                       base, peak, importance, happened_at, accessed_at, decayed_at, forget_at, origin, run_id,
                       policy_hash)
                   values (%s, %s, %s, %s, 'candidate', %s, '', %s, %s, %s, %s, %s, %s, %s, %s, 'test', %s, 'test')""",
                (*row, *[memory.at] * 3, memory.at + timedelta(days=90), memory.id),
            )
            words = memory.content.lower().split()
            conn.cursor().executemany(
                "insert into memory.terms values (%s, %s, %s, %s, %s, '{1}', %s)",
                [(tenant, memory.subject, word, memory.id, [memory.id], [len(words)]) for word in set(words)],
            )
            if memory.vector:
                conn.execute(
                    """insert into memory.vectors (tenant_id, subject_id, model, item_id, item, vec)
                       values (%s, %s, %s, %s, 'memory', %s::text::halfvec)""",
                    (tenant, memory.subject, MODEL, memory.id, f"[{cos(memory.angle)},{sin(memory.angle)}]"),
                )
            conn.execute(
                """insert into memory.subjects (tenant_id, subject_id, items, terms) values (%s, %s, 1, %s)
                   on conflict (tenant_id, subject_id) do update
                   set items = memory.subjects.items + 1, terms = memory.subjects.terms + excluded.terms""",
                (tenant, memory.subject, len(words)),
            )


def run_merge(store: Store, day: float = 400.0, tenant: str = "t", **limits: object):
    scope = Scope(tenant_id=tenant, subjects=limits.get("subjects"))  # type: ignore[arg-type]
    as_of = ORIGIN + timedelta(days=day)
    return merge(
        Work(
            store=store,
            scope=scope,
            policy=POLICY,
            as_of=as_of,
            embedder=WordEmbedder(MODEL),
            dry_run=bool(limits.get("dry_run", False)),
        )
    )


TABLES = ("memories", "vectors", "terms", "merges", "lineage", "subjects")


def everything(store: Store, *, without: str = "run_id as_of") -> dict[str, list[str]]:
    """All rows of memory, less the columns that name the run."""
    dropped = "".join(f" - '{name}'" for name in without.split())
    with store.transaction("t") as conn:
        return {
            table: [
                row[0]
                for row in conn.execute(f"select (to_jsonb(x){dropped})::text from memory.{table} x order by 1")  # noqa: S608
            ]
            for table in TABLES
        }


def states(store: Store) -> dict[str, str]:
    with store.transaction("t") as conn:
        return dict(conn.execute("select content, state from memory.memories").fetchall())


SHORT = Memory("User prefers short blog posts", day=0, kind="preference")
WORDS = Memory("Prefers blog posts under 800 words", day=3, angle=NEAR, kind="preference")


def test_the_example_of_the_seed(store: Store, conn: psycopg.Connection) -> None:
    """ "Prefers blog posts under 800 words" wins, and its importance is the higher of both plus 0.05 (Brain 4.3)."""
    put(store, SHORT, WORDS)
    report = run_merge(store)
    assert (report["merged"], report["activated"]) == (1, 0)
    row = conn.execute(
        """select state, peak, importance, accessed_at, decayed_at, forget_at > accessed_at
           from memory.memories where id = %s""",
        [WORDS.id],
    ).fetchone()
    assert row is not None and row[0] == "active"
    assert row[1:3] == pytest.approx((0.65, 0.65))
    assert row[3:] == (WORDS.at, WORDS.at, True)
    lost = conn.execute("select state, into_id, forget_at from memory.memories where id = %s", [SHORT.id]).fetchone()
    assert lost == ("merged", WORDS.id, None)
    lineage = conn.execute("select memory_id, relation, source, source_id from memory.lineage").fetchall()
    assert lineage == [(WORDS.id, "merged", "memory", SHORT.id)]
    assert conn.execute("select item_id from memory.vectors where live").fetchall() == [(WORDS.id,)]


def test_what_contradicts_is_far_of_another_kind_or_subject_stays(store: Store) -> None:
    put(
        store,
        Memory("Loves long phone calls"),
        Memory("Can't stand long phone calls", day=1),
        Memory("Prefers blog posts under 800 words", day=2, angle=FAR),
        Memory("Prefers blog posts under 1200 words", day=3, angle=FAR),
        Memory("Likes hiking", day=4, angle=2 * FAR, polarity=1),
        Memory("Likes hiking a lot", day=5, angle=2 * FAR, polarity=-1),
        Memory("Likes hiking in the hills", day=6, angle=3 * FAR),
        Memory("Likes hiking", day=7, angle=2 * FAR, kind="episode"),
        Memory("Likes hiking", day=8, angle=2 * FAR, subject="bob"),
    )
    report = run_merge(store)
    assert (report["merged"], report["activated"]) == (0, 9)
    assert (report["kept_apart_polarity"], report["kept_apart_number"]) == (2, 1)


def test_a_candidate_waits_for_its_vector_and_its_time(store: Store) -> None:
    put(
        store,
        Memory("Has a cat", vector=False),
        Memory("Has a dog", day=500, angle=FAR),
        Memory("Has a summary", kind="summary"),
    )
    report = run_merge(store)
    assert report["activated"] == 1
    assert states(store) == {"Has a cat": "candidate", "Has a dog": "candidate", "Has a summary": "active"}


def test_repeats_leave_the_first_as_it_is(store: Store, conn: psycopg.Connection) -> None:
    repeats = [Memory("Drinks coffee every morning", day=day) for day in range(4)]
    put(store, *repeats)
    assert run_merge(store)["merged"] == 3
    rows = conn.execute("select id, into_id from memory.memories order by happened_at").fetchall()
    assert rows == [(repeats[0].id, None)] + [(repeat.id, repeats[0].id) for repeat in repeats[1:]]
    assert conn.execute("select peak from memory.memories where id = %s", [repeats[0].id]).fetchone() == (
        pytest.approx(0.75),
    )


def test_what_was_merged_before_follows_its_survivor(store: Store, conn: psycopg.Connection) -> None:
    put(store, SHORT, Memory("User prefers short blog posts", day=1, kind="preference"))
    run_merge(store, day=2)
    put(store, WORDS)
    run_merge(store)
    assert conn.execute("select distinct into_id from memory.memories where state = 'merged'").fetchall() == [
        (WORDS.id,)
    ]


def test_twice_changes_nothing_and_a_dry_run_neither(store: Store) -> None:
    put(store, SHORT, WORDS, Memory("Has a dog", angle=FAR))
    before = everything(store, without="nothing")
    dry = run_merge(store, dry_run=True)
    assert everything(store, without="nothing") == before
    done = run_merge(store)
    assert done.counts == dry.counts
    once = everything(store, without="nothing")
    assert run_merge(store)["merged"] == 0
    assert everything(store, without="nothing") == once


def _history(subjects: tuple[str, ...] = ("ann", "bob")) -> list[Memory]:
    texts = [
        "Likes hiking",
        "Likes hiking in the hills",
        "Runs 5 km",
        "Runs 10 km",
        "Likes hiking with Karan",
        "Loves tea",
    ]
    return [
        Memory(texts[number % len(texts)], day=number * 3.0, angle=(number * 7 % 5) * NEAR, subject=subject)
        for subject in subjects
        for number in range(24)
    ]


def _write_until_it_breaks(times: int) -> Callable[..., None]:
    module, calls = sys.modules[merge.__module__], iter(range(times))
    write = module.write_merges

    def broken(*arguments: object) -> None:
        write(*arguments)
        if next(calls, None) is None:
            raise ZeroDivisionError

    return broken


@pytest.mark.parametrize("cut", ["by subject", "by time", "in slices", "after a failure", "product"])
def test_the_cut_of_the_work_does_not_matter(store: Store, conn: psycopg.Connection, monkeypatch, cut: str) -> None:
    put(store, *_history())
    assert run_merge(store)["merged"] > 10
    whole = everything(store)
    tables = ", ".join(f"memory.{table}" for table in (*TABLES, "accesses"))
    conn.execute(f"truncate {tables}")  # type: ignore[arg-type]
    if cut == "by time":
        for memory in sorted(_history(), key=lambda memory: memory.at):
            put(store, memory)
            run_merge(store, day=memory.day)
    else:
        put(store, *_history())
        if cut == "product":
            monkeypatch.setattr(merge_pairs, "PRODUCT_FROM", 0)
            monkeypatch.setattr(merge_pairs, "_BLOCK", 50)
            run_merge(store)
        elif cut == "in slices":
            monkeypatch.setattr(sys.modules[merge.__module__], "_CHUNK_ROWS", 6)
            run_merge(store)
        elif cut == "after a failure":
            monkeypatch.setattr(sys.modules[merge.__module__], "_CHUNK_ROWS", 6)
            with monkeypatch.context() as broken:
                broken.setattr(sys.modules[merge.__module__], "write_merges", _write_until_it_breaks(times=5))
                with pytest.raises(ZeroDivisionError):
                    run_merge(store)
            left = conn.execute("select count(distinct state) from memory.memories").fetchone()
            assert left == (3,), "some are merged, some active, some still wait"
            run_merge(store)
        else:
            run_merge(store, subjects=("bob",))
            run_merge(store, subjects=("ann",))
    assert everything(store) == whole


def test_undo_leaves_no_trace_but_the_correction(store: Store, conn: psycopg.Connection) -> None:
    put(store, Memory("Has a dog", angle=FAR, kind="preference"))
    put(store, SHORT, Memory("User prefers short blog posts", day=1, kind="preference"), WORDS)
    run_merge(store)
    assert states(store)[SHORT.content] == "merged"
    assert undo(store, tenant_id="t", loser_id=SHORT.id, policy=POLICY, as_of=LATE) == WORDS.id
    after = everything(store, without="nothing")
    assert undo(store, tenant_id="t", loser_id=SHORT.id, policy=POLICY, as_of=LATE) == WORDS.id
    assert run_merge(store, day=401)["merged"] == 0
    assert everything(store, without="nothing") == after
    rows = conn.execute(
        "select id, state, into_id from memory.memories where kind = 'preference' order by happened_at"
    ).fetchall()
    assert (SHORT.id, "active", None) in rows and (WORDS.id, "active", None) in rows
    # what had been merged into it before is its own again
    assert rows[2][1:] == ("merged", SHORT.id)
    assert conn.execute("select count(*) from log.corrections").fetchone() == (1,)
    assert conn.execute("select peak from memory.memories where id = %s", [WORDS.id]).fetchone() == (
        pytest.approx(0.6),
    )
    live = conn.execute("select count(*) from memory.memories where state = 'active'").fetchone()
    assert conn.execute("select count(*) from memory.vectors where live").fetchone() == live


def test_parted_memories_stay_apart_when_memory_is_rebuilt(store: Store, conn: psycopg.Connection) -> None:
    put(store, SHORT, WORDS)
    run_merge(store)
    undo(store, tenant_id="t", loser_id=SHORT.id, policy=POLICY, as_of=LATE)
    conn.execute(
        "truncate memory.memories, memory.vectors, memory.terms, memory.merges, memory.lineage, memory.subjects"
    )
    put(store, SHORT, WORDS)
    report = run_merge(store)
    assert (report["merged"], report["kept_apart_correction"]) == (0, 1)


def test_nothing_to_undo_is_said_in_one_sentence(store: Store) -> None:
    put(store, SHORT)
    run_merge(store)
    with pytest.raises(NotFoundError, match=r"^Nothing to undo: .* no correction of it is in force\.$"):
        undo(store, tenant_id="t", loser_id=SHORT.id, policy=POLICY, as_of=LATE)


def test_a_tenant_merges_its_own_alone(store: Store) -> None:
    put(store, SHORT)
    put(store, WORDS, tenant="u")
    assert run_merge(store)["merged"] == 0
    assert run_merge(store, tenant="u")["activated"] == 1


members = st.lists(
    st.tuples(
        st.sampled_from(
            ["Likes tea", "Likes tea with Karan", "Hates tea", "Runs 5 km", "Runs 10 km", "Likes green tea"]
        ),
        st.integers(0, 200),
        st.floats(0.0, 1.0, width=32),
        st.integers(0, 8),
    ),
    max_size=14,
)


def _members(rows: list[tuple[str, int, float, int]]) -> list[NearMemory]:
    at = [ORIGIN + timedelta(days=day) for _, day, _, _ in rows]
    ids = [stable_id(when, str(number)) for number, when in enumerate(at)]
    return [
        NearMemory(id, "ann", "fact", "candidate", text, 0, peak, when, when, 1, session_id=f"s{day}", origin=OWN_WORDS)
        for id, when, (text, day, peak, _) in zip(ids, at, rows, strict=True)
    ]


def _result(members: list[NearMemory], merges: list) -> tuple:
    kept = sorted((member.id, member.peak, member.accessed_at, member.access_count) for member in members)
    return kept, [(m.loser.id, m.survivor.id, m.similarity, m.peak_before, m.peak_after) for m in merges]


@pytest.mark.parametrize("policy", [POLICY, load_policy("reverie")], ids=["seed", "reverie"])
@settings(max_examples=200, deadline=None)
@given(rows=members, cut=st.integers(0, 200))
def test_a_fold_in_two_is_the_fold_of_both(policy: Policy, rows: list[tuple[str, int, float, int]], cut: int) -> None:
    angles = {member.id: row[3] * 0.08 for member, row in zip(_members(rows), rows, strict=True)}

    def near(some: list[NearMemory]) -> list[tuple[UUID, UUID, float]]:
        pairs = [(a.id, b.id, cos(angles[a.id] - angles[b.id])) for a, b in combinations(some, 2)]
        return [pair for pair in pairs if pair[2] > (policy.merge.near or policy.merge.threshold)]

    whole = _members(rows)
    at_once = _result(whole, decide_merges(whole, near(whole), [], policy).merges)

    parts = _members(rows)
    until = ORIGIN + timedelta(days=cut)
    first = [member for member in parts if member.happened_at <= until]
    early = decide_merges(first, near(first), [], policy)
    for member in first:
        member.state = "active"
    for merged in early.merges:
        merged.loser.state = "merged"
    second = [member for member in parts if member.state != "merged"]
    late = decide_merges(second, near(second), [], policy)
    assert _result(parts, early.merges + late.merges) == at_once
    assert sum(
        member.access_count for member in parts if member.id not in {m.loser.id for m in early.merges + late.merges}
    ) == len(rows)
    assert all(0.0 <= member.peak <= 1.0 for member in parts)
