"""The pipeline against a model of 135 million parameters: what it says is poor, and what becomes memory is not.

Shapes and counts are asserted, not quality: each question is answered, repaired or counted with the reason for which it
was not, and nothing is remembered in the model's words that does not stand on what was said. Profiles apart, of few
observations: a reply about one may have thousands of tokens. No patterns: those that are of no use in a row stop their
stage, as they should.
"""

from __future__ import annotations

import json
from datetime import timedelta
from itertools import chain
from pathlib import Path
from typing import Any

import psycopg
import pytest

from reverie.capture.history.importing import import_file
from reverie.capture.live.observations import ObservationSource, record_observation
from reverie.consolidate.synthesize.stage import synthesize
from reverie.drive.cycle import catch_up, ingest
from reverie.errors import InferenceError, ReverieError, UnansweredError
from reverie.inference.completions import HostedLanguageModel
from reverie.language.grounding import ungrounded
from reverie.language.text import written_day
from reverie.policy import load_policy
from reverie.store.database import Store
from reverie.store.runs import Report
from reverie.store.session import perform
from reverie.store.tenants import ensure_tenant
from reverie.store.work import Work
from tests.promises.world import END, SAMPLE, WordEmbedder, lively, scope

TENANT = "small"
POLICY = lively(compress={"pattern_episodes": 0}, profile={"from_memories": False})
SESSIONS = {("arjun", f"ar-{number:02}") for number in range(1, 4)}

pytestmark = [pytest.mark.filterwarnings("ignore:Item 'summary' on TypedDict:UserWarning"), pytest.mark.timeout(3600)]


@pytest.fixture
def history(tmp_path: Path) -> Path:
    """Some sessions of the sample."""
    records = [json.loads(line) | {"tenant_id": TENANT} for line in SAMPLE.read_text(encoding="utf-8").splitlines()]
    path = tmp_path / "some.jsonl"
    some = [one for one in records if (one["subject_id"], one.get("session_id")) in SESSIONS]
    path.write_text("".join(json.dumps(one) + "\n" for one in some), encoding="utf-8")
    return path


def test_a_small_model_makes_no_memory_worse(
    database_url: str, conn: psycopg.Connection, small_model: HostedLanguageModel, history: Path
) -> None:
    with Store.open(database_url) as store:
        import_file(store, history, tenant_id=TENANT, now=END)
        reports, stopped = remember(store, small_model)
    asking = [report for report in reports if report.counts.get("asked")]
    for report in asking:
        tell(report)
        failed = sum(number for name, number in report.counts.items() if name.startswith("failed_"))
        answered = report["asked"] - failed
        assert 0 <= answered <= report["asked"] and report.counts["asked_again"] <= report.model_calls
    assert asking and all(report.model_calls for report in asking)
    booked = conn.execute("select count(*), count(*) filter (where state = 'reserved') from ops.calls").fetchone()
    assert booked is not None and booked[0] >= sum(report.model_calls for report in asking) and booked[1] == 0
    said = [row[0] for row in conn.execute("select text from log.turns")]
    said += [row[0] for row in conn.execute("select distinct speaker from log.turns")]
    worded = conn.execute("select content, happened_at from memory.memories where model is not null").fetchall()
    for content, at in worded:
        assert ungrounded(content[:1].lower() + content[1:], [*said, f"{at.day} {at:%B %Y}"]) == []
    if stopped is not None:  # a model of which five replies and more are of no use stops its stage, and says so
        assert "gave no usable reply to any of" in str(stopped)
        print(f"stopped: {stopped}")
    rules = conn.execute("select count(*) from memory.memories where model is null").fetchone()
    assert rules is not None and (rules[0] > len(SESSIONS) or stopped)
    print(f"memories: {len(worded)} in the model's words, {rules[0]} by rules")


def test_a_small_model_makes_no_profile_worse(
    database_url: str, conn: psycopg.Connection, small_model: HostedLanguageModel
) -> None:
    told = {
        "ana": ["Ana leads the toolstream project", "prefers short emails"],
        "ben": ["Ben works as a nurse in Pune"],
    }
    policy = load_policy("agent")
    with Store.open(database_url) as store:
        with store.transaction(TENANT) as owner:
            ensure_tenant(owner, TENANT, "agent")
        for subject, texts in told.items():
            for number, text in enumerate(texts):
                source = ObservationSource(tenant_id=TENANT, subject_id=subject)
                at = END - timedelta(days=2, minutes=-number)
                perform(record_observation(store.session(TENANT), source, text, "fact", policy=policy, as_of=at))
        report = synthesize(
            Work(store=store, scope=scope(TENANT), policy=policy, as_of=END, language_model=small_model)
        )
    tell(report)
    failed = sum(number for name, number in report.counts.items() if name.startswith("failed_"))
    assert report["asked"] == len(told) and report["waiting"] == failed <= len(told)
    assert len(told) <= report.model_calls == report["asked"] + report["asked_again"]
    done = [subject for (subject,) in conn.execute("select distinct subject_id from memory.synthesized")]
    assert len(done) == len(told) - failed and report["observations"] == sum(len(told[subject]) for subject in done)
    stated = conn.execute("select subject_id, value::text from memory.scaffold where value is not null").fetchall()
    stated += conn.execute("select subject_id, narrative from memory.profiles").fetchall()
    stated += conn.execute("select subject_id, content from memory.memories").fetchall()
    for subject, text in stated:
        assert (
            ungrounded(text[:1].lower() + text[1:], [*told[subject], subject, "User true false", written_day(END)])
            == []
        )
    print(f"profiles: {len(done)} of {len(told)}, {report['entries']} entries, {report['facts']} facts")


def remember(store: Store, model: HostedLanguageModel) -> tuple[list[Report], ReverieError | None]:
    """Read and catch up, as far as it goes."""
    reports: list[Report] = []
    common: dict[str, Any] = {"scope": scope(TENANT), "policy": POLICY, "embedder": WordEmbedder()}
    common |= {"language_model": model}
    try:
        for each in chain(
            ingest(Work(store=store, as_of=END, **common)), catch_up(Work(store=store, as_of=END, **common))
        ):
            reports.append(each)  # noqa: PERF402  what came before it stops counts
    except (InferenceError, UnansweredError) as error:
        return reports, error
    return reports, None


def tell(report: Report) -> None:
    """Show what the model did."""
    counts = chain(report.counts.items(), [("model_calls", report.model_calls), ("tokens", report.tokens)])
    print(report.stage, " ".join(f"{name}={number}" for name, number in counts if number))
