"""The time of building the marts for many memories: `python -m bench.marts [--memories 1000000]`.

bench/marts.sql generates rows of a thousand subjects of ten tenants over two years, in a separate database that is
dropped at the end, on the server of DATABASE_URL or the embedded one. Prints seconds of the first build, of a second
one after another day of turns, and of the slowest models.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from psycopg import Connection

from assets.dbt_project import PROJECT, QUIET, TARGET, dbt_program
from reverie.settings import load_settings
from reverie.store.connect import connect
from reverie.store.migrate import migrate
from reverie.store.server.address import database_url, libpq_environment
from reverie.testing import DatabaseFactory

DAYS = 730
MEMORIES_PER_TURN = 0.8


def main() -> None:
    """Generate, build, add a day, build again."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--threads", type=int, default=4)
    options = parser.parse_args()
    count = round(options.memories / MEMORIES_PER_TURN)
    with DatabaseFactory(database_url(load_settings()), prefix="reverie_bench_marts").empty() as url:
        migrate(url)
        began = time.perf_counter()
        with connect(url) as conn:
            generate(conn, count)
            print(f"generated {options.memories:,} memories in {time.perf_counter() - began:.0f} s")
            report("first build", url, options.threads)
            add_turns(conn, first=count, count=count // DAYS, days=1, late=True)
        report("after a day", url, options.threads)


def statements() -> dict[str, Any]:
    """Return the statements of bench/marts.sql by name."""
    text = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")
    pieces = re.split(r"^-- (\w+)$", text, flags=re.MULTILINE)
    return dict(zip(pieces[1::2], pieces[2::2], strict=True))


def generate(conn: Connection[Any], count: int) -> None:
    """Fill a migrated database from a log of `count` turns."""
    sql = statements()
    conn.execute("set synchronous_commit = off")
    conn.execute(sql["id"])
    conn.execute(sql["tenants"])
    add_turns(conn, first=0, count=count, days=DAYS, late=False)
    for name in ("extractions", "memories", "lineage", "tombstones", "recalls", "runs"):
        conn.execute(sql[name])
    conn.execute("vacuum (analyze)")


def add_turns(conn: Connection[Any], *, first: int, count: int, days: int, late: bool) -> None:
    """Write turns of the last `days` days; `late`: recorded now, else when they were said."""
    start = datetime.now(UTC) - timedelta(days=days)
    numbers = {"first": first, "count": count, "days": days, "start": start, "late": late}
    conn.execute(statements()["turns"], numbers)


def report(label: str, url: str, threads: int) -> None:
    """Build all marts without tests, and print how long dbt, all models and the slowest of them took."""
    variables = libpq_environment(url, "reverie_analyst") | QUIET | {"REVERIE_MARTS_THREADS": str(threads)}
    began = time.perf_counter()
    subprocess.run([dbt_program(), "--quiet", "run"], env=os.environ | variables, check=True, cwd=PROJECT)
    wall = time.perf_counter() - began
    results = json.loads((TARGET / "run_results.json").read_text())
    slowest = sorted(results["results"], key=lambda each: -each["execution_time"])[:6]
    names = ", ".join(f"{each['unique_id'].rpartition('.')[2]} {each['execution_time']:.1f}" for each in slowest)
    print(f"{label}: {wall:.1f} s, of which models {results['elapsed_time']:.1f} s ({names})", flush=True)


if __name__ == "__main__":
    main()
