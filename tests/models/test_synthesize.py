"""The memory processor with a language model: good replies, bad ones, none; what it states stands on what it saw."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import NAMESPACE_OID, UUID, uuid5

import pytest

from reverie.capture.live.observations import (
    ObservationSource,
    record_observation,
    update_connection_context,
    update_user_context,
)
from reverie.consolidate.synthesize.stage import synthesize
from reverie.drive.cycle import catch_up, ingest
from reverie.errors import UnansweredError
from reverie.model import Scope, stable_id
from reverie.policy import Policy, load_policy
from reverie.recall.profile import Profile, load_profile
from reverie.recall.scaffold import explain_entry
from reverie.store.database import Store
from reverie.store.runs import Report
from reverie.store.session import perform
from reverie.store.tenants import ensure_tenant
from reverie.store.work import Work
from tests.models.conftest import Conn, Server, calls, give
from tests.promises.world import WordEmbedder

pytestmark = pytest.mark.filterwarnings("ignore:Item 'summary' on TypedDict:UserWarning")

AT = datetime(2026, 3, 2, 9, tzinfo=UTC)
TENANT = "acme"
POLICY = load_policy("agent")
TOLD = "Ana leads the toolstream project."
Run = Callable[..., Report]


@pytest.fixture
def tenant(store: Store) -> None:
    with store.transaction(TENANT) as conn:
        ensure_tenant(conn, TENANT, "agent")


@pytest.fixture
def observe(store: Store, tenant: None) -> Callable[..., UUID]:
    def one(content: str, category: Any = "fact", *, hours: float = 0, subject: str = "ana") -> UUID:
        source = ObservationSource(tenant_id=TENANT, subject_id=subject)
        at = AT + timedelta(hours=hours)
        return perform(
            record_observation(store.session(TENANT), source, content, category, policy=POLICY, as_of=at)
        ).event_id

    return one


@pytest.fixture
def update(store: Store, tenant: None) -> Callable[..., None]:
    def one(updates: dict[str, Any], *, hours: float = 0, learned: tuple[str, ...] = ()) -> None:
        source, at = ObservationSource(tenant_id=TENANT, subject_id="ana"), AT + timedelta(hours=hours)
        recorded = update_user_context(
            store.session(TENANT),
            source,
            scaffold_updates=updates,
            persistent_info_additions=learned,
            policy=POLICY,
            as_of=at,
        )
        perform(recorded)

    return one


@pytest.fixture
def run(store: Store, load: Any) -> Run:
    """Synthesize so many days after, by the server's model, or by rules."""

    def once(days: float = 1, policy: Policy = POLICY, rules: bool = False, **limits: Any) -> Report:
        return synthesize(
            Work(
                store=store,
                scope=Scope(tenant_id=TENANT),
                policy=policy,
                as_of=AT + timedelta(days=days),
                language_model=None if rules else load(**limits),
            )
        )

    return once


def reply(scaffold: Any, narrative: str = TOLD, facts: Any = ()) -> dict[str, Any]:
    one = {"number": 1, "updated_scaffold": scaffold, "updated_working_memory": narrative, "facts_to_embed": facts}
    return {"content": json.dumps({"replies": [one]})}


def read(store: Store, days: float = 2) -> Profile:
    who: dict[str, Any] = {"subject_id": "ana", "policy": POLICY}
    return perform(load_profile(store.session(TENANT), **who, as_of=AT + timedelta(days=days)))


def entries(conn: Conn) -> list[tuple[Any, ...]]:
    return conn.execute(
        "select array_to_string(path, '/'), value, confidence, basis, state from memory.scaffold"
        " order by valid_from, path"
    ).fetchall()


