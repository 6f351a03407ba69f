"""A tenant whose language model is the scripted server, which replies with the labels of the reader's voices."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bench.pipeline import Noise, server
from reverie.capture.history.importing import import_file
from reverie.consolidate.extract.stage import extract
from reverie.errors import UnansweredError
from reverie.evaluate.distill.labels import TurnExample, turn_examples
from reverie.evaluate.distill.replied import replied_turns
from reverie.inference.completions import HostedLanguageModel, Limits
from reverie.language.statements.stated import MessageStatement, worded_statement
from reverie.model import Scope
from reverie.policy import Policy
from reverie.store.database import Store
from reverie.store.work import Work
from tests.models.serving import serving
from training.reader.messages import DURATIONS, NAMES, PHASES, POLARITIES, Label, Message, Place

TENANT = "voices"
START = datetime(2026, 1, 1, tzinfo=UTC)
#: The fewest words of a quote, unless it is the whole message.
_LEAST_QUOTED = 3

Keeps = Callable[[Label], bool]


def learned_from(messages: Sequence[Message], policy: Policy, keeps: Keeps) -> list[TurnExample]:
    """Ask a language model that keeps some labels about each message, and return the messages as examples.

    They are imported, read and asked about like a tenant's turns, through litellm; the model makes no mistakes.
    """
    os.environ.setdefault("OPENAI_API_KEY", "none")
    with server() as url, serving() as asked, tempfile.TemporaryDirectory() as folder, Store.open(url) as store:
        history = Path(folder) / "voices.jsonl"
        history.write_text("".join(json.dumps(turn) + "\n" for turn in _turns(messages)), encoding="utf-8")
        import_file(store, history, tenant_id=TENANT)

        def read(base: str) -> None:
            limits = Limits(timeout_s=5.0, attempts=1, backoff_s=0.01, concurrency=1)
            model = HostedLanguageModel("openai/ours", api_base=base, limits=limits, price=(0.15, 0.60))
            extract(
                Work(
                    store=store, scope=Scope(tenant_id=TENANT), policy=policy, as_of=START + timedelta(days=365),
                    embedder=Noise(), language_model=model,
                )
            )  # fmt: skip

        with suppress(UnansweredError):  # nothing listens: the turns wait, in the order in which they are asked about
            read("http://127.0.0.1:9/v1")
        with store.transaction(TENANT) as conn:
            waiting = conn.execute(
                """select t.source_id from memory.extractions e join log.turns t on t.id = e.turn_id
                   where e.waits order by e.turn_id"""
            ).fetchall()
        asked.script(*(_reply(messages[int(source)], policy, keeps) for (source,) in waiting))
        read(asked.address)
        turns = replied_turns(store, TENANT, policy)
        return [one for some in turns for one in turn_examples(some, TENANT, policy, Noise().count_tokens)]


def _turns(messages: Sequence[Message]) -> Iterator[dict[str, Any]]:
    """Yield each message, with the question before it, as a session."""
    for number, message in enumerate(messages):
        at = START + timedelta(minutes=10 * number)
        common = {"subject_id": message.voice, "session_id": f"s{number}"}
        if message.question:
            yield common | {
                "id": f"q{number}",
                "role": "assistant",
                "timestamp": at.isoformat(),
                "text": message.question,
            }
        later = (at + timedelta(minutes=1)).isoformat()
        yield common | {"id": str(number), "role": "user", "timestamp": later, "text": message.text}


def _reply(message: Message, policy: Policy, keeps: Keeps) -> dict[str, str]:
    notes = [_note(label, message, policy) for label in message.labels if keeps(label)]
    return {"content": json.dumps({"replies": [{"number": 1, "notes": notes}]})}


def _note(label: Label, message: Message, policy: Policy) -> dict[str, Any]:
    """Return a label as a model's claim."""

    def words(place: Place | None) -> str | None:
        side, start, end = place or (1, 0, 0)
        return (message.question, message.text)[side][start:end] or None

    clause = words(label.clause)
    statement = MessageStatement(
        relation=NAMES[label.relation],
        object=words(label.object) or "",
        holder=words(label.holder),
        topic=words(label.topic),
        phase=PHASES[label.phase],  # type: ignore[arg-type]
        polarity=POLARITIES[label.polarity],
        clause=clause,
    )
    relation = policy.extract.relations[statement.relation]
    return {
        "kind": "fact" if relation.kind == "episode" else relation.kind,
        "text": worded_statement(statement, relation, message.text),
        "quote": clause if clause and len(clause.split()) >= _LEAST_QUOTED else message.text,
        "confidence": 0.9,
        "importance": 0.7,
        "relation": statement.relation,
        "object": statement.object,
        "holder": statement.holder,
        "topic": statement.topic,
        "phase": "planned" if statement.phase == "wished" else statement.phase,
        "polarity": statement.polarity,
    }


def is_lasting(label: Label) -> bool:
    """Return whether a label states something lasting: not an event, a plan or a passing state."""
    told = {"event", "plans", "wants", "other"}
    return NAMES[label.relation] not in told and DURATIONS[label.duration] not in ("passing", "until")
