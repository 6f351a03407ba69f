"""The part of `bench/memory.py` that runs histories through the pipeline: those with a change, and those without."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from psycopg import Connection

from bench.memory_scoring import Row, judge_change, judge_decoy, says, stems
from bench.memory_texts import entries
from bench.report import print_table
from reverie.capture.history.importing import import_file
from reverie.drive.cycle import catch_up, ingest
from reverie.inference import Embedder, load_embedder
from reverie.inference.completions import LanguageModel, Limits
from reverie.inference.recorded import load_recorded
from reverie.model import Scope
from reverie.policy import Policy, load_policy
from reverie.recall.query import RecallQuery
from reverie.recall.recall import recall
from reverie.store.database import Store
from reverie.store.migrate import migrate
from reverie.store.server.embedded import EmbeddedPostgres
from reverie.store.session import perform
from reverie.store.work import Work
from reverie.testing import fast_directory

#: Time from the last turn until memory is inspected, so that a whole cycle has passed.
AFTER = timedelta(days=1)

History = Mapping[str, Any]


class Running(NamedTuple):
    """A database with the policy and the embedder that fill it."""

    store: Store
    policy: Policy
    embedder: Embedder
    #: None: the rules and the reader alone.
    language_model: LanguageModel | None = None

    def bring(self, tenant: str, turns: Iterable[Mapping[str, Any]], until: datetime) -> None:
        """Import turns and run every stage up to a time."""
        self.take_in(tenant, turns, until)
        for _ in catch_up(self.work(tenant, until)):
            pass

    def take_in(self, tenant: str, turns: Iterable[Mapping[str, Any]], until: datetime) -> None:
        """Import turns, extract and embed."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "turns.jsonl"
            path.write_text("".join(json.dumps(turn) + "\n" for turn in turns), encoding="utf-8")
            summary = import_file(self.store, path, tenant_id=tenant, policy=self.policy.name)
        if summary.dead:
            raise SystemExit(f"{summary.dead} turns could not be imported: {dict(summary.dead_by_reason)}")
        for _ in ingest(self.work(tenant, until)):
            pass

    def work(self, tenant: str, until: datetime) -> Work:
        """Return the work that the stages take."""
        scope = Scope(tenant_id=tenant)
        return Work(
            store=self.store,
            scope=scope,
            policy=self.policy,
            as_of=until,
            embedder=self.embedder,
            language_model=self.language_model,
        )


@contextmanager
def running(policy: str, replies: Path | None = None) -> Iterator[Running]:
    """Start a server with an empty database, in memory if there is room. `replies`: a language model's, recorded."""
    with tempfile.TemporaryDirectory(prefix="reverie_bench_", dir=fast_directory()) as folder:
        Path(folder).chmod(0o711)  # the server may run as another user
        server = EmbeddedPostgres(Path(folder) / "postgres", durable=False)
        url = server.start()
        try:
            migrate(url)
            with Store.open(url) as store:
                model = load_recorded(replies, limits=Limits()) if replies else None
                yield Running(store, load_policy(policy), load_embedder("minilm"), model)
        finally:
            server.stop()


def turns_of(history: History) -> list[dict[str, Any]]:
    """Return the turns as records to import."""
    times = [datetime.fromisoformat(turn["at"]) for turn in history["turns"]]
    return [
        {
            "subject_id": history["id"],
            "session_id": turn["session"],
            "source_id": f"{history['id']}:{number}",
            "role": turn["role"],
            "said_at": time.isoformat(),
            "text": turn["text"],
        }
        for number, (turn, time) in enumerate(zip(history["turns"], times, strict=True))
    ]


def end_of(history: History) -> datetime:
    """Return the time at which memory is inspected, a while after the last turn."""
    return max(datetime.fromisoformat(turn["at"]) for turn in history["turns"]) + AFTER


def rows_of(conn: Connection[Any], tenant: str, subject: str) -> list[Row]:
    """Return the memories of a subject."""
    found = conn.execute(
        "select kind, content, state, polarity, phase, valid_to from memory.memories"
        " where tenant_id = %s and subject_id = %s order by happened_at, kind, content",
        [tenant, subject],
    )
    return [Row(*row) for row in found]


