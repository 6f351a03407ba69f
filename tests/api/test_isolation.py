"""Promise 8 at the door: with another tenant's key nothing of a tenant can be seen, changed, or told to exist.

Every route of the app is tried; a new one fails the first test until it is in the table.
"""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

import psycopg
import pytest
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient

from reverie.api.app import create_app
from reverie.api.routing import PREFIX
from reverie.settings import Settings
from tests.api.conftest import MakeKey
from tests.recall.conftest import Corpus

#: What each route is sent: parameters or a body, in which {memory} and the like stand for the ids of a tenant's things.
REQUESTS: dict[str, dict[str, Any]] = {
    "POST /v1/turns": {
        "subject_id": "{subject}",
        "session_id": "s1",
        "turns": [{"source_id": "t1", "role": "user", "text": "I have a dog.", "said_at": "2026-01-01T00:00:00Z"}],
    },
    "POST /v1/sessions/close": {"subject_id": "{subject}", "session_id": "s1"},
    "GET /v1/working_memory": {"subject_id": "{subject}", "session_id": "s1"},
    "PATCH /v1/working_memory": {"subject_id": "{subject}", "session_id": "s1", "preferences": ["tea"]},
    "POST /v1/observations": {"subject_id": "{subject}", "source_id": "o1", "category": "fact", "content": "Is tall."},
    "POST /v1/documents": {"subject_id": "{subject}", "source_id": "o1", "channel": "tool", "text": "Is tall."},
    "POST /v1/user_context": {"subject_id": "{subject}", "source_id": "o1", "scaffold_updates": {"height": "tall"}},
    "POST /v1/connection_context": {
        "subject_id": "{subject}",
        "source_id": "o1",
        "connection_id": "jira",
        "learned": {"project": "X"},
    },
    "POST /v1/corrections": {"memory_id": "{memory}", "kind": "wrong"},
    "POST /v1/recalls/staged": {"subject_id": "{subject}", "question": "quartz"},
    "POST /v1/contexts": {"subject_id": "{subject}", "session_id": "s1", "question": "quartz"},
    "GET /v1/contexts/{context_id}": {},
    "PUT /v1/connection_tools": {"subject_id": "{subject}", "connection_id": "jira", "tools": ["jira.search"]},
    "GET /v1/connections": {"subject_id": "{subject}"},
    "GET /v1/reviews": {},
    "POST /v1/reviews/{turn_id}/seen": {},
    "GET /v1/facts": {"subject_id": "{subject}"},
    "GET /v1/profile": {"subject_id": "{subject}"},
    "POST /v1/recalls": {"subject_id": "{subject}", "question": "quartz", "why": True},
    "GET /v1/memories": {"subject_id": "{subject}"},
    "GET /v1/memories/{memory_id}": {},
    "GET /v1/entities": {"subject_id": "{subject}"},
    "GET /v1/conflicts": {"subject_id": "{subject}"},
    "GET /v1/graph": {"subject_id": "{subject}"},
    "POST /v1/erasures": {"kind": "turn", "turn_id": "{turn}", "preview": True},
    "POST /v1/tool_suggestions": {"subject_id": "{subject}", "message": "quartz"},
    "POST /v1/lessons": {"subject_id": "{subject}", "message": "quartz"},
    "POST /v1/inbox_rankings": {"subject_id": "{subject}", "items": [{"id": "1", "text": "Quartz"}]},
    "GET /v1/states": {"subject_id": "{subject}"},
    "GET /v1/erasures": {},
    "GET /v1/exports": {"subject_id": "{subject}"},
    "GET /v1/consent": {"subject_id": "{subject}"},
    "PUT /v1/consent": {"subject_id": "{subject}", "recall": False},
    "GET /v1/life_events": {"subject_id": "{subject}", "as_of": "2026-01-02T00:00:00Z"},
    "GET /v1/life_events/calendar": {"subject_id": "{subject}", "as_of": "2026-01-02T00:00:00Z"},
    "GET /v1/triggers": {"subject_id": "{subject}", "every": True, "as_of": "2026-01-02T00:00:00Z"},
    "POST /v1/triggers/{trigger_id}/acknowledge": {"action": "done"},
    "GET /v1/signals": {"subject_id": "{subject}", "as_of": "2026-01-02T00:00:00Z"},
    "POST /v1/webhooks": {"url": "https://example.org/hook", "events": ["trigger.due"]},
    "GET /v1/webhooks": {},
    "DELETE /v1/webhooks/{webhook_id}": {},
    "POST /v1/webhooks/{webhook_id}/replay": {},
    "POST /v1/store": {"operations": [{"op": "search", "prefix": ["{subject}"]}]},
    "POST /v1/outcomes": {
        "outcomes": [
            {
                "subject_id": "{subject}",
                "session_id": "s1",
                "source_id": "1",
                "metric": "m",
                "value": 1,
                "positive": True,
                "observed_at": "2026-01-01T00:00:00Z",
            }
        ]
    },
}
#: What differs between any two requests.
VOLATILE = {"id", "asked_at", "assembled_at", "observed_at", "event_id", "turn_id", "flush_at", "opened_at",
            "touched_at", "expires_at", "waiting", "changed_at", "erased_at", "hash", "secret"}  # fmt: skip
