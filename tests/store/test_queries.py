"""Postgres itself reads every query of `sql/queries/`: a table, column or type that is missing fails here, by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from uuid import uuid4

import psycopg
import pytest
from psycopg.pq import TransactionStatus

from reverie.recall.search import search_variants
from reverie.store.queries import TemplateError, queries, sql_directory, variants

#: `report` reads the marts, which dbt builds: tests/marts/test_measure_report.py runs it.
STEMS = sorted(path.stem for path in (sql_directory() / "queries").glob("*.sql") if path.stem != "report")
#: What the other queries of the process find made already.
TEMPORARY = (("capture", "make_incoming"), ("embed", "stage_cache"))
#: What is copied into them.
COPIES = (("capture", "copy_incoming"), ("embed", "copy_cache"))
#: Statements that are run and not planned: tests/generations runs those of the last three, tests of erase the others.
UTILITIES = {*TEMPORARY, *COPIES, ("erase", "act_as_eraser"), ("erase", "act_as_worker")} | {
    *(("copying", name) for name in ("make_incoming", "copy_out", "copy_in", "analyze_incoming", "drop_incoming")),
    *(("beside", name) for name in ("create", "relax", "drop")),
    *(("generations", name) for name in ("without_source", "of_model", "share_runs")),
    *(("switching", name) for name in queries("switching")),
    *(("scrub", name) for name in ("checkpoint", "keep_no_wal", "recycle_wal")),
}
#: What the code fills in where a statement is for any table.
FILLED = {"{table}": "log.turns", "{name}": "'log.turns'", "{columns}": "id, text"} | {
    "{query}": "select id, text from log.turns",
    "{cursor}": "id",
    "{order}": "id",
    "{incoming}": "log.turns",
    "{key}": "t.id",
    "{kept}": "k.id",
    "{tenant}": "'acme'",
}
#: Arguments of a type that Postgres cannot tell from the statement alone, and is told with the value.
TYPES = {
    ("queue", "enqueue"): {"at": "timestamptz"},
    ("working_memory", "update_session"): {"as_of": "timestamptz"},
}


@pytest.fixture
def worker(conn: psycopg.Connection) -> Iterator[psycopg.Connection]:
    """A connection as the worker, in a transaction that has the temporary tables."""
    conn.execute("set role reverie_worker")
    with conn.transaction(force_rollback=True):
        for stem, name in TEMPORARY:
            conn.execute(queries(stem)[name])
        yield conn


def test_postgres_plans_every_query(worker: psycopg.Connection) -> None:
    refused = {}
    for stem, name, text in statements():
        try:
            with worker.transaction():
                worker.execute(prepared(text, TYPES.get((stem, name), {})))
                worker.execute("deallocate query")
        except psycopg.Error as error:
            refused[f"{stem}.{name}"] = str(error)
    assert refused == {}


def test_copies_fit_their_tables(worker: psycopg.Connection) -> None:
    for stem, name in COPIES:
        with worker.cursor() as cursor, cursor.copy(queries(stem)[name]):
            assert worker.info.transaction_status is TransactionStatus.ACTIVE, name


def test_a_query_that_names_no_column_of_ours_is_refused(worker: psycopg.Connection) -> None:
    with pytest.raises(psycopg.errors.UndefinedColumn), worker.transaction():
        worker.execute(prepared("select nothing_of_ours from log.turns where tenant_id = %(tenant)s"))


FEATURES = (("small", "large"), ("", "sorted"))
TEMPLATE = """-- template: list
select x /* small.column */ /* large.column */ from t
/* sorted.order */

-- part: large.column
, y /* sorted.place */

-- part: sorted.order
order by x

-- part: sorted.place
, row_number() over (order by x)

-- part: small.column
, 1
"""


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Writes a file of queries under a name of its own and returns the name."""
    (tmp_path / "queries").mkdir()
    monkeypatch.setattr("reverie.store.queries.sql_directory", lambda: tmp_path)

    def once(text: str) -> str:
        stem = f"template_{uuid4().hex}"  # files are read once
        (tmp_path / "queries" / f"{stem}.sql").write_text(text)
        return stem

    return once


def test_a_variant_has_the_parts_of_its_features(write: Callable[[str], str]) -> None:
    texts = {features: " ".join(text.split()) for features, text in variants(write(TEMPLATE), "list", FEATURES).items()}
    assert texts == {
        ("small", ""): "select x , 1 from t",
        ("small", "sorted"): "select x , 1 from t order by x",
        ("large", ""): "select x , y from t",
        ("large", "sorted"): "select x , y , row_number() over (order by x) from t order by x",
    }


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("/* sorted.order */", ""),
        ("-- part: sorted.order", "-- part: sorted.other"),
        ("select x", "select x /* small.column */"),
        ("-- part: small.column", "-- part: tiny.column"),
        ("/* sorted.order */", "/* sorted.order */ /* sorted.more */"),
    ],
)
def test_a_template_whose_parts_do_not_fit_is_not_loaded(write: Callable[[str], str], old: str, new: str) -> None:
    assert old in TEMPLATE
    with pytest.raises(TemplateError):
        variants(write(TEMPLATE.replace(old, new, 1)), "list", FEATURES)


def statements() -> Iterator[tuple[str, str, str]]:
    """Each query's file, name and text, but those that Postgres cannot prepare."""
    for stem in STEMS:
        for name, text in queries(stem).items():
            if (stem, name) not in UTILITIES:
                yield stem, name, text
    for features, text in search_variants().items():
        yield "recall", f"search {' '.join(filter(None, features))}", text


def prepared(text: str, types: Mapping[str, str] = MappingProxyType({})) -> str:
    """The statement that plans a query, its named placeholders numbered as psycopg numbers them."""
    numbers: dict[str, int] = {}
    for mark, value in FILLED.items():
        text = text.replace(mark, value)
    text = re.sub(r"%\((\w+)\)s", lambda found: f"${numbers.setdefault(found[1], len(numbers) + 1)}", text)
    listed = f" ({', '.join(types.get(name, 'unknown') for name in numbers)})" if numbers else ""
    return f"prepare query{listed} as {text.replace('%%', '%')}"
