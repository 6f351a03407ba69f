"""Order is event time, then arrival: the order of a file's lines makes no difference to memory."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from reverie.store.database import Store
from reverie.store.digest import Digest, digest
from tests.conftest import Databases
from tests.promises import compact
from tests.promises.world import SAMPLE, live, lively

TENANT = "acme"
#: Six weeks of the sample history.
SPRING = datetime(2026, 2, 16, 1, 30, tzinfo=UTC)


def records_of(history: Path, until: datetime) -> list[dict[str, Any]]:
    """The whole records of a history up to a time, without an index in the session."""
    found = []
    for line in history.read_text(encoding="utf-8").splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            continue  # a line that is no record is compact's own test
        if datetime.fromisoformat(record.get("said_at") or record["observed_at"]) <= until:
            found.append(
                {name: value for name, value in record.items() if name != "turn_index"} | {"tenant_id": TENANT}
            )
    return found


def shuffled(records: list[dict[str, Any]], seed: int) -> list[dict[str, Any]]:
    """The records in another order; those of a session that share a time keep theirs."""

    def moment(record: dict[str, Any]) -> tuple[str, str, str]:
        return record["subject_id"], record["session_id"], record.get("said_at") or record["observed_at"]

    waiting = defaultdict(list)
    for record in records:
        waiting[moment(record)].append(record)
    places = [moment(record) for record in records]
    random.Random(seed).shuffle(places)
    return [waiting[place].pop(0) for place in places]


def digest_of(databases: Databases, tmp_path: Path, records: list[dict[str, Any]], compressing: bool) -> Digest:
    """The digest of the memory that an import of the records gives."""
    file = tmp_path / "history.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    policy, until = (compact.policy(), compact.UNTIL) if compressing else (lively("reverie"), SPRING)
    with databases() as url, Store.open(url, size=2) as store:
        live(store, TENANT, policy, file, until)
        return digest(store, TENANT)


@pytest.mark.parametrize(("name", "seeds"), [("compact", (1, 2)), ("sample", (1,))])
def test_a_shuffled_file_gives_the_same_memory(
    name: str, seeds: tuple[int, ...], databases: Databases, history: Path, tmp_path: Path
) -> None:
    compressing = name == "compact"
    records = records_of(history if compressing else SAMPLE, compact.UNTIL if compressing else SPRING)
    in_order = digest_of(databases, tmp_path, records, compressing)
    assert in_order.tables["memories"].rows > 10
    for seed in seeds:
        assert digest_of(databases, tmp_path, shuffled(records, seed), compressing).tables == in_order.tables, seed


def test_turns_of_one_time_stay_in_the_order_of_arrival(databases: Databases, history: Path, tmp_path: Path) -> None:
    records = records_of(history, compact.UNTIL)
    for record in records:  # three turns a minute
        if "said_at" in record:
            at = datetime.fromisoformat(record["said_at"])
            record["said_at"] = at.replace(minute=at.minute - at.minute % 3).isoformat()
    in_order = digest_of(databases, tmp_path, records, compressing=True)
    assert in_order.tables["memories"].rows > 10
    assert digest_of(databases, tmp_path, shuffled(records, 3), compressing=True).tables == in_order.tables