def facts_of(conn: Connection[Any], tenant: str, subject: str) -> list[Row]:
    """Return the structured facts of a subject as memories that state them."""
    found = conn.execute(
        "select key || ' ' || value, valid_to from memory.structured_facts where tenant_id = %s and subject_id = %s",
        [tenant, subject],
    )
    return [Row("fact", content, "active", 0, "holds", valid_to) for content, valid_to in found]


def histories(part: str, policy: str = "reverie", verbose: bool = False, live_step: int = 7) -> None:
    """Print how often the current value is in force, the old one is marked and a decoy is untouched.

    Every `live_step`th history is also run live, and must give the same memory."""
    told = entries("histories", part)
    with running(policy) as run:
        rows, structured, answers, conflicts = {}, {}, [], set[str]()
        run.take_in("histories", [turn for one in told for turn in turns_of(one)], max(map(end_of, told)))
        for one in sorted(told, key=end_of):
            for _ in catch_up(run.work("histories", end_of(one))):
                pass
            with run.store.transaction("histories") as conn:
                rows[one["id"]] = rows_of(conn, "histories", one["id"])
                structured[one["id"]] = facts_of(conn, "histories", one["id"])
                answers.append(_answered(conn, run, one))
                found = conn.execute("select subject_id from memory.conflicts where subject_id = %s", [one["id"]])
                conflicts |= {row[0] for row in found}
        _print_figures(part, told, rows, [one for one in answers if one is not None], conflicts)
        _print_structured(told, structured)
        if verbose:
            _print_rows(told, rows)
        _live(run, told[::live_step], rows)


def _print_figures(
    part: str,
    told: Sequence[History],
    rows: Mapping[str, Sequence[Row]],
    answers: Sequence[Answered],
    conflicts: set[str],
) -> None:
    changes = [(one["id"], judge_change(one, rows[one["id"]])) for one in told if one["kind"] == "change"]
    decoys = [(one["id"], judge_decoy(one, rows[one["id"]])) for one in told if one["kind"] == "decoy"]
    kept = [one for _, one in changes if one.kept]
    known = [one for _, one in decoys if one.kept]
    in_conflict = [sum(name in conflicts for name, _ in group) for group in (changes, decoys)]
    print_table(
        f"Histories, {part}: {len(changes)} changes, {len(decoys)} decoys",
        ("", "figure"),
        [
            ("current value in force (goal .95)", _share(one.current for _, one in changes)),
            ("old value marked (goal .95)", _share(one.marked for _, one in changes)),
            ("old value marked, where it was a memory", f"{sum(one.marked for one in kept)}/{len(kept)}"),
            ("recall: current value first (goal .95)", _share(one.first for one in answers)),
            ("recall: old value above it, and not marked (goal 0)", _share(one.stale for one in answers)),
            ("decoys untouched (goal .95)", _share(one.untouched for _, one in decoys)),
            ("decoys untouched, where the value was a memory", f"{sum(one.untouched for one in known)}/{len(known)}"),
            ("in conflict: changes, decoys", f"{in_conflict[0]}, {in_conflict[1]}"),
        ],
    )
    lists = {
        "current value not in force": [name for name, one in changes if not one.current],
        "old value not a memory": [name for name, one in changes if not one.kept],
        "old value not marked": [name for name, one in changes if one.kept and not one.marked],
        "recall: old value first": [one.name for one in answers if not one.first],
        "decoy's value not a memory": [name for name, one in decoys if not one.kept],
        "decoy touched": [name for name, one in decoys if one.kept and not one.untouched],
    }
    for label, names in lists.items():
        print(f"{label}: {' '.join(names) or 'none'}")


