"""A history of observations, and a language model that needs no server: what it says follows from what it is shown."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from reverie.capture.history.importing import import_file
from reverie.capture.live.observations import (
    ObservationSource,
    record_observation,
    update_connection_context,
    update_user_context,
)
from reverie.drive.cycle import catch_up, ingest
from reverie.inference.completions import Completion, LanguageModel, Limits
from reverie.inference.prompts import Messages
from reverie.policy import Policy
from reverie.store.database import Store
from reverie.store.runs import Report
from reverie.store.session import perform
from reverie.store.tenants import ensure_tenant
from reverie.store.work import Work
from tests.promises.killing import Moments
from tests.promises.world import WordEmbedder, lively, scope

TENANT = "acme"
START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
UNTIL = START + timedelta(days=3, hours=3)

Say = Callable[[dict[str, Any]], dict[str, Any]]


def retold(item: dict[str, Any]) -> dict[str, Any]:
    """A reply in which every observation leaves something: in the narrative, in the scaffold and as a fact."""
    said = [one["text"] for one in item["new_observations"]]
    scaffold = {"Noted": {one["type"]: one["text"] for one in item["new_observations"]}}
    return {
        "updated_working_memory": " ".join([item["current_working_memory"], *said]).strip(),
        # as models do: an object in a string
        "updated_scaffold": {"Noted": json.dumps(scaffold["Noted"]), "Latest": said[-1]},
        "facts_to_embed": [f"has told that {said[-1]}"],
    }


class Scribe(LanguageModel):
    """Answers from what it is shown; `shown` keeps the items."""

    limits = Limits(concurrency=1, attempts=1)

    def __init__(self, say: Say = retold, key: str = "test/scribe") -> None:
        self._say, self._key = say, key
        self.shown: list[dict[str, Any]] = []

    @property
    def key(self) -> str:
        return self._key

    def complete(self, messages: Messages, *, schema: dict[str, Any], max_tokens: int) -> Completion:
        data = json.loads(messages[-1]["content"].removeprefix("<data>").removesuffix("</data>"))
        if "new_observations" in data["items"][0]:
            self.shown += data["items"]
            replies = [{"number": item["number"], **self._say(item)} for item in data["items"]]
        else:
            replies = []  # sessions are left to the rules
        return Completion(
            text=json.dumps({"replies": replies}),
            truncated=False,
            tokens_in=10,
            tokens_out=10,
            cost_usd=0.0,
            seconds=0.0,
        )

    def most_usd(self, messages: Messages, *, max_tokens: int) -> float | None:
        return 0.0


def policy(**numbers: Any) -> Policy:
    """One cycle a day, three observations a request."""
    return lively("reverie", cycle={"hours": 24}, profile={"observations": 3} | numbers)


#: (hours, words) said by Ana.
_SAID = [(0, "I have a dog named Bruno."), (1, "My sister lives in Pune."), (26, "I live in Mumbai.")]
#: (hours, what) observed of Ana.
_OBSERVED: list[tuple[float, str, Any]] = [
    (2, "preference", "prefers short emails"),
    (3, "scaffold", {"Role": "engineer", "Projects": {"toolstream": "a project"}}),
    (4, "fact", "works at Infosys"),
    (5, "connection", {"default_project": "PROJ"}),
    (28, "scaffold", {"Role": "manager"}),
    (29, "learned", ["Default Jira project is PROJ"]),
    (30, "correction", "the role is director"),
    (60, "scaffold", {"Projects": {"toolstream": None, "reverie": "another project"}}),
]


def record(store: Store, policy: Policy, *, until: float = 1e9, after: float = -1) -> None:
    """Record what was observed in these hours, each at its time; some of it of Ben as well."""
    with store.transaction(TENANT) as conn:
        ensure_tenant(conn, TENANT, "reverie")
    for hours, what, content in _OBSERVED:
        if not after < hours <= until:
            continue
        common: dict[str, Any] = {"policy": policy, "as_of": START + timedelta(hours=hours)}
        session = store.session(TENANT)
        for subject in ("ana", "ben") if what in ("fact", "scaffold") else ("ana",):
            source = ObservationSource(
                tenant_id=TENANT, subject_id=subject, connection_id="jira-1", source_id=f"{what}{hours}"
            )
            recorded: Any
            if what == "scaffold":
                recorded = update_user_context(session, source, scaffold_updates=content, **common)
            elif what == "learned":
                recorded = update_user_context(session, source, persistent_info_additions=content, **common)
            elif what == "connection":
                recorded = update_connection_context(session, source, content, **common)
            else:
                recorded = record_observation(session, source, content, what, **common)  # type: ignore[arg-type]
            perform(recorded)


def say(store: Store, folder: Path, *, until: float = 1e9, after: float = -1) -> None:
    """Import what Ana said in these hours."""
    records = [
        {
            "subject_id": "ana",
            "session_id": f"s{hours}",
            "source_id": "t",
            "role": "user",
            "speaker": "Ana",
            "said_at": (START + timedelta(hours=hours)).isoformat(),
            "text": text,
        }
        for hours, text in _SAID
        if after < hours <= until
    ]
    if records:
        path = folder / f"said-{after}.jsonl"
        path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
        import_file(store, path, tenant_id=TENANT, now=UNTIL)


def remembering(store: Store, policy: Policy, until: datetime, model: LanguageModel | None) -> Iterator[Report]:
    """Read, embed and catch up, as `reverie run` does."""
    common: dict[str, Any] = {"scope": scope(TENANT), "policy": policy, "embedder": WordEmbedder()}
    yield from ingest(Work(store=store, as_of=until, **common))
    yield from catch_up(Work(store=store, as_of=until, language_model=model, **common))


def remember(store: Store, policy: Policy, until: datetime, model: LanguageModel | None) -> list[Report]:
    """Do it all at once."""
    return list(remembering(store, policy, until, model))


def work(url: str, kill_at: int | None = None, trace: Path | None = None) -> None:
    """Remember what is in the log, with a model, killed at a moment; `trace` gets the stage and kind of each."""
    moments = Moments(kill_at=kill_at)
    told: list[tuple[str, str]] = []
    with Store.open(url, size=1) as store:
        moments.watch()
        for report in remembering(store, policy(), UNTIL, Scribe()):
            told += [(report.stage, kind) for kind in moments.kinds[len(told) :]]
    if trace:
        trace.write_text(json.dumps(told))
