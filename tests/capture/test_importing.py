"""A file into the log: every bad input of issue 2 point 8, nothing lost, nothing doubled."""

from __future__ import annotations

import gzip
import random
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import polars as pl
import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reverie.capture.history import reading
from reverie.capture.history.importing import FieldOptions, FileOptions, ImportSummary, import_file
from reverie.capture.history.redrive import redrive_dead_letters
from reverie.errors import InputError
from reverie.store.database import Store
from reverie.store.dead_letters import KEPT_BYTES, LetterFilter, count_dead_letters, list_dead_letters
from tests.capture.conftest import NOW, TENANT, jsonl, record

Write = Callable[..., Path]
Rows = Callable[[], list[tuple[Any, ...]]]

OUTCOME = {
    "type": "outcome",
    "subject_id": "ann",
    "session_id": "monday",
    "source_id": "t1",
    "metric": "views",
    "value": 120,
    "positive": True,
    "observed_at": "2026-03-08T00:00:00Z",
}


def load(store: Store, path: Path, **options: Any) -> ImportSummary:
    seen = {name: options.pop(name) for name in ("on_progress",) if name in options}
    summary = import_file(store, path, FileOptions(**options), tenant_id=TENANT, now=NOW, **seen)
    assert summary.read == summary.imported + summary.repeated + summary.outcomes + summary.statements + summary.dead
    return summary


def test_the_summary(store: Store, write: Write, turns: Rows) -> None:
    path = write(jsonl(record(1), record(2, subject_id="bob"), record(3, role="x"), OUTCOME, record(1), record(4, x=1)))
    seen: list[int] = []
    summary = load(store, path, on_progress=seen.append)
    assert (summary.read, summary.imported, summary.repeated, summary.outcomes) == (6, 3, 1, 1)
    assert (summary.dead_by_reason, summary.ignored_fields) == ({"unknown_role": 1}, ("x",))
    assert (summary.subjects, summary.sessions) == (2, 2)
    assert summary.first == datetime(2026, 3, 1, 8, 1, tzinfo=UTC)
    assert summary.last == datetime(2026, 3, 1, 8, 4, tzinfo=UTC)
    assert seen == [path.stat().st_size]
    assert [(row[2], row[4], row[5]) for row in turns()] == [("ann", "t1", 0), ("ann", "t4", 1), ("bob", "t2", 0)]


def test_twice_is_once(store: Store, write: Write, turns: Rows, letters: Rows) -> None:
    path = write(jsonl(record(1), OUTCOME, record(2, said_at="x"), record(3, source_id=...)))
    load(store, path)
    before = turns(), letters()
    again = load(store, path)
    assert (again.imported, again.repeated, again.outcomes, again.dead) == (0, 3, 0, 1)
    assert (turns(), letters()) == before


def test_same_id_with_other_content_is_a_conflict(store: Store, write: Write, turns: Rows, letters: Rows) -> None:
    """In one batch and in another; at the same time and at another, where the turn's own id differs."""
    load(store, write(jsonl(record(1), OUTCOME)))
    other_time = record(1, said_at="2026-03-02T09:00:00Z")
    path = write(
        jsonl(
            record(1, text="No."),
            other_time,
            other_time,
            record(1),
            record(2),
            record(2, text="No."),
            record(2, said_at=OUTCOME["observed_at"]),
            OUTCOME | {"value": 1},
            OUTCOME | {"metric": "likes"},
            OUTCOME | {"metric": "likes", "positive": False},
        ),
        "second.jsonl",
    )
    summary = load(store, path)
    assert (summary.imported, summary.repeated, summary.outcomes) == (1, 1, 1)
    assert summary.dead_by_reason == {"conflict": 7}
    assert [row[0] for row in letters()] == [1, 2, 3, 6, 7, 8, 10]
    assert [(row[4], row[9]) for row in turns()] == [(f"t{n}", record(n)["text"]) for n in (1, 2)]


def test_order(store: Store, write: Write, turns: Rows) -> None:
    """Turns keep the order of the file, whatever their times; a given index stays, others are counted on."""
    load(store, write(jsonl(*(record(number) for number in (5, 3, 4)))))
    assert [row[4:6] for row in turns()] == [("t5", 0), ("t3", 1), ("t4", 2)]
    load(store, write(jsonl(record(3), record(9, turn_index=7), record(8), record(7), record(6, turn_index=1))))
    assert sorted(row[4:6] for row in turns()) == [
        ("t3", 1),
        ("t4", 2),
        ("t5", 0),
        ("t6", 1),
        ("t7", 9),
        ("t8", 8),
        ("t9", 7),
    ]


def test_columns_arrive_as_sent(store: Store, write: Write, turns: Rows) -> None:
    calls = [{"name": "search", "arguments": {"q": "é\0"}, "why": None, "result": "3"}]
    load(store, write(jsonl(record(1, speaker="Zoë", text="  a\0b\n", tool_calls=calls, metadata={"a": {"b": [1.5]}}))))
    (row,) = turns()
    assert row[7:12] == (
        "Zoë",
        datetime(2026, 3, 1, 8, 1, tzinfo=UTC),
        "  ab\n",
        [calls[0] | {"arguments": {"q": "é"}}],
        {"a": {"b": [1.5]}},
    )