def test_a_good_reply_becomes_a_profile(run: Run, server: Server, observe: Any, store: Store, conn: Conn) -> None:
    lead = observe("Ana leads the toolstream project")
    email = observe("prefers short emails", "preference", hours=1)
    scaffold = {"Projects": {"toolstream": "leads it"}, "Style": {"value": "short emails", "confidence": 0.8}}
    server.script(reply(scaffold, facts=["User prefers short emails about toolstream"]))
    report = run()
    (request,) = server.requests
    shown = json.loads(request["messages"][-1]["content"].removeprefix("<data>").removesuffix("</data>"))["items"][0]
    assert shown == {
        "number": 1,
        "date": "2 March 2026",
        "current_working_memory": "",
        "current_scaffold": {},
        "new_observations": [
            {"type": "fact", "text": "Ana leads the toolstream project"},
            {"type": "preference", "text": "prefers short emails"},
        ],
    }
    counts = {name: report[name] for name in ("observations", "by_rules", "entries", "narratives", "facts", "waiting")}
    assert counts == {"observations": 2, "by_rules": 0, "entries": 2, "narratives": 1, "facts": 1, "waiting": 0}
    assert entries(conn) == [
        ("Projects/toolstream", "leads it", 0.9, "said", "active"),
        ("Style", "short emails", 0.8, "said", "active"),
    ]
    assert conn.execute("select sources, model from memory.scaffold order by path").fetchall() == [
        ([lead], "litellm/openai/ours"), ([email], "litellm/openai/ours")
    ]  # fmt: skip
    found = read(store)
    assert found.narrative(500) == TOLD and found.scaffold() == {
        "Projects": {"toolstream": "leads it"}, "Style": "short emails"
    }  # fmt: skip
    assert found.note == "The narrative is by litellm/openai/ours, 1 days old."
    ((id_, content, kind, state, origin, model),) = conn.execute(
        "select id, content, kind, state, origin, model from memory.memories"
    ).fetchall()
    metadata = {"context_type": "user_profile", "org_id": TENANT, "source": "system_learned", "user_id": "ana"}
    name = json.dumps([content, metadata], separators=(",", ":"))
    assert id_ == stable_id(AT + timedelta(hours=1), str(uuid5(NAMESPACE_OID, name)))
    assert (kind, state, origin, model) == ("fact", "candidate", "synthesis", "litellm/openai/ours")
    assert conn.execute("select relation, source, source_id from memory.lineage").fetchall() == [
        ("synthesized", "event", email)
    ]
    assert calls(conn, "stage, prompt, run_id") == [("synthesize", "synthesize", report.run_id)]
    again = run(days=3)
    assert again["observations"] == 0 and len(server.requests) == 1, "each is worked in once"


def test_json_in_strings_is_unwrapped_however_deep(run: Run, server: Server, observe: Any, conn: Conn) -> None:
    observe("Ana leads the toolstream project")
    inner = {"Projects": json.dumps({"toolstream": json.dumps({"role": "leads"})})}
    server.script(reply(json.dumps(inner), facts='["Ana leads toolstream"]'))
    report = run()
    assert entries(conn) == [("Projects/toolstream/role", "leads", 0.9, "said", "active")]
    assert (report["facts"], report["repaired"]) == (1, 1)


def test_a_narrative_that_is_too_long_is_asked_again_and_then_cut(
    run: Run, server: Server, observe: Any, store: Store
) -> None:
    policy = POLICY.model_copy(update={"profile": POLICY.profile.model_copy(update={"narrative_words": 8})})
    observe("Ana leads the toolstream project")
    server.script(*[reply({}, f"{TOLD} It is about streams. And more of it.")] * 2)
    report = run(policy=policy)
    assert report["asked_again"] == 1 and "9 words" not in str(server.requests[1])
    assert "8 are allowed" in server.requests[1]["messages"][0]["content"]
    assert read(store).narrative(500) == TOLD


def test_what_nobody_said_is_left_out(run: Run, server: Server, observe: Any, store: Store, conn: Conn) -> None:
    observe("leads the toolstream project")
    invented = reply(
        {"Role": "leads Zephyr", "Budget": 9999, "Project": "toolstream"},
        "The user leads a project. Mallory owns it.",
        ["Mallory owns toolstream", "User leads toolstream"],
    )
    server.script(invented, invented)
    report = run()
    assert report["asked_again"] == 1 and report["discarded_ungrounded"] == 3
    assert entries(conn) == [("Project", "toolstream", 0.9, "said", "active")]
    assert read(store).narrative(500) == "The user leads a project."
    assert conn.execute("select content from memory.memories").fetchall() == [("User leads toolstream",)]


def test_who_is_better_founded_stands_and_conflicts_are_listed(
    run: Run, server: Server, observe: Any, update: Any, store: Store, conn: Conn
) -> None:
    observe("works as a nurse")
    server.script(reply({"Role": "nurse"}))
    run()
    update({"Role": "doctor"}, hours=30)
    server.script(reply({"Role": "doctor"}))
    assert run(days=2)["conflicts"] == 1
    assert entries(conn) == [
        ("Role", "nurse", 0.9, "said", "active"),
        ("Role", "doctor", 0.7, "autonomous", "outweighed"),
    ]
    (conflict,) = read(store, 3).conflicts
    assert (conflict.path, conflict.entry.value, conflict.against) == (["Role"], "doctor", "said")
    observe("the role is surgeon", "correction", hours=60)
    server.script(reply({"Role": "surgeon"}))
    assert run(days=3)["replaced"] == 1
    held = read(store, 4)
    assert held.scaffold() == {"Role": "surgeon"} and len(held.conflicts) == 2
    assert read(store, 2.1).scaffold() == {"Role": "nurse"}, "as of then"
    explained = perform(explain_entry(store.session(TENANT), str(held.active[0].id)[:20], AT + timedelta(days=4)))
    assert [(one.source, one.content) for one in explained.sources] == [("event", "the role is surgeon")]
    assert [one.value for one in explained.others] == ["nurse", "doctor"]