def _print_structured(told: Sequence[History], structured: Mapping[str, Sequence[Row]]) -> None:
    """Print in how many changes, without those of taste, the structured facts state what memories should state."""
    changes = [one for one in told if one["kind"] == "change" and one["old"] != one["current"]]

    def stating(one: History, words: Sequence[str] | None) -> bool:
        return any(row.open and says(row, words or ()) for row in structured[one["id"]])

    old, new = ([stating(one, one[value]) for one in changes] for value in ("old", "current"))
    print(
        f"structured facts in force: the current value {sum(new)}, the old one {sum(old)} of {len(changes)} changes\n"
    )


def _share(flags: Iterable[bool]) -> str:
    flags = list(flags)
    return f"{sum(flags) / max(len(flags), 1):.3f} ({sum(flags)}/{len(flags)})"


class Answered(NamedTuple):
    """A judgement of recall's answer to the question of a history."""

    name: str
    #: the first hit that names the current or the old value names the current one
    first: bool
    #: the old value stands above the current one, and nothing says that it no longer holds
    stale: bool


def _answered(conn: Connection[Any], run: Running, history: History) -> Answered | None:
    """Judge the answer to the question of a history; None: there is no question or no current value."""
    if "ask" not in history or history["kind"] != "change" or not history["current"]:
        return None
    answer = perform(
        recall(
            run.store.session("histories"),
            RecallQuery(text=history["ask"], subject_id=history["id"], as_of=end_of(history)),
            policy=run.policy,
            embedder=run.embedder,
        )
    )
    read = conn.execute(
        "select id, kind, content, state, polarity, phase, valid_to from memory.memories"
        " where tenant_id = 'histories' and subject_id = %s",
        [history["id"]],
    )
    rows = {id_: Row(*row) for id_, *row in read}
    said = conn.execute(
        "select id, text from log.turns where tenant_id = 'histories' and subject_id = %s order by said_at",
        [history["id"]],
    ).fetchall()
    naming = [id_ for id_, text in said if _names(text, history["current"])]
    for hit in answer.hits:
        row = rows.get(hit.id)
        is_current, is_old = _names(hit.content, history["current"]), _names(hit.content, history["old"])
        if is_current and is_old:  # a liking that was reversed: the last turn that names it is current
            is_current = says(row, history["current"], history.get("current_polarity")) if row else hit.id == naming[-1]
        if is_current:
            return Answered(name=history["id"], first=True, stale=False)
        if is_old:
            return Answered(name=history["id"], first=False, stale=hit.until is None and hit.id not in naming[-1:])
    return Answered(name=history["id"], first=False, stale=False)


def _names(text: str, words: Sequence[str]) -> bool:
    named = stems(text)
    return bool(words) and all(stem in named for word in words for stem in stems(word))


def _live(run: Running, told: Sequence[History], rows: Mapping[str, Sequence[Row]]) -> None:
    """Run histories turn by turn, each turn followed by every stage, and compare memory with that of one run."""
    live: dict[str, list[Row]] = {}
    steps: list[tuple[datetime, dict[str, Any] | None, str]] = [(end_of(one), None, one["id"]) for one in told]
    for one in told:
        said = ((datetime.fromisoformat(turn["said_at"]), turn) for turn in turns_of(one))
        steps += [(at + timedelta(seconds=30), turn, one["id"]) for at, turn in said]
    for at, turn, name in sorted(steps, key=lambda step: (step[0], step[1] is None, step[2])):
        if turn is not None:
            run.take_in("live", [turn], at)
        for _ in catch_up(run.work("live", at)):
            pass
        if turn is None:
            with run.store.transaction("live") as conn:
                live[name] = rows_of(conn, "live", name)
    differ = [one["id"] for one in told if live[one["id"]] != list(rows[one["id"]])]
    print(f"live as in one run: {len(told) - len(differ)}/{len(told)}; other memory: {' '.join(differ) or 'none'}")


def _print_rows(told: Sequence[History], rows: Mapping[str, Sequence[Row]]) -> None:
    for one in told:
        print(f"\n{one['id']} {one['kind']}: {one['old']} -> {one['current']}: {one['why']}")
        for row in rows[one["id"]]:
            until = f" until {row.valid_to:%Y-%m-%d}" if row.valid_to else ""
            print(f"  {row.state} {row.kind} {row.phase} {row.polarity}{until}: {row.content}")
