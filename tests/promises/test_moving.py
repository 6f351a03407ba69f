"""Moving in and out loses nothing that the other format can hold."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reverie.capture.history.importing import FileOptions, ImportSummary, import_file
from reverie.drive.moving import MOVED_FORMATS, move_out
from reverie.errors import InputError, NotFoundError
from reverie.store.database import Store
from tests.conftest import Databases

# the threads of connection pools draw random numbers of their own while Hypothesis draws
pytestmark = pytest.mark.filterwarnings("ignore:Do not use the `random` module")

NOW = datetime(2026, 6, 1, tzinfo=UTC)
FEW = settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=40).filter(
    lambda text: bool(text.strip())
)
times = st.datetimes(datetime(2020, 1, 1), datetime(2026, 1, 1)).map(  # noqa: DTZ001
    lambda at: at.replace(tzinfo=UTC).isoformat()
)
objects = st.dictionaries(texts, st.one_of(st.booleans(), st.integers(-9, 9), texts), max_size=2)


def turn(subject: str) -> st.SearchStrategy[dict[str, Any]]:
    calls = st.just([{"name": "find", "arguments": {"q": 1}, "why": "asked", "result": "none"}])
    fields = {
        "type": st.just("turn"),
        "subject_id": st.just(subject),
        "session_id": st.sampled_from(["s1", "s2"]),
        "source_id": st.uuids().map(str),
        "role": st.sampled_from(["user", "assistant", "system", "tool"]),
        "said_at": times,
        "text": texts,
    }
    return st.fixed_dictionaries(fields, optional={"speaker": texts, "metadata": objects, "tool_calls": calls})


def statement(subject: str) -> st.SearchStrategy[dict[str, Any]]:
    fields = {
        "type": st.just("statement"),
        "subject_id": st.just(subject),
        "source_id": st.uuids().map(str),
        "kind": st.sampled_from(["fact", "preference", "document"]),
        "text": texts,
        "observed_at": times,
    }
    return st.fixed_dictionaries(fields, optional={"session_id": st.just("s1"), "ends_at": times, "metadata": objects})


def memory(subject: str) -> st.SearchStrategy[dict[str, Any]]:
    """A memory of mem0."""
    fields = {"id": st.uuids().map(str), "memory": texts, "user_id": st.just(subject), "created_at": times}
    more = {"updated_at": times, "run_id": st.just("r1"), "metadata": objects, "hash": st.just("f0")}
    more |= {"categories": st.lists(texts, max_size=2), "expiration_date": st.just("2026-12-31")}
    return st.fixed_dictionaries(fields, optional=more)


@pytest.fixture(scope="module")
def here(databases: Databases) -> Iterator[Store]:
    with databases() as url, Store.open(url, size=2) as store:
        yield store


@pytest.fixture(scope="module")
def there(databases: Databases) -> Iterator[Store]:
    with databases() as url, Store.open(url, size=2) as store:
        yield store


def load(store: Store, content: bytes, format: str | None = None) -> ImportSummary:
    with TemporaryDirectory() as folder:
        (path := Path(folder) / "file.json").write_bytes(content)
        return import_file(store, path, FileOptions(format=format), tenant_id="acme", now=NOW)


def moved(store: Store, subject: str, format: str) -> bytes:
    with TemporaryDirectory() as folder:
        return move_out(store.url, "acme", Path(folder), subject_id=subject, format=format, at=NOW).file.read_bytes()


def records(store: Store, subject: str) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in moved(store, subject, "jsonl").splitlines()]


@given(data=st.data())
@FEW
@pytest.mark.parametrize("format", ["jsonl", "parquet", "letta"])
def test_round_trip(here: Store, there: Store, data: st.DataObject, format: str) -> None:
    subject = str(uuid4())
    said = data.draw(st.lists(st.one_of(turn(subject), statement(subject)), min_size=1, max_size=6))
    assert load(here, b"\n".join(map(orjson.dumps, said))).dead == 0
    content = moved(here, subject, format)
    found = load(there, content, format)
    assert (found.dead, found.skipped.total()) == (0, 0)
    assert found.imported + found.statements == len(said)
    assert records(there, subject) == records(here, subject)
    again = load(here, content, format)
    assert (again.imported, again.statements, again.dead) == (0, 0, 0)


@given(data=st.data())
@FEW
def test_mem0_gets_its_memories_back(here: Store, there: Store, data: st.DataObject) -> None:
    subject = str(uuid4())
    given_ = data.draw(st.lists(memory(subject), min_size=1, max_size=6))
    assert load(here, orjson.dumps(given_), "mem0").statements == len(given_)
    back = moved(here, subject, "mem0")
    assert _by_id(json.loads(back)["results"]) == _by_id(given_)
    assert load(there, back, "mem0").statements == len(given_)
    assert moved(there, subject, "mem0") == back


def _by_id(items: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {item["id"]: item for item in items}


def test_what_is_wrong_does_not_move(databases: Databases, tmp_path: Path) -> None:
    """A correction withholds what was imported; what was learned here moves beside what was imported."""
    from tests.promises.compact import policy
    from tests.promises.world import live

    items = [
        {"id": "m1", "memory": "Has a hamster named Otto.", "user_id": "ana", "created_at": "2026-01-01T00:00:00Z"},
        {"id": "m2", "memory": "Lives in Porto.", "user_id": "ana", "created_at": "2026-01-01T00:00:00Z"},
    ]
    said = {"subject_id": "ana", "session_id": "s", "role": "user", "said_at": "2026-01-02T00:00:00Z"}
    with databases() as url, Store.open(url, size=2) as store:
        load(store, orjson.dumps(items), "mem0")
        (path := tmp_path / "log.jsonl").write_bytes(orjson.dumps(said | {"text": "I have a dog named Rex."}))
        live(store, "acme", policy(), path, NOW - timedelta(days=100))
        texts_ = {item["memory"] for item in json.loads(moved(store, "ana", "mem0"))["results"]}
        assert {"Has a hamster named Otto.", "Lives in Porto."} < texts_ and any("Rex" in text for text in texts_)
        with store.transaction("acme") as conn:
            conn.execute(
                "insert into memory.marks (tenant_id, subject_id, item_id, correction_id, item, mark, pending)"
                " select tenant_id, subject_id, id, gen_random_uuid(), 'event', 'corrected', false from log.events"
                " where source_id = 'm1'"
            )
        with store.transaction("acme") as conn:
            conn.execute("update memory.memories set expires_at = '2026-03-01' where content like '%%Rex%%'")
        assert "Rex" not in moved(store, "ana", "mem0").decode()
        load(store, orjson.dumps(said | {"subject_id": "bob", "text": "Hello."}))
        with pytest.raises(NotFoundError, match="There are no memories to move about subject 'bob'"):
            move_out(url, "acme", tmp_path / "bob", subject_id="bob", format="mem0", at=NOW)
        assert "m1" not in {item["id"] for item in json.loads(moved(store, "ana", "mem0"))["results"]}
        with pytest.raises(InputError, match="not empty"):
            move_out(url, "acme", tmp_path, subject_id="ana", format="letta", at=NOW)
        with pytest.raises(NotFoundError, match="'eve'"):
            move_out(url, "acme", tmp_path / "eve", subject_id="eve", format="mem0", at=NOW)
    assert set(MOVED_FORMATS) == {"mem0", "letta", "jsonl", "parquet"}