def test_what_no_observation_speaks_of_stays(run: Run, server: Server, observe: Any, conn: Conn) -> None:
    observe("works as a nurse in Pune")
    server.script(reply({"Role": "nurse", "City": "Pune"}))
    run()
    observe("no longer lives in Pune", hours=30)
    server.script(reply({"Role": "works as something", "City": None}))
    report = run(days=2)
    assert report["discarded_unfounded"] == 1
    assert [row for row in entries(conn) if row[4] == "active"] == [
        ("Role", "nurse", 0.9, "said", "active"), ("City", None, 0.9, "said", "active")
    ]  # fmt: skip


def test_a_value_of_short_words_changes(run: Run, server: Server, observe: Any, conn: Conn) -> None:
    observe("works in the QA team")
    server.script(reply({"Team": "QA"}))
    run()
    observe("moved to the HR team and likes it", hours=30)
    server.script(reply({"Team": "HR"}))
    assert run(days=2)["discarded_unfounded"] == 0
    assert entries(conn) == [("Team", "QA", 0.9, "said", "replaced"), ("Team", "HR", 0.9, "said", "active")]
    observe("the HR team grew, she knows it", hours=50)
    server.script(reply({"Team": "IT"}))
    assert run(days=3)["discarded_unfounded"] == 1, "the pronoun names no team"


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ({"content": "Ana is nice."}, "not_json"),
        (reply(["no", "object"]), "wrong_shape"),
        ({"status": 400}, "refused"),
        ({"status": 401}, "rejected"),
    ],
)
def test_without_a_usable_reply_it_waits_for_the_next_cycle(
    run: Run, server: Server, observe: Any, store: Store, conn: Conn, bad: Any, reason: str
) -> None:
    observe("leads the toolstream project")
    observe("leads the choir", subject="ben")
    server.script(bad, bad) if reason not in ("rejected", "refused") else server.script(bad)
    report = run(concurrency=1)
    assert (report["waiting"], report["observations"], report[f"failed_{reason}"]) == (1, 1, 1)
    assert conn.execute("select subject_id, reason from ops.synthesis_failures").fetchall() == [("ana", reason)]
    asked = len(server.requests)
    assert run()["observations"] == 0 and len(server.requests) == asked, "not before the next cycle"
    assert run(days=2)["observations"] == 1
    assert conn.execute("select from ops.synthesis_failures").fetchall() == []
    assert read(store, 3).narrative(500) == "leads the toolstream project"


def test_a_model_that_hangs_leaves_everything_for_the_retry(run: Run, server: Server, observe: Any, conn: Conn) -> None:
    observe("leads the toolstream project")
    server.script({"hang_s": 2})
    with pytest.raises(UnansweredError):
        run(timeout_s=0.3, attempts=1)
    assert conn.execute("select from memory.synthesized").fetchall() == []
    assert conn.execute("select status from ops.runs").fetchall() == [("failed",)]
    assert run()["observations"] == 1


def test_a_number_of_any_length_is_shown_to_the_model_again(
    run: Run, server: Server, observe: Any, store: Store, conn: Conn
) -> None:
    account = 98765432109876543210
    observe(f"The account is {account}")
    server.script(reply({"Account": account}))
    run()
    assert read(store).scaffold() == {"Account": str(account)}
    conn.execute("update memory.scaffold set value = %s where path = '{Account}'", [str(account)])  # as once stored
    observe("sings", hours=30)
    server.script()
    assert run(days=3)["observations"] == 1
    assert f'"Account":"{account}"' in server.requests[0]["messages"][-1]["content"]


def test_after_so_many_tries_rules_do_it(run: Run, server: Server, update: Any, conn: Conn) -> None:
    update({"Role": "nurse"})
    queue = POLICY.queue.model_copy(update={"attempts": 2})
    policy = POLICY.model_copy(update={"queue": queue})
    server.script(*[{"content": "no"}] * 4)
    assert run(policy=policy)["waiting"] == 1
    report = run(days=2, policy=policy)
    assert (report["by_rules"], report["observations"]) == (1, 1)
    assert entries(conn) == [("Role", "nurse", 0.7, "autonomous", "active")]
    assert conn.execute("select model from memory.synthesized").fetchall() == [(None,)]


