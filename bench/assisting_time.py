"""The time of assisting on synthetic memories: tools and an inbox of one large subject, a poll of many subjects.

    python -m bench.assisting_time [--subjects 1000 10000] [--turns 20000]

The large subject has a call of a tool and an outcome every tenth turn, and a memory for every hundredth. Each of the
many subjects has ten memories and five structured facts. Prints medians in milliseconds, without a network.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from bench.memory_histories import Running, running
from bench.report import machine, print_table
from reverie.recall.assist.inbox import InboxItem, rank_inbox
from reverie.recall.assist.states import poll_states
from reverie.recall.assist.tools import suggest_tools
from reverie.recall.query import RecallQuery
from reverie.store.queries import queries
from reverie.store.session import perform
from reverie.store.tenants import ensure_tenant

NOW = datetime(2026, 6, 1, tzinfo=UTC)
REPEATS = 15
SQL = Path(__file__).with_suffix(".sql")


def fill(bench: Running, tenant: str, what: str, number: int) -> None:
    """Write the `large` subject of a tenant, or its `many` subjects, and refresh the planner's statistics."""
    (block,) = [each for each in SQL.read_text(encoding="utf-8").split("-- ") if each.startswith(f"{what}:")]
    params = {"tenant": tenant, "model": bench.embedder.model, "number": number}
    with bench.store.transaction(tenant) as conn:
        ensure_tenant(conn, tenant, bench.policy.name)
        for statement in block.partition("\n")[2].split(";\n"):
            conn.execute(statement.encode(), params)
        conn.execute(queries("cycle")["analyze_tables"])


def milliseconds(call: Callable[[], object], repeats: int = REPEATS) -> str:
    """Return the median time of a call, without the first one, which prepares statements."""
    times = []
    for _ in range(repeats + 1):
        began = time.perf_counter()
        call()
        times.append(1000 * (time.perf_counter() - began))
    return f"{median(times[1:]):.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--subjects", nargs="+", type=int, default=[1000, 10_000])
    parser.add_argument("--turns", type=int, default=20_000)
    given = parser.parse_args()
    rows = []
    with running("reverie") as bench:
        fill(bench, "large", "large", given.turns)
        rows += [
            ("tools", f"{given.turns:,} turns", milliseconds(partial(ask_tools, bench))),
            ("an inbox of 50", f"{given.turns // 100:,} memories", milliseconds(partial(ask_inbox, bench))),
        ]
        for number in given.subjects:
            tenant, over = f"many{number}", f"{number:,} subjects"
            fill(bench, tenant, "many", number)
            poll(bench, tenant)
            rows += [
                ("a poll without a change", over, milliseconds(partial(poll, bench, tenant, after=number), 5)),
                ("a poll of one subject", over, milliseconds(partial(poll, bench, tenant, subjects=["p7"]))),
            ]
    print_table("Assisting, median", ("request", "over", "ms"), rows)
    print(machine())


def ask_tools(bench: Running) -> object:
    """Ask for tools for a message of the large subject."""
    query = RecallQuery(text="When is the post office on the square open?", subject_id="large", as_of=NOW)
    return perform(suggest_tools(bench.store.session("large"), query, policy=bench.policy, embedder=bench.embedder))


def ask_inbox(bench: Running) -> object:
    """Rank fifty items for the large subject."""
    found = rank_inbox(
        bench.store.session("large"),
        subject_id="large",
        items=[InboxItem(id=str(n), text=f"Item number {n} of the inbox") for n in range(50)],
        as_of=NOW,
        policy=bench.policy,
        embedder=bench.embedder,
    )
    return perform(found)


def poll(bench: Running, tenant: str, **more: Any) -> object:
    """Poll the states of a tenant."""
    options: dict[str, Any] = {"now": NOW, "limit": 50, "sensitivity": bench.policy.sensitivity} | more
    return perform(poll_states(bench.store.session(tenant), **options))


if __name__ == "__main__":
    main()
