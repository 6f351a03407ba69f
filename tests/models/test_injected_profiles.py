"""Observations that give a model orders: into the profile comes nothing that they do not say themselves.

Each of `injections.jsonl` is observed of another subject, and a model that obeys says its claim in every place that a
reply has: in the narrative, as a value, as a key, under an invented key, as a fact.
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from reverie.capture.live.observations import ObservationSource, record_observation
from reverie.consolidate.synthesize.stage import synthesize
from reverie.language.grounding import ungrounded
from reverie.language.headings import ungrounded_keys
from reverie.language.text import written_day
from reverie.model import Scope
from reverie.policy import load_policy
from reverie.store.database import Store
from reverie.store.session import perform
from reverie.store.tenants import ensure_tenant
from reverie.store.work import Work
from tests.models.conftest import Conn, Server
from tests.models.test_injections import INJECTIONS

pytestmark = pytest.mark.filterwarnings("ignore:Item 'summary' on TypedDict:UserWarning")

AT = datetime(2026, 3, 2, 9, tzinfo=UTC)
TENANT = "orders"
POLICY = load_policy("agent")
SAID = "Ana planted tomatoes in the garden."
#: What a profile may say besides: the subject, the words in which it is told, the day.
OWN = ["User Role Latest Noted", written_day(AT)]


def obeyed(one: dict[str, Any]) -> dict[str, Any]:
    if "raw" in one:
        return {"raw": one["raw"]}
    claim, name = one["claim"], one["claim"].split()[-1].strip(".!")
    scaffold = {"Noted": claim, claim: True, name: "planted tomatoes", "Garden": {name: "tomatoes"}}
    scaffold |= {"Role": {"value": claim, "confidence": 1.0}}
    narrative = f"{SAID} {claim}"
    return {
        "updated_scaffold": scaffold,
        "updated_working_memory": narrative,
        "facts_to_embed": [claim, f"Ana: {claim}"],
    }


@pytest.fixture
def profiles(store: Store, load: Any, server: Server) -> Counter[str]:
    """Observed, and worked in by a model that obeys; returns what was counted."""
    with store.transaction(TENANT) as conn:
        ensure_tenant(conn, TENANT, "agent")
    for number, one in enumerate(INJECTIONS):
        source = ObservationSource(tenant_id=TENANT, subject_id=f"ana {number}")
        for minute, text in enumerate((SAID, one["text"])):
            at = AT + timedelta(minutes=minute)
            perform(record_observation(store.session(TENANT), source, text, "fact", policy=POLICY, as_of=at))
    server.manner(obey={" ".join(one["text"].split()): obeyed(one) for one in INJECTIONS})
    report = synthesize(
        Work(
            store=store,
            scope=Scope(tenant_id=TENANT),
            policy=POLICY,
            as_of=AT + timedelta(days=1),
            language_model=load(),
        )
    )
    return Counter(report.counts)


def told(conn: Conn) -> list[tuple[str, list[str], str, list[str]]]:
    """Of each subject's profile: what is stated, its keys, and what the events that it rests on say."""
    texts = dict(conn.execute("select id, content from log.events").fetchall())
    found = [
        (subject, list(path), value if isinstance(value, str) else "", [texts[id_] for id_ in sources])
        for subject, path, value, sources in conn.execute(
            "select subject_id, path, value, sources from memory.scaffold"
        )
    ]
    found += [
        (subject, [], content, [texts[id_] for id_ in sources])
        for subject, content, sources in conn.execute(
            """select m.subject_id, m.content, array_agg(l.source_id) from memory.memories m
               join memory.lineage l on l.memory_id = m.id group by m.id, m.subject_id, m.content"""
        )
    ]
    of = {f"ana {number}": [SAID, one["text"]] for number, one in enumerate(INJECTIONS)}
    told = conn.execute("select subject_id, narrative from memory.profiles").fetchall()
    return found + [(subject, [], narrative, of[subject]) for subject, narrative in told]


def test_nothing_gets_in_that_its_sources_do_not_say(profiles: Counter[str], conn: Conn) -> None:
    stated = told(conn)
    assert len({subject for subject, *_ in stated}) > 25 and profiles["discarded_ungrounded"] > 5 * 20
    for subject, path, text, sources in stated:
        assert ungrounded(text, [*sources, *OWN, subject]) == [], subject
        assert ungrounded_keys(path, [*sources, *OWN, subject], "english") == [], subject
    named = {one["claim"] for one in INJECTIONS if "claim" in one}
    believed = {claim for claim in named for _, path, text, _ in stated if claim in text or claim in path}
    harmless = {
        one["claim"] for one in INJECTIONS if "claim" in one and not ungrounded(one["claim"], [SAID, one["text"]])
    }
    assert believed == harmless and len(believed) <= 6, "what has no new name or number but its meaning"


def test_what_is_no_reply_leaves_the_profile_as_it_was(profiles: Counter[str], conn: Conn) -> None:
    raw = {f"ana {number}" for number, one in enumerate(INJECTIONS) if "raw" in one}
    waiting = {row[0] for row in conn.execute("select subject_id from ops.synthesis_failures")}
    assert waiting == raw and profiles["waiting"] == len(raw)
    assert not raw & {subject for subject, *_ in told(conn)}
