"""Score: novelty and salience where the policy wants them; recalls and outcomes counted once, in event order."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.capture.history.importing import import_file
from reverie.consolidate.score.decide import Touch, apply_touches
from reverie.consolidate.score.stage import score
from reverie.drive.cycle import ingest, work_in
from reverie.model import Scope, stable_id
from reverie.policy import Policy
from reverie.policy.fading import as_real, forget_at, value_at
from reverie.store.database import Store
from reverie.store.digest import digest
from reverie.store.runs import Report
from reverie.store.work import Work
from tests.promises.world import WordEmbedder, lively

ORIGIN = datetime(2026, 1, 1, 9, tzinfo=UTC)
POLICY = lively()
EMBEDDER = WordEmbedder()
RATE, GRACE = POLICY.decay.rates["fact"], POLICY.decay.grace_days


def day(number: float) -> datetime:
    return ORIGIN + timedelta(days=number)


def tell(store: Store, path: Path, *said: tuple[float, str], policy: Policy = POLICY, **outcomes: float) -> None:
    """Turns of one session, each said on a day, and outcomes (`t0=3`: of turn t0, seen on day 3); merged and linked."""
    records: list[dict[str, Any]] = [
        {"source_id": f"t{number}", "role": "user", "said_at": day(at).isoformat(), "text": text}
        for number, (at, text) in enumerate(said)
    ]
    records += [
        {"type": "outcome", "source_id": turn, "metric": "views", "value": 3.0, "positive": True}
        | {"observed_at": day(at).isoformat()}
        for turn, at in outcomes.items()
    ]
    common = {"tenant_id": "t", "subject_id": "ann", "session_id": "s"}
    path.write_text("".join(json.dumps(common | record) + "\n" for record in records), encoding="utf-8")
    summary = import_file(store, path, tenant_id="t", now=day(400))
    assert not summary.dead
    scope = Scope(tenant_id="t")
    for _ in ingest(Work(store=store, scope=scope, policy=policy, as_of=day(400), embedder=EMBEDDER)):
        pass
    for _ in work_in(Work(store=store, scope=scope, policy=policy, as_of=day(400), embedder=EMBEDDER)):
        pass


def ask(store: Store, at: float, *ids: UUID) -> None:
    with store.transaction("t") as conn:
        conn.execute(
            """insert into log.recalls (tenant_id, id, subject_id, asked_at, question, policy_hash, item_ids, dropped)
               values ('t', %s, 'ann', %s, 'what?', 'test', %s, 0)""",
            [stable_id(day(at), "recall"), day(at), list(ids)],
        )


def run(store: Store, at: float = 400, policy: Policy = POLICY, dry_run: bool = False) -> Report:
    return score(
        Work(store=store, scope=Scope(tenant_id="t"), policy=policy, as_of=day(at), embedder=EMBEDDER, dry_run=dry_run)
    )


def memories(store: Store) -> list[dict[str, Any]]:
    with store.transaction("t") as conn:
        return [row[0] for row in conn.execute("select to_jsonb(m) from memory.memories m order by id")]


SAID = (0.0, "I live in Lisbon and I work as a nurse.")


def test_a_recall_starts_a_new_period_of_grace_once(store: Store, tmp_path: Path) -> None:
    tell(store, tmp_path / "a.jsonl", (0.0, "I love spicy ramen and I hate cilantro."))
    before = memories(store)
    ask(store, 30, *(UUID(memory["id"]) for memory in before))
    report = run(store)
    assert (report["recalled"], report["rewarded"], report["scored"]) == (len(before), 0, len(before))
    for old, new in zip(before, memories(store), strict=True):
        faded = value_at(
            old["peak"], day(0), day(30), rate=POLICY.decay.rates[old["kind"]], grace_days=POLICY.decay.grace_days
        )
        assert as_real(new["peak"]) == as_real(new["importance"]) == faded < old["peak"]
        assert (new["access_count"], datetime.fromisoformat(new["accessed_at"])) == (1, day(30))
        assert datetime.fromisoformat(new["forget_at"]) > datetime.fromisoformat(old["forget_at"])
    after = digest(store, "t")
    assert not any(run(store).counts.values())
    assert digest(store, "t") == after


def test_a_good_outcome_raises_what_led_to_it_once_and_is_in_its_lineage(store: Store, tmp_path: Path) -> None:
    tell(store, tmp_path / "a.jsonl", SAID, t0=2.0)
    before = memories(store)
    assert run(store, 1)["rewarded"] == 0
    assert run(store, 3)["rewarded"] == len(before) > 0
    for old, new in zip(before, memories(store), strict=True):
        assert new["peak"] == pytest.approx(min(1.0, old["peak"] + POLICY.importance.outcome_boost))
        assert new["access_count"] == 0
    with store.transaction("t") as conn:
        lineage = conn.execute("select count(*) from memory.lineage where relation = 'outcome'").fetchone()
    assert lineage == (len(before),)
    assert run(store, 4)["rewarded"] == 0


def test_a_recall_of_a_merged_memory_touches_its_survivor(store: Store, tmp_path: Path) -> None:
    tell(store, tmp_path / "a.jsonl", (0, "I live in Lisbon."), (1, "I live in Lisbon."))
    merged = [memory for memory in memories(store) if memory["state"] == "merged"]
    assert merged
    ask(store, 20, UUID(merged[0]["id"]))
    assert run(store)["recalled"] == 1
    counts = {memory["id"]: memory["access_count"] for memory in memories(store)}
    assert counts[merged[0]["into_id"]] == 1 and counts[merged[0]["id"]] == 0


def test_a_dry_run_counts_and_writes_nothing(store: Store, tmp_path: Path) -> None:
    tell(store, tmp_path / "a.jsonl", SAID, t0=2.0)
    ask(store, 30, *(UUID(memory["id"]) for memory in memories(store)))
    before = digest(store, "t")
    dry = run(store, dry_run=True)
    assert digest(store, "t") == before
    assert dry.counts == run(store).counts


LOGIC = lively("logic", importance={"threshold": 0.45}, merge={"threshold": 0.999})


def test_importance_by_novelty_and_salience_and_the_dull_discarded(store: Store, tmp_path: Path) -> None:
    """0.6 novelty + 0.4 salience (Logic 1.5): what was said before in the same words is not new."""
    repeated = "the garden is green and the garden is large and quiet today"
    tell(
        store,
        tmp_path / "a.jsonl",
        (0, repeated),
        (1, "yes " + repeated),
        (2, "On 3 May 2026 Maria Silva paid 4,200 euros to Acme Corporation in Lisbon."),
        policy=LOGIC,
    )
    first, dull, rich = (memory["id"] for memory in memories(store))
    report = run(store, policy=LOGIC)
    assert (report["scored"], report["discarded_unimportant"]) == (3, 1)
    kept = {memory["id"]: memory for memory in memories(store)}
    assert set(kept) == {first, rich}
    assert kept[first]["base"] >= 0.6  # nothing was there before it
    assert kept[rich]["base"] > kept[first]["base"]
    with store.transaction("t") as conn:
        tombstone = conn.execute("select memory_id::text, reason from memory.tombstones").fetchone()
        items = conn.execute("select items from memory.subjects").fetchone()
        counted = conn.execute("select count(distinct item_id) from memory.postings").fetchone()
    assert tombstone == (dull, "unimportant")
    assert items == counted
    after = digest(store, "t")
    assert not any(run(store, policy=LOGIC).counts.values())
    assert digest(store, "t") == after


@pytest.mark.parametrize("kept", ["pinned", "pending", "written", "merged"])
def test_what_a_person_pinned_or_wrote_is_not_dull(store: Store, tmp_path: Path, kept: str) -> None:
    repeated = "the garden is green and the garden is large and quiet today"
    tell(store, tmp_path / "a.jsonl", (0, repeated), (1, "yes " + repeated), policy=LOGIC)
    first, dull = (memory["id"] for memory in memories(store))
    with store.transaction("t") as conn:
        if kept in ("pinned", "pending"):
            conn.execute(
                """insert into memory.marks (tenant_id, subject_id, item_id, correction_id, item, mark, pending)
                   values ('t', 'ann', %s, %s, 'memory', 'pinned', %s)""",
                [dull, dull, kept == "pending"],
            )
        else:
            writer = first if kept == "merged" else dull
            conn.execute(
                "insert into memory.lineage values ('t', %s, 'corrected', 'correction', %s, %s, %s)",
                [writer, dull, day(1), dull],
            )
        if kept == "merged":
            conn.execute("update memory.memories set state = 'merged', into_id = %s where id = %s", [dull, first])
    assert run(store, policy=LOGIC)["discarded_unimportant"] == (kept == "pending")
    assert (dull in {memory["id"] for memory in memories(store)}) == (kept != "pending")


def test_a_recall_logged_meanwhile_waits_for_the_next_run(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell(store, tmp_path / "a.jsonl", SAID)
    id_ = UUID(memories(store)[0]["id"])
    ask(store, 30, id_)

    def apply_while_asked(touches: list[Touch], policy: Policy) -> Iterator[Touch]:
        ask(store, 31, id_)
        return apply_touches(touches, policy)

    with monkeypatch.context() as patched:
        patched.setattr("reverie.consolidate.score.stage.apply_touches", apply_while_asked)
        assert run(store)["recalled"] == 1
    assert run(store)["recalled"] == 1
    assert [memory["access_count"] for memory in memories(store) if memory["id"] == str(id_)] == [2]
    assert run(store)["recalled"] == 0


def test_what_is_rated_anew_is_forgotten_accordingly(store: Store, tmp_path: Path) -> None:
    policy = lively("logic", decay={"rates": POLICY.decay.rates, "grace_days": 7}, prune={"below": 0.1})
    tell(store, tmp_path / "a.jsonl", (0, "On 3 May 2026 Maria Silva paid 4,200 euros in Lisbon."), policy=policy)
    run(store, policy=policy)
    (memory,) = memories(store)
    due = forget_at(
        memory["peak"],
        day(0),
        rate=policy.decay.rates["episode"],
        grace_days=7,
        below=0.1,
        unaccessed_days=policy.prune.unaccessed_days,
    )
    assert datetime.fromisoformat(memory["forget_at"]) == due


@pytest.mark.parametrize("lasting", [True, False])
def test_what_is_superseded_fades_from_its_end_when_it_is_rated(store: Store, tmp_path: Path, lasting: bool) -> None:
    """As facts and prune have it; prune and decay read nothing without a time at which it is forgotten."""
    policy = lively("logic", decay={"rates": POLICY.decay.rates, "grace_days": 7}, prune={"below": 0.1})
    tell(store, tmp_path / "a.jsonl", (0, "On 3 May 2026 Maria Silva paid 4,200 euros in Lisbon."), policy=policy)
    with store.transaction("t") as conn:
        conn.execute("update memory.memories set state = 'superseded', lasting = %s, valid_to = %s", [lasting, day(50)])
    assert run(store, policy=policy)["scored"] == 1
    (memory,) = memories(store)
    due = policy.fading.forget_at(memory["kind"], memory["peak"], day(0), lasting=lasting, valid_to=day(50))
    assert due is not None and datetime.fromisoformat(memory["forget_at"]) == due


def touch(at: float, *, outcome: bool, peak: float = 0.6) -> Touch:
    id_ = stable_id(ORIGIN, "memory")
    return Touch(
        id=id_, kind="fact", peak=as_real(peak), accessed_at=ORIGIN, access_count=0, outcome=outcome,
        source_id=stable_id(day(at), str(outcome)), at=day(at), touched_id=id_,
    )  # fmt: skip


@given(st.lists(st.tuples(st.floats(-10, 400), st.booleans()), min_size=1, max_size=12), st.floats(0, 1))
def test_touches_fold_in_event_order_and_in_as_many_portions_as_one_likes(
    touches: list[tuple[float, bool]], peak: float
) -> None:
    ordered = [touch(at, outcome=outcome, peak=peak) for at, outcome in sorted(touches)]
    (whole,) = apply_touches(ordered, POLICY)
    state = ordered[0]
    for one in ordered:
        before = Touch(
            id=one.id, kind="fact", peak=state.peak, accessed_at=state.accessed_at, access_count=state.access_count,
            outcome=one.outcome, source_id=one.source_id, at=one.at, touched_id=one.id,
        )  # fmt: skip
        (state,) = apply_touches([before], POLICY)
    assert (whole.peak, whole.accessed_at, whole.access_count) == (state.peak, state.accessed_at, state.access_count)
    assert 0 <= whole.peak <= 1
    assert whole.access_count == sum(not outcome for _, outcome in touches)
    assert whole.accessed_at == max(ORIGIN, *(one.at for one in ordered))


def test_pieces_of_one_turn_are_all_new_where_nothing_was_known(store: Store, tmp_path: Path) -> None:
    """Logic 1.5: with no memories yet, novelty is 1.0 for all chunks; of the next turn it is not."""
    policy = lively("logic", importance={"threshold": 0.0}, chunk={"min_tokens": 5, "max_tokens": 60})
    long = "\n\n".join(" ".join([f"the garden of house {number} is green and quiet"] * 6) for number in range(4))
    tell(store, tmp_path / "a.jsonl", (0, long), (1, "the garden of house nine is green and quiet"), policy=policy)
    run(store, policy=policy)
    *pieces, later = memories(store)
    assert len(pieces) == 4
    assert all(piece["base"] >= as_real(0.6) for piece in pieces)
    assert later["base"] < 0.6


def test_the_salience_of_a_statement_is_that_of_its_turn(store: Store, tmp_path: Path) -> None:
    """The signal "I prefer" is in what was said, not in the memory's own words."""
    policy = lively("logic", importance={"threshold": 0.0})
    tell(store, tmp_path / "a.jsonl", (0, "i prefer tea in the evening"), policy=policy)
    run(store, policy=policy)
    (preference,) = memories(store)
    assert preference["kind"] == "preference"
    assert preference["base"] == pytest.approx(0.6 + 0.4 * 0.4)
