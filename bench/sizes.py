"""The disk space of memory, and the time of consolidating a history, for docs/sizing.md.

    python bench/sizes.py [--data ../shared/data/retrieval] [--turns 6000] [--copies 10]

Takes the LoCoMo turns, copied to `--copies` subjects for each of theirs, with random vectors; the cost of a model is in
`embed`. Seconds are of this process, one bucket at a time, and its CPU with the server's. The sizes are taken after a
VACUUM, per schema, with indexes.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from bench.pipeline import TENANT, Noise, consolidate, server, write_copies, write_turns
from bench.processor import cpu_seconds
from bench.report import print_table
from reverie.capture.history.importing import import_file
from reverie.policy import load_policy
from reverie.store.connect import connect
from reverie.store.database import Store

_SIZES = """
select n.nspname, sum(pg_total_relation_size(c.oid))::bigint
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where c.relkind = 'r' and n.nspname in ('log', 'memory', 'ops') group by 1 order by 1
"""


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/retrieval"))
    parser.add_argument("--turns", type=int, default=6000)
    parser.add_argument("--copies", type=int, default=10)
    given = parser.parse_args()
    with server() as url, tempfile.TemporaryDirectory() as folder, Store.open(url) as store:
        path = Path(folder) / "turns.jsonl"
        source = write_turns(path, given.data, given.turns)
        began, cpu = time.perf_counter(), cpu_seconds(url)
        summary = import_file(store, write_copies(path, given.copies), tenant_id=TENANT)
        imported, import_cpu = time.perf_counter() - began, cpu_seconds(url) - cpu
        assert summary.last is not None
        began, cpu = time.perf_counter(), cpu_seconds(url)
        consolidate(store, load_policy("reverie"), Noise(), summary.last, 1)
        worked, work_cpu = time.perf_counter() - began, cpu_seconds(url) - cpu
        with connect(url) as conn:
            conn.execute("vacuum")
            sizes = conn.execute(_SIZES).fetchall()
            (memories,) = conn.execute("select count(*) from memory.memories where state = 'active'").fetchone() or (0,)
    turns, total = summary.imported, sum(size for _, size in sizes)
    print_table(
        f"{turns:,} turns ({source}), {memories:,} active memories",
        ("", "MB", "bytes a turn", "bytes an active memory"),
        [
            (name, f"{size / 1e6:.0f}", f"{size / turns:,.0f}", f"{size / memories:,.0f}")
            for name, size in [*sizes, ("all", total)]
        ],
    )
    print_table(
        "Seconds",
        ("", "wall", "CPU", "turns a CPU second"),
        [
            ("import", f"{imported:.1f}", f"{import_cpu:.1f}", f"{turns / import_cpu:,.0f}"),
            ("everything else", f"{worked:.1f}", f"{work_cpu:.1f}", f"{turns / work_cpu:,.0f}"),
        ],
    )


if __name__ == "__main__":
    main()
