"""Turns read by a language model too: its notes become candidates beside those of the rules (spec A3, B5; Chat flow 2).

A part of extract. A turn waits in `memory.extractions` until a model has read it; the rules' candidates are there long
before and wait for nothing. No reply, or no credit for one, leaves it waiting for the next run; a reply that cannot be
used, asked for twice, leaves it to the rules for good.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from psycopg import Connection

from reverie.consolidate.extract.claims import Judged, Shown, Taken, TurnNotes, judge
from reverie.consolidate.extract.decide import CANDIDATES, Columns
from reverie.consolidate.isolate import apart
from reverie.errors import UnansweredError
from reverie.inference.completions import LanguageModel
from reverie.inference.prompts import Prompt, load_prompt
from reverie.inference.replies import HINTS
from reverie.language.cues.entities import entities_one
from reverie.language.cues.salience import salience
from reverie.language.text import owned, strip_invisible
from reverie.llm.answers import NO_REPLY, UNASKED, UNFIT, ModelAnswer, unanswered_error
from reverie.llm.asking import Caller, ask
from reverie.llm.inputs import PromptInput
from reverie.llm.metering import Payer
from reverie.model import Scope, candidate_id
from reverie.policy import Policy
from reverie.policy.fading import forget_at
from reverie.store.database import Store
from reverie.store.failures import REASON
from reverie.store.queries import queries
from reverie.store.runs import Run

#: Turns read from the log at a time.
_CHUNK = 1_000
#: Requests that each thread sends before what came of them is written, and it is decided whether to go on.
_ROUNDS = 4
#: Tokens of a reply, and of one note in it.
_REPLY_TOKENS, _NOTE_TOKENS = 40, 160
#: A request that the credit does not allow.
_UNPAID = frozenset({"credit", "unpriced"})
_FIRST = UUID(int=0)


def reread(
    store: Store,
    attempt: Run,
    model: LanguageModel,
    *,
    scope: Scope,
    policy: Policy,
    as_of: datetime,
) -> UnansweredError | None:
    """Ask about each turn that waits, once; counts what `ask` counts, candidates and kinds, `noted`, `unkeyed`, each
    discard, and how many are `waiting` afterwards.

    When nobody answers, or the credit ends, the rest waits too: only what was answered before is taken from there. No
    connection is held while the model works. Returns the error to be raised, once all else is done, when something was
    asked and nobody answered at all.
    """
    numbers, report = policy.extract.model, attempt.report
    if not numbers.notes:
        return None
    report.model = model.key
    desk = _Desk(store, attempt, model, policy, scope.tenant_id)
    params = scope.params() | {
        "as_of": as_of,
        "context_turns": numbers.context_turns,
        "context_characters": numbers.context_characters,
    }
    for turns in _waiting(store, params):
        for start in range(0, len(turns), desk.size):
            desk.read(turns[start : start + desk.size])
            attempt.pulse()
    with store.transaction(scope.tenant_id) as conn:
        (waiting,) = conn.execute(queries("extract")["count_waiting"], params).fetchone() or (0,)
    report.add("waiting", waiting)
    return desk.unanswered()


def extract_prompt(policy: Policy) -> Prompt[TurnNotes]:
    """What a model is told about turns, with the policy's numbers and the keys of its rules."""
    numbers, least = policy.extract.model, policy.structured_facts
    keys = {re.sub(r"[:_]?\{[xy]\}", "", rule.key) for rule in policy.extract.rules if rule.key}
    return load_prompt(
        "extract",
        TurnNotes,
        max_tokens=_REPLY_TOKENS + _NOTE_TOKENS * numbers.notes,
        notes=numbers.notes,
        characters=numbers.note_characters,
        min_confidence=least.min_confidence,
        min_importance=least.min_importance,
        keys=", ".join(sorted(keys | {"name", "location", "language", "dietary"})),
    )


def _waiting(store: Store, params: dict[str, Any]) -> Iterator[list[Shown]]:
    after = _FIRST
    while True:
        with store.transaction(params["tenant"]) as conn:
            rows = conn.execute(queries("extract")["read_waiting"], params | {"after": after, "limit": _CHUNK})
            turns = [replace(turn, text=strip_invisible(turn.text)) for turn in (Shown(*row) for row in rows)]
        if not turns:
            return
        yield turns
        after = turns[-1].id


