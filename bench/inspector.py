"""The time of the inspector's pages for a large tenant.

    python -m bench.inspector [--memories 1000000] [--requests 20]

Prints one JSON object: milliseconds of each page at the median and the 95th percentile. SQL generates the tenant: 478
memories, 133 turns and 20 triggers per subject, two speakers per subject, and flagged messages. It has no vectors, so
pages that call the embedding model are left out. The pages come from the app in this process, through an in-process
client. Needs the extra `embedded`.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable

import numpy as np
from fastapi.testclient import TestClient
from pydantic import SecretStr

from reverie.api.app import create_app
from reverie.inspector.app import INSPECTOR_PATH, mount_inspector
from reverie.settings import Settings
from reverie.store.connect import connect
from reverie.testing import database

KEY = "operator-key-of-the-bench-0123456789"
MEMORIES_EACH, TURNS_EACH = 478, 133
#: Statements that make the tenant, with `%(subjects)s` subjects.
_TENANT = (
    "insert into ops.tenants (tenant_id, policy, clock_at) values ('bench', 'reverie', '2026-06-01')",
    """insert into log.turns (tenant_id, id, subject_id, session_id, source_id, turn_index, role, speaker, said_at,
                              text, content_hash)
       select 'bench', md5('t' || s || '-' || n)::uuid, 'subject-' || s, 's' || n / 10, n::text, n, 'user',
              case n %% 2 when 0 then 'Speaker ' || s else 'Bot' end,
              timestamptz '2026-01-01' + make_interval(hours => n), 'Turn ' || n || ' of ' || s, ''
       from generate_series(1, %(subjects)s) s, generate_series(1, %(turns)s) n""",
    """insert into memory.memories (tenant_id, id, happened_at, accessed_at, decayed_at, base, peak, importance, kind,
                                    state, subject_id, content, content_hash, origin, run_id, policy_hash)
       select 'bench', md5('m' || s || '-' || n)::uuid, at, at, at, 0.5, 0.5, 0.5, 'fact',
              case n %% 8 when 0 then 'merged' else 'active' end, 'subject-' || s, 'Memory ' || n || ' of ' || s,
              ''::bytea, 'bench', md5('r')::uuid, 'x'
       from generate_series(1, %(subjects)s) s, generate_series(1, %(memories)s) n,
            lateral (select timestamptz '2026-01-01' + make_interval(hours => n)) x (at)""",
    """insert into memory.subjects (tenant_id, subject_id, items, terms, speakers)
       select 'bench', 'subject-' || s, 0, 0, array['Bot', 'Speaker ' || s] from generate_series(1, %(subjects)s) s""",
    """insert into memory.triggers (tenant_id, id, subject_id, kind, audience, happened_at, due_at, until_at, why,
                                    run_id)
       select 'bench', md5('g' || s || '-' || n)::uuid, 'subject-' || s, 'silence', 'caller', at, at,
              at + interval '7 days', '{"expected_hours": 50.5}', md5('r')::uuid
       from generate_series(1, %(subjects)s) s, generate_series(1, 20) n,
            lateral (select timestamptz '2026-01-01' + make_interval(days => n * 7)) x (at)""",
    """insert into ops.reviews (tenant_id, turn_id, subject_id, session_id, reason, flagged_at)
       select 'bench', md5('t' || s || '-1')::uuid, 'subject-' || s, 's0', 'crisis', timestamptz '2026-01-01'
       from generate_series(1, %(subjects)s, 10) s""",
)
_PAGES = {
    "subjects": "subjects",
    "subjects, later": "subjects?after=subject-5",
    "search of a name": "subjects?search=ject-199",
    "search of a speaker": "subjects?search=speaker 77",
    "search of nobody": "subjects?search=zzz",
    "subject": "subject?subject=subject-7",
    "subject, sessions": "subject?subject=subject-7&view=sessions",
    "subject, signals": "subject?subject=subject-7&view=signals",
    "triggers": "triggers",
    "triggers, all": "triggers?all=yes",
    "reviews": "reviews",
    "overview": "tenant",
    "audit": "audit",
}


def make_tenant(url: str, memories: int) -> None:
    """Write the tenant."""
    numbers = {"subjects": memories // MEMORIES_EACH, "memories": MEMORIES_EACH, "turns": TURNS_EACH}
    with connect(url) as conn:
        for statement in _TENANT:
            conn.execute(statement, numbers)
        conn.execute("vacuum analyze")


def measure(ask: Callable[[str], None], requests: int) -> dict[str, dict[str, float]]:
    """Ask for the pages in turn, so that other load affects all alike; return milliseconds by page."""
    times: dict[str, list[float]] = {name: [] for name in _PAGES}
    for _ in range(requests + 2):
        for name, page in _PAGES.items():
            began = time.perf_counter()
            ask(page)
            times[name].append(1e3 * (time.perf_counter() - began))
    return {
        name: {"p50_ms": round(float(np.median(each[2:])), 1), "p95_ms": round(float(np.percentile(each[2:], 95)), 1)}
        for name, each in times.items()
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--memories", type=int, default=1_000_000)
    parser.add_argument("--requests", type=int, default=20)
    given = parser.parse_args()
    with database() as url:
        make_tenant(url, given.memories)
        settings = Settings.model_validate({"DATABASE_URL": SecretStr(url)})
        app = create_app(settings)
        mount_inspector(app, settings, operator_key=KEY)
        with TestClient(app, base_url="http://testserver") as client:
            base = f"{INSPECTOR_PATH}/"
            token = client.get(f"{base}sign-in").text.partition('name="token" value="')[2].partition('"')[0]
            assert client.post(f"{base}sign-in", data={"key": KEY, "token": token}).status_code == 200

            def ask(page: str) -> None:
                joined = "&" if "?" in page else "?"
                answer = client.get(f"{base}{page}{joined}tenant=bench")
                assert answer.status_code == 200, answer.text

            print(json.dumps({"memories": given.memories, "pages": measure(ask, given.requests)}, indent=2))


if __name__ == "__main__":
    main()