def test_without_credit_rules_do_it_and_a_model_goes_on_from_there(
    run: Run, server: Server, observe: Any, update: Any, store: Store, conn: Conn
) -> None:
    give(conn, 0.0, TENANT)
    update({"Role": "nurse"}, learned=("Works nights",))
    report = run()
    assert (report["by_rules"], report["failed_credit"]) == (2, 1) and server.requests == []
    conn.execute("truncate ops.credits")
    observe("leads the choir", hours=30)
    server.script(reply({"Choir": "leads it"}, "The nurse leads the choir."))
    run(days=2)
    data = server.requests[0]["messages"][-1]["content"]
    assert '"current_scaffold":{"Role":"nurse"}' in data and "nights" not in data
    assert read(store, 3).scaffold() == {"Role": "nurse", "Choir": "leads it"}
    assert read(store, 3).narrative(500) == "The nurse leads the choir."


def test_an_old_narrative_is_no_longer_told(run: Run, server: Server, observe: Any, store: Store) -> None:
    observe("leads the choir")
    run()
    assert read(store, 80).is_written and not read(store, 92).is_written
    assert read(store, 92).note == "The narrative is 91 days old and no longer given."
    assert read(store, 92).narrative(500) == ""


def test_in_a_cycle_its_facts_become_memory_and_no_twins(
    server: Server, load: Any, store: Store, conn: Conn, observe: Any
) -> None:
    observe("User leads the toolstream project")
    twins = ["User leads the toolstream project", "user leads the Toolstream project!", "User leads a project"]
    server.script(reply({}, facts=twins))
    common: dict[str, Any] = {"scope": Scope(tenant_id=TENANT), "policy": POLICY, "embedder": WordEmbedder()}
    end = AT + timedelta(days=2)
    reports = [
        *ingest(Work(store=store, as_of=end, **common)),
        *catch_up(Work(store=store, as_of=end, language_model=load(), **common)),
    ]
    assert sum(one["facts"] for one in reports if one.stage == "synthesize") == 2
    found = conn.execute("select content, state from memory.memories order by content").fetchall()
    assert sorted(state for _, state in found) == ["active", "active", "merged"]
    assert ("User leads a project", "active") in found
    assert conn.execute("select count(*) from memory.memories where not scored").fetchone() == (0,)


@pytest.mark.parametrize("became", ["known", "wrong", "forgotten_on_request", "decayed"])
def test_a_fact_that_is_known_or_was_found_wrong_is_discarded(
    run: Run, server: Server, observe: Any, conn: Conn, became: str
) -> None:
    observe("Ana leads the toolstream project")
    fact = reply({}, facts=["User leads a toolstream team"])
    server.script(fact)
    assert run()["facts"] == 1
    if became != "known":
        conn.execute(
            """with gone as (delete from memory.memories returning *)
               insert into memory.tombstones (tenant_id, memory_id, subject_id, kind, content_hash, importance, reason,
                                              forgotten_at, run_id)
               select tenant_id, id, subject_id, kind, content_hash, importance, %s, %s, run_id from gone""",
            [became, AT + timedelta(hours=12)],
        )
    observe("prefers short emails", hours=30)
    server.script(fact)
    report = run(days=3)
    written = int(became == "decayed")
    assert (report["facts"], report["discarded_known"]) == (written, 1 - written)
    kept = conn.execute("select count(*) from memory.memories where content = 'User leads a toolstream team'")
    assert kept.fetchone() == (int(became in ("known", "decayed")),)


def test_without_a_model_it_stands_at_once(store: Store, conn: Conn, update: Any, observe: Any) -> None:
    update({"Role": "nurse", "Projects": {"choir": "sings"}}, learned=("Works nights",))
    source = ObservationSource(tenant_id=TENANT, subject_id="ana", connection_id="jira-1")
    at = AT + timedelta(minutes=1)
    recorded = update_connection_context(
        store.session(TENANT), source, {"default_project": "PROJ"}, policy=POLICY, as_of=at
    )
    perform(recorded)
    observe("The role is nurse", hours=1)
    common: dict[str, Any] = {"scope": Scope(tenant_id=TENANT), "policy": POLICY, "embedder": WordEmbedder()}
    end = AT + timedelta(hours=2)
    for _ in ingest(Work(store=store, as_of=end, **common)):
        pass
    reports = list(catch_up(Work(store=store, as_of=end, **common)))
    assert [one["by_rules"] for one in reports if one.stage == "synthesize"] == [5]
    found = read(store, 0.2)
    assert found.scaffold() == {"Role": "nurse", "Projects": {"choir": "sings"}}
    assert found.learned() == {"learned": ["Works nights"], "jira-1": {"default_project": "PROJ"}}
    assert found.written is None and found.note == ""
    assert conn.execute("select count(*) from memory.synthesized where model is null").fetchone() == (5,)