class _Desk:
    """One run's reading."""

    def __init__(self, store: Store, attempt: Run, model: LanguageModel, policy: Policy, tenant_id: str) -> None:
        self._store, self._attempt, self._model, self._policy = store, attempt, model, policy
        self._tenant_id = tenant_id
        self._prompt = extract_prompt(policy)
        #: Turns of a portion.
        self.size = _ROUNDS * max(model.limits.concurrency, 1) * max(model.limits.per_request, 1)
        self._sending = True
        #: Answers without a reply since the last one with.
        self._bad = 0
        #: Of all that was sent: why there was no reply, None where there was one.
        self._reasons: Counter[str | None] = Counter()

    def read(self, turns: Sequence[Shown]) -> None:
        """Ask about a portion, and write what came of it."""
        told = list(zip(turns, self._ask(turns), strict=True))
        with self._store.transaction(self._tenant_id) as conn:
            named = {"tenant": self._tenant_id, "turn_ids": [turn.id for turn in turns]}
            held = {row[0] for row in conn.execute(queries("extract")["hold_waiting"], named)}
            self._write(conn, [(turn, answer) for turn, answer in told if turn.id in held])
            self._attempt.record(conn)

    def unanswered(self) -> UnansweredError | None:
        """The error to be raised when nobody answered; refusals of a few turns may be due to what stands in them."""
        if self._reasons.keys() == {"rejected"} and self._reasons.total() < UNFIT:
            return None
        return unanswered(self._model, self._reasons)

    def _ask(self, turns: Sequence[Shown]) -> list[Answer[TurnNotes]]:
        longest = self._policy.extract.model.turn_characters
        short = [turn for turn in turns if len(turn.text) <= longest]
        items = [
            Item(subject_id=turn.subject_id, content=turn.content, source_ids=[turn.id, *turn.before_ids])
            for turn in short
        ]
        payer = Payer(tenant_id=self._tenant_id, stage="extract", run_id=self._attempt.id)
        answers = ask(
            self._store,
            self._model,
            self._prompt,
            items,
            payer=payer,
            report=self._attempt.report,
            sending=self._sending,
            require_some=False,
            pulse=self._attempt.pulse,
        )
        if len(short) < len(turns):
            self._attempt.report.add("failed_too_long", len(turns) - len(short))
        reasons = [answer.reason for answer in answers if not answer.kept and answer.reason != UNASKED]
        self._reasons.update(reasons)
        self._bad = 0 if None in reasons else self._bad + sum(reason in NO_REPLY | HINTS.keys() for reason in reasons)
        self._sending &= self._bad < UNFIT and _UNPAID.isdisjoint(reasons)
        found = dict(zip((turn.id for turn in short), answers, strict=True))
        return [found.get(turn.id, Answer(reason="too_long")) for turn in turns]

    def _write(self, conn: Connection[Any], told: Sequence[tuple[Shown, Answer[TurnNotes]]]) -> None:
        sql, report = queries("extract"), self._attempt.report
        judged, failed = apart(
            told,
            lambda some: {turn.id: judge(turn, answer.reply, self._policy) for turn, answer in some if answer.reply},
        )
        for (turn, _), error in failed:
            self._attempt.bury(turn.subject_id, turn.id, error)
        unusable = {turn.id for (turn, _), _ in failed}
        told = [(turn, Answer(reason=REASON) if turn.id in unusable else answer) for turn, answer in told]
        noted = [(turn, one) for turn, _ in told if turn.id in judged for one in judged[turn.id].taken]
        provenance = {"tenant": self._tenant_id, "run_id": self._attempt.id, "policy_hash": self._policy.hash}
        candidates = self._columns(noted)
        conn.execute(sql["write_candidates"], provenance | candidates)
        conn.execute(sql["write_lineage"], provenance | candidates)
        shown = [
            (id_, before, turn.said_at)
            for id_, (turn, one) in zip(candidates["ids"], noted, strict=True)
            for before in one.context
        ]
        names = ("ids", "turn_ids", "happened_at")
        conn.execute(
            sql["write_context"], provenance | {name: [row[at] for row in shown] for at, name in enumerate(names)}
        )
        conn.execute(sql["write_readings"], provenance | _verdicts(told, judged, self._model.key))
        report.add("candidates", len(noted))
        report.add("noted", len(noted))
        for _, one in noted:
            report.add(one.kind)
        for each in judged.values():
            report.add("unkeyed", each.unkeyed)
            for reason, number in each.discarded.items():
                report.discard(reason, number)

    def _columns(self, noted: Sequence[tuple[Shown, Taken]]) -> Columns:
        """The notes as candidates; whose words they are stands in their ids, so that another model's are others."""
        policy, origin = self._policy, f"note:{self._prompt.hash.hex()[:8]}"
        columns: Columns = {name: [] for name in CANDIDATES}
        for turn, one in noted:
            base = getattr(policy.extract.importance, one.kind) if one.importance is None else one.importance
            if policy.importance.mode == "novelty_salience":
                base = salience(one.text, policy.salience)
            due = forget_at(
                base,
                turn.said_at,
                rate=policy.decay.rates[one.kind],
                grace_days=policy.decay.grace_days,
                below=policy.prune.below,
                unaccessed_days=policy.prune.unaccessed_days,
            )
            by = f"{origin}/{self._model.key}"
            values = (
                candidate_id(turn.said_at, self._tenant_id, turn.subject_id, one.kind, str(turn.id), by, one.place),
                turn.subject_id, one.kind, owned(one.text, turn.speaker, turn.subject_id), 0, base, turn.said_at, due,
                " ".join(entity.id for entity in entities_one(one.text)), turn.id, turn.session_id, origin,
                self._model.key, orjson.dumps(one.stated).decode() if one.stated else None,
            )  # fmt: skip
            for name, value in zip(columns, values, strict=True):
                columns[name].append(value)
        return columns


def _verdicts(told: Sequence[tuple[Shown, Answer[TurnNotes]]], judged: Mapping[UUID, Judged], model: str) -> Columns:
    """What becomes of each turn; one that was not asked about stays as it is."""
    columns: Columns = {name: [] for name in ("turn_ids", "candidates", "discarded", "models", "unread", "waits")}
    for turn, answer in told:
        if answer.reason == UNASKED:
            continue
        found = judged.get(turn.id)
        values = (
            turn.id,
            len(found.taken) if found else 0,
            sum(found.discarded.values()) if found else 0,
            model if found else None,
            answer.reason,
            answer.reason in NO_REPLY | _UNPAID,
        )
        for name, value in zip(columns, values, strict=True):
            columns[name].append(value)
    return columns