def test_dead_letters_name_file_line_and_reason(store: Store, write: Write, letters: Rows) -> None:
    cut = jsonl(record(2))[:30]
    path = write(jsonl(record(1)) + cut + b"\n" + jsonl(record(3, text="x" * 2_000_000), record(4, tenant_id="globex")))
    load(store, path)
    (first, long, foreign) = letters()
    assert first == (2, "malformed_json", "The line is not valid JSON: unexpected end of data at character 31.", cut, 1)
    assert (long[1], len(long[3])) == ("too_long", KEPT_BYTES)
    assert "import the file again" in long[2]
    assert (foreign[1], foreign[3]) == ("other_tenant", None)
    listed = list_dead_letters(store, TENANT)
    assert [(each.source, each.line, 0 < each.size < KEPT_BYTES) for each in listed] == [
        ("log.jsonl", 2, True),
        ("log.jsonl", 3, False),
        ("log.jsonl", 4, False),
    ]
    assert list_dead_letters(store, TENANT, where=LetterFilter(reason="too_long"), limit=5) == [listed[1]]
    assert list_dead_letters(store, TENANT, where=LetterFilter(source="other")) == []
    assert count_dead_letters(store, TENANT) == {"malformed_json": 1, "other_tenant": 1, "too_long": 1}
    assert count_dead_letters(store, "globex") == {}


