"""A small world to keep promises in: an embedder that needs no model, a history, and the whole pipeline over it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from reverie.capture.history.importing import import_file
from reverie.drive.cycle import catch_up, ingest
from reverie.inference import Embedder
from reverie.inference.completions import LanguageModel
from reverie.model import Scope
from reverie.policy import Policy, load_policy
from reverie.store.database import Store
from reverie.store.runs import Report
from reverie.store.work import Work
from reverie.testing import WordEmbedder

SAMPLE = Path(__file__).resolve().parents[2] / "examples" / "sample_history.jsonl"
#: After the last thing said in the sample and in the compact history, long enough that much of it has faded.
LATER = datetime(2026, 9, 1, 1, 30, tzinfo=UTC)
#: After the sample's last day, before most of it has faded.
END = datetime(2026, 7, 1, 1, 30, tzinfo=UTC)


def lively(name: str = "reverie", **numbers: dict[str, Any]) -> Policy:
    """A shipped policy under which a short history also merges, compresses and forgets; read once each."""
    return _lively(name, json.dumps(numbers, sort_keys=True))


@cache
def _lively(name: str, numbers: str) -> Policy:
    given = json.loads(load_policy(name).model_dump_json())
    given["merge"] |= {"threshold": 0.8}
    given["compress"] |= {"pattern_episodes": 3, "theme_similarity": 0.0, "session_threshold": 2}
    given["compress"] |= {"running_turns": 3, "running_keep": 1}
    given["prune"] |= {"active_days": min(given["prune"]["active_days"], 2)}
    for heading, values in json.loads(numbers).items():
        given[heading] |= values
    return Policy.model_validate(given)


def scope(tenant: str) -> Scope:
    """All of a tenant."""
    return Scope(tenant_id=tenant)


def consolidate(
    store: Store,
    tenant: str,
    policy: Policy,
    until: datetime,
    embedder: Embedder | None = None,
    language_model: LanguageModel | None = None,
) -> list[Report]:
    """Read and embed everything, then catch up cycle by cycle: what `reverie run` does."""
    common: dict[str, Any] = {"scope": scope(tenant), "policy": policy, "embedder": embedder or WordEmbedder()}
    common |= {"language_model": language_model}
    return [*ingest(Work(store=store, as_of=until, **common)), *catch_up(Work(store=store, as_of=until, **common))]


def live(
    store: Store,
    tenant: str,
    policy: Policy,
    history: Path,
    until: datetime,
    language_model: LanguageModel | None = None,
) -> list[Report]:
    """From a file to finished memory."""
    import_file(store, history, tenant_id=tenant, now=until)
    return consolidate(store, tenant, policy, until, language_model=language_model)


def for_tenant(history: Path, tenant: str, to: Path, *, until: datetime = LATER) -> Path:
    """The same history, or what had happened of it by a time, as another tenant's."""
    told = [json.loads(line) | {"tenant_id": tenant} for line in history.read_text(encoding="utf-8").splitlines()]
    records = [one for one in told if datetime.fromisoformat(one.get("said_at") or one["observed_at"]) <= until]
    to.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return to