#: What an append says of itself is the same for all; that it stays apart the rows tell.
SAME_FOR_ALL = ("turns", "PATCH", "observations", "documents", "user_context", "connection_context", "outcomes",
                 "connection_tools", "PUT /v1/consent", "POST /v1/webhooks")  # fmt: skip


def routes() -> list[str]:
    app = create_app(Settings.model_validate({"embedding_model": "none"}))
    return sorted(
        f"{method} {route.path}"
        for route in app.routes
        if isinstance(route, APIRoute) and route.path.startswith(PREFIX)
        for method in route.methods
    )


def test_every_route_is_tried() -> None:
    assert routes() == sorted(REQUESTS)


@pytest.fixture
def owned(corpus: Corpus, conn: psycopg.Connection[Any]) -> dict[str, str]:
    """Things of tenant acme, by the names that requests know them by."""
    turn = corpus.turn("I found quartz", speaker="Ann")
    memory = corpus.memory("Found quartz", turn=turn)
    conn.execute(
        "insert into memory.entities (tenant_id, id, subject_id, type, slug, label, terms, first_seen_at)"
        " values ('acme', ops.entity_id('acme', 'ann', 'thing:quartz'), 'ann', 'thing', 'quartz', 'Quartz', '{quartz}',"
        " '2026-01-01T00:00:00Z')"
    )
    conn.execute(
        "insert into memory.structured_facts (tenant_id, id, subject_id, category, key, value, confidence, importance,"
        " valid_from, memory_id, origin, run_id, policy_hash) values ('acme', %(memory)s, 'ann', 'identity', 'stone',"
        " 'quartz', 0.9, 0.9, '2026-01-01T00:00:00Z', %(memory)s, 'test', %(memory)s, 'test')",
        {"memory": memory},
    )
    conn.execute(
        "insert into memory.conflicts (tenant_id, subject_id, memory_id, other_id, relation, reason, since, run_id)"
        " values ('acme', 'ann', %(memory)s, %(other)s, 'owns', 'test', '2026-01-01T00:00:00Z', %(memory)s)",
        {"memory": memory, "other": corpus.memory("Lost quartz", turn=turn)},
    )
    conn.execute(
        "insert into ops.sessions (tenant_id, subject_id, session_id, opened_at, since, touched_at, expires_at)"
        " values ('acme', 'ann', 's1', now(), now(), now(), now() + interval '1 day')"
    )
    conn.execute(
        "insert into ops.reviews (tenant_id, turn_id, subject_id, session_id, reason, flagged_at)"
        " values ('acme', %s, 'ann', 's1', 'crisis', '2026-01-01T00:00:00Z')",
        [turn],
    )
    conn.execute(
        "insert into ops.store_items (tenant_id, namespace, key, value, created_at, updated_at)"
        " values ('acme', '{ann}', 'stone', '{\"name\": \"quartz\"}', now(), now())"
    )
    context = UUID(int=7)
    conn.execute(
        "insert into log.contexts (tenant_id, id, subject_id, assembled_at, form, policy_hash, tokenizer, total_tokens,"
        " sections, item_ids, dropped_ids) values ('acme', %s, 'ann', now(), 'reverie', 'p', 't', 1, '[]', '{}', '{}')",
        [context],
    )
    conn.execute(
        "insert into ops.consents (tenant_id, subject_id, retain_days, changed_at) values ('acme', 'ann', 9, now())"
    )
    conn.execute(
        "insert into ops.erasures values ('acme', 1, %s, 'turn', '', '{}', now(), null, '', '')", [UUID(int=9)]
    )
    conn.execute("insert into ops.connection_tools values ('acme', 'ann', 'mail', '[]', now(), now())")
    trigger, webhook = UUID(int=10), UUID(int=11)
    conn.execute(
        "insert into memory.triggers (tenant_id, id, subject_id, kind, audience, happened_at, due_at, until_at, why,"
        " run_id) values ('acme', %(id)s, 'ann', 'silence', 'caller', '2026-01-01', '2026-01-01', '2026-01-09', '{}',"
        " %(id)s)",
        {"id": trigger},
    )
    conn.execute(
        "insert into memory.ties (tenant_id, subject_id, day, zone, churn_risk, strength, why, run_id)"
        " values ('acme', 'ann', '2026-01-01', 'UTC', 0, 0.5, '{}', %s)",
        [trigger],
    )
    conn.execute(
        "insert into memory.life_events (tenant_id, id, subject_id, speaker, kind, title, first_on, last_on, precision,"
        " certainty, zone, yearly, worth, told_at, turn_id, place, state, run_id) values ('acme', %(id)s, 'ann', '',"
        " 'planned', 'Quartz fair', '2026-01-03', '2026-01-03', 'day', 'date', 'UTC', false, 1, '2026-01-01', %(turn)s,"
        " 0, 'planned', %(id)s)",
        {"id": trigger, "turn": turn},
    )
    conn.execute(
        "insert into ops.subscriptions values ('acme', %s, 'https://example.org', '', '{trigger.due}', now())",
        [webhook],
    )
    ids = {"memory": memory, "turn": turn, "context": context, "trigger": trigger, "webhook": webhook}
    return {"subject": "ann"} | {name: str(id_) for name, id_ in ids.items()}