def test_formats_give_the_same_rows(store: Store, tmp_path: Path, turns: Rows, conn: psycopg.Connection) -> None:
    calls = orjson.dumps([{"name": "search", "arguments": {"q": "a, b"}}]).decode()
    records = [
        record(
            number, speaker=speaker, text=text, tool_calls=calls if number == 2 else None, session_id=f"s{number % 2}"
        )
        for number, (speaker, text) in enumerate(
            [("Ann", 'Say "hi",\nthen go'), (None, "café \U0001f600"), ("Bo", "x"), ("Bo", ""), ("Bo", " y ")]
        )
    ]
    frame = pl.DataFrame(records)
    frame.write_csv(tmp_path / "log.csv")
    frame.write_csv(tmp_path / "log.tsv", separator="\t")
    frame.with_columns(pl.col("said_at").str.to_datetime("%FT%T%z", time_zone="UTC")).write_parquet(
        tmp_path / "log.parquet"
    )
    (tmp_path / "log.jsonl").write_bytes(jsonl(*records))
    for path in list(tmp_path.iterdir()):
        (tmp_path / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
    results = {}
    for path in sorted(tmp_path.iterdir()):
        summary = load(store, path)
        results[path.name] = (turns(), dict(summary.dead_by_reason), summary.imported)
        conn.execute("delete from log.turns")
    assert len(results) == 8
    assert all(result == results["log.jsonl"] for result in results.values()), results
    assert results["log.jsonl"][1:] == ({"empty_text": 1}, 4)


def test_a_table_without_a_needed_column_writes_nothing(store: Store, write: Write, letters: Rows) -> None:
    path = write(b"whose,session_id,role,said_at,text\nann,m,user,2026-03-01T09:00:00Z,Hi\n", "log.csv")
    with pytest.raises(InputError, match=r"no column 'subject_id', only whose, .*--map subject_id=COLUMN"):
        load(store, path)
    assert letters() == []
    assert load(store, path, mapping={"subject_id": "whose"}).imported == 1


def test_a_table_of_statements_needs_no_session(store: Store, write: Write) -> None:
    rows = "statement,ann,2026-03-01T09:00:00Z,Likes tea", "turn,ann,2026-03-01T09:00:00Z,Hi"
    path = write("\n".join(("type,subject_id,observed_at,text", *rows)).encode(), "log.csv")
    found = load(store, path)
    assert (found.statements, found.dead_by_reason) == (1, {"missing_field": 1})


def test_redrive_with_a_time_zone(store: Store, write: Write, turns: Rows, letters: Rows) -> None:
    naive = [record(number, said_at=f"2026-03-01T09:0{number}:00") for number in range(3)]
    load(store, write(jsonl(*naive, naive[1], record(4, role="x"), naive[0] | {"text": "other"}) + b"{"))
    failed = redrive_dead_letters(store, tenant_id=TENANT, now=NOW)
    assert (failed.tried, failed.dead_by_reason) == (7, {"naive_time": 5, "unknown_role": 1, "malformed_json": 1})
    assert {row[4] for row in letters()} == {2}
    where = LetterFilter(reason="naive_time")
    done = redrive_dead_letters(
        store, tenant_id=TENANT, now=NOW, where=where, fields=FieldOptions(timezone="Europe/Berlin")
    )
    assert (done.tried, done.imported, done.repeated, done.dead_by_reason) == (5, 3, 1, {"conflict": 1})
    assert [row[4:6] for row in turns()] == [("t0", 0), ("t1", 1), ("t2", 2)]
    assert [row[1] for row in letters()] == ["unknown_role", "conflict", "malformed_json"]
    with pytest.raises(InputError, match="no time zone 'Berlin'"):
        redrive_dead_letters(store, tenant_id=TENANT, fields=FieldOptions(timezone="Berlin"))


def test_importing_again_with_a_time_zone_resolves(store: Store, write: Write, letters: Rows) -> None:
    naive = record(1, said_at="2026-03-01")
    path = write(jsonl(naive, naive | {"text": "long " * 20_000, "source_id": "t2"}, record(3, role="x")))
    load(store, path)
    assert load(store, path, timezone="UTC").resolved == 2
    assert [row[1] for row in letters()] == ["unknown_role"]


def test_another_tenant_sees_nothing(store: Store, write: Write) -> None:
    load(store, write(jsonl(record(1), record(2, role="x"))))
    with store.transaction("globex") as conn:
        for table in ("log.turns", "ops.dead_letters", "ops.tenants"):
            expected = 1 if table == "ops.tenants" else 0  # the roster names tenants to the worker
            assert len(conn.execute(f"select from {table}").fetchall()) == expected  # type: ignore[call-overload]


@pytest.mark.parametrize("ending", [".jsonl", ".csv", ".parquet", ".jsonl.gz", ""])
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_nothing_is_lost_of_any_file(store: Store, tmp_path: Path, ending: str, data: st.DataObject) -> None:
    good = [orjson.dumps(record(number)) for number in range(3)]
    header = b"subject_id,session_id,source_id,role,said_at,text"
    lines = st.one_of(
        st.sampled_from([*good, header, b"ann,m,1,user,2026-03-01T09:00:00Z,Hi"]),
        st.binary(max_size=40),
        st.tuples(st.sampled_from(good), st.integers(0, 200), st.binary(max_size=3)).map(
            lambda cut: cut[0][: cut[1]] + cut[2] + cut[0][cut[1] + len(cut[2]) :]
        ),
    )
    content = b"\n".join([header] * (ending == ".csv") + data.draw(st.lists(lines, max_size=6)))
    if ending.endswith(".gz"):
        packed = gzip.compress(content)
        content = packed[: data.draw(st.integers(0, len(packed)))]
    path = tmp_path / f"log{ending}"
    path.write_bytes(content)
    with suppress(InputError):
        load(store, path)


def test_two_imports_at_once(
    store: Store, write: Write, turns: Rows, letters: Rows, conn: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither waits for the other forever, and each session is counted without gap."""
    monkeypatch.setattr(reading, "BATCH_RECORDS", 50)
    path = write(jsonl(*(record(number, session_id=f"s{number % 70}") for number in range(1000)), record(1, role="x")))
    load(store, path)
    clean = turns(), letters()
    conn.execute("delete from log.turns; delete from ops.dead_letters")
    with ThreadPoolExecutor(2) as both:
        summaries = list(both.map(lambda _: load(store, path), range(2)))
    assert sum(summary.imported for summary in summaries) == 1000
    assert (turns(), letters()) == clean


def test_killed_and_retried(
    store: Store, write: Write, turns: Rows, letters: Rows, database_url: str, conn: psycopg.Connection
) -> None:
    chance = random.Random(3)
    path = write(
        jsonl(
            *(
                record(number % 1900, subject_id=f"s{number % 7}", role=chance.choice(["user", "x"]))
                for number in range(2000)
            )
        )
    )
    load(store, path)
    clean = turns(), letters()
    conn.execute("delete from log.turns; delete from ops.dead_letters; delete from ops.tenants")
    program = (
        "import sys; from datetime import datetime; from reverie.capture.history import reading, importing;"
        "from reverie.store.database import Store; reading.BATCH_RECORDS = 40;"
        "store = Store.open(sys.argv[1]); print('open', flush=True);"
        "importing.import_file(store, sys.argv[2], tenant_id='acme', now=datetime.fromisoformat(sys.argv[3]))"
    )
    found_after_kills = []
    for _ in range(6):
        command = [sys.executable, "-c", program, database_url, str(path), NOW.isoformat()]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            assert process.stdout
            process.stdout.readline()
            before = len(turns())
            while process.poll() is None and len(turns()) == before:  # the first batch, however slow the machine
                time.sleep(0.005)
            time.sleep(chance.uniform(0.0, 0.1))
            process.kill()
        found_after_kills.append(len(turns()))
    assert any(0 < found < len(clean[0]) for found in found_after_kills)
    load(store, path)
    assert (turns(), letters()) == clean
    assert reading.BATCH_RECORDS != 40


def test_a_turn_longer_than_the_policy_allows_is_a_dead_letter(store: Store, write: Write) -> None:
    path = write(jsonl(record(source_id="a", text="a" * 100_001), record(source_id="b", text="a" * 100_000)))
    summary = load(store, path)
    assert (summary.imported, summary.dead_by_reason) == (1, {"too_long": 1})
