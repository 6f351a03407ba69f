"""Rows go from one database to another as they are, vectors and generated columns included, and only once."""

from __future__ import annotations

from pathlib import Path

from reverie.store.database import Store
from reverie.store.digest import digest
from reverie.store.server.copying import copied_tables, copy_missing, copy_rows
from tests.conftest import Databases
from tests.promises import compact
from tests.promises.world import live


def test_a_memory_that_is_copied_has_the_same_digest(databases: Databases, tmp_path: Path) -> None:
    history = compact.write_history(tmp_path / "history.jsonl")
    with databases() as here, databases() as there, Store.open(here) as source, Store.open(there) as target:
        live(source, "acme", compact.policy(), history, compact.UNTIL)
        live(source, "other", compact.policy(), history, compact.UNTIL)
        with source.transaction("acme") as reading, target.transaction("acme") as writing:
            tables = {table.name: table for table in copied_tables(reading, "memory")}
            assert tables["memories"].key == ("id",) and "shard" not in tables["memories"].columns
            copied = {name: copy_rows(reading, writing, "acme", table) for name, table in tables.items()}
        assert digest(target, "acme") == digest(source, "acme") and copied["vectors"] > 0
        with source.transaction("acme") as reading, target.transaction("acme") as writing:
            writing.execute("delete from memory.lineage where relation = 'extracted'")
            missing = copy_missing(reading, writing, "acme", tables["lineage"])
            reading.execute("delete from memory.links")
            gone = copy_missing(reading, writing, "acme", tables["links"])
        assert 0 < missing.copied < copied["lineage"] and missing.gone == 0
        assert gone.copied == 0 and gone.gone == copied["links"]