#: The same names for what nobody has.
NOBODYS = {"subject": "zed", "memory": str(UUID(int=5)), "turn": str(UUID(int=6)), "context": str(UUID(int=8))} | {
    "trigger": str(UUID(int=12)), "webhook": str(UUID(int=13))
}  # fmt: skip


@pytest.mark.parametrize("route", sorted(REQUESTS))
def test_anothers_is_as_if_it_did_not_exist(
    app: TestClient, make_key: MakeKey, owned: dict[str, str], conn: psycopg.Connection[Any], route: str
) -> None:
    def ask(tenant: str, things: dict[str, str]) -> tuple[int, str]:
        method, path = route.split()
        for name, id_ in things.items():
            path = path.replace(f"{{{name}_id}}", id_)
        sent = filled(REQUESTS[route], things)
        kind = "params" if method in ("GET", "DELETE") else "json"
        headers = {"Authorization": f"Bearer {make_key(tenant, scopes=['admin'])}"}
        answer = app.request(method, path, headers=headers, **{kind: sent})
        is_json = answer.headers.get("content-type", "").endswith(("/json", "+json"))
        text = json.dumps(without_volatile(answer.json())) if is_json else answer.text
        for name, id_ in things.items():
            text = text.replace(f'"{id_}"', f'"<{name}>"').replace(f" {id_}", f" <{name}>")
            text = text.replace(f"'{id_}'", f"'<{name}>'").replace(f":{id_}\r", f":<{name}>\r")
        return answer.status_code, text

    before = rows_of(conn, "acme")
    anothers = ask("globex", owned)
    assert rows_of(conn, "acme") == before
    assert anothers == ask("globex", NOBODYS)
    if not any(each in route for each in SAME_FOR_ALL):
        assert ask("acme", owned) != anothers, "the owner sees more, so the comparison tells something"


def filled(value: Any, things: dict[str, str]) -> Any:
    """The request with the ids in their places."""
    if isinstance(value, dict):
        return {name: filled(each, things) for name, each in value.items()}
    if isinstance(value, list):
        return [filled(each, things) for each in value]
    return value.format(**things) if isinstance(value, str) else value


def without_volatile(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_volatile(each) for name, each in value.items() if name not in VOLATILE}
    return [without_volatile(each) for each in value] if isinstance(value, list) else value


def rows_of(conn: psycopg.Connection[Any], tenant: str) -> dict[str, list[str]]:
    """Every row of a tenant, in every table but the keys that the test itself makes."""
    tables = conn.execute(
        "select c.oid::regclass::text from pg_class c join pg_namespace n on n.oid = c.relnamespace"
        " where n.nspname in ('log', 'memory', 'ops') and c.relkind = 'r'"
    ).fetchall()
    found: dict[str, list[str]] = {}
    for (table,) in tables:
        if table not in ("ops.migrations", "ops.api_keys"):
            rows = conn.execute(f"select t::text from {table} t where tenant_id = %s order by 1", [tenant]).fetchall()  # noqa: S608
            found[table] = [row[0] for row in rows]
    return found
