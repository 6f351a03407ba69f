"""Extraction by a language model: its claims about a turn become candidates beside those of the rules.

A turn waits in `memory.extractions` until a model has read it; the rules' candidates are written before that and do not
wait. Without a reply, or without credit for one, the turn waits for the next run. If the replies to both requests are
invalid, the turn has only the rules' candidates. So it is for a turn that a correction has come to withhold meanwhile.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from reverie.consolidate.extract.agreement import ReaderMemory, with_agreement
from reverie.consolidate.extract.claimed import claim_candidates
from reverie.consolidate.extract.claims import ShownTurn, TurnNotes, TurnReading, judge_claims, stated_relations
from reverie.consolidate.extract.read import count_waiting, found_in, waiting_turns, withheld_turns
from reverie.consolidate.extract.write import hold_waiting, write_readings
from reverie.consolidate.isolate import apart
from reverie.errors import UnansweredError
from reverie.inference.completions import LanguageModel
from reverie.inference.prompts import Prompt, load_prompt, prompt_part
from reverie.inference.replies import HINTS
from reverie.llm.answers import NO_REPLY, UNASKED, UNFIT, ModelAnswer, unanswered_error
from reverie.llm.asking import ModelCaller, ask
from reverie.llm.inputs import PromptInput
from reverie.policy import Policy
from reverie.store.failures import REASON
from reverie.store.locks import hold_off_erasures, lock_subjects
from reverie.store.runs import Run

#: Requests that each thread sends before the results are written and the run decides whether to continue.
_ROUNDS = 4
#: Tokens of a reply, and of one claim in it.
_REPLY_TOKENS, _CLAIM_TOKENS = 40, 200
#: Reasons for which the credit does not allow a request.
_UNPAID = frozenset({"credit", "unpriced"})


def extract_by_model(attempt: Run, model: LanguageModel) -> UnansweredError | None:
    """Ask once about each turn that waits.

    Counts what `ask` counts, candidates and kinds, `noted`, `unkeyed`, each discard, and how many turns are `waiting`
    afterwards. If the model does not answer, or the credit ends, the other turns wait too: only stored replies are
    used. No connection is held while the model works.

    Returns the error to raise after everything else is done, if requests were sent and none was answered.
    """
    if not attempt.work.policy.extract.model.notes:
        return None
    attempt.report.model = model.key
    reader = _ModelReader(attempt, model)
    for turns in waiting_turns(attempt.work):
        for start in range(0, len(turns), reader.portion):
            reader.read(turns[start : start + reader.portion])
            attempt.pulse()
    attempt.report.add("waiting", count_waiting(attempt))
    return reader.unanswered()


def extract_prompt(policy: Policy) -> Prompt[TurnNotes]:
    """Return the prompt for turns, with the policy's numbers and the keys of its rules and relations."""
    numbers, least = policy.extract.model, policy.structured_facts
    named = [rule.key for rule in policy.extract.rules] + [each.key for each in policy.extract.relations.values()]
    relations = stated_relations(policy)
    keys = {re.sub(r"[:_]?\{[a-z]+\}", "", key) for key in named if key}
    return load_prompt(
        "extract",
        TurnNotes,
        max_tokens=_REPLY_TOKENS + _CLAIM_TOKENS * numbers.notes,
        notes=numbers.notes,
        characters=numbers.note_characters,
        min_confidence=least.min_confidence,
        min_importance=least.min_importance,
        keys=", ".join(sorted(keys | {"name", "location", "language", "dietary"})),
        stated=prompt_part("extract_relations", relations=", ".join(relations)) if relations else "",
    )


class _ModelReader:
    """The requests to one model about the turns of one run, a portion at a time."""

    def __init__(self, attempt: Run, model: LanguageModel) -> None:
        self._attempt, self._model = attempt, model
        self._policy = attempt.work.policy
        self._prompt = extract_prompt(self._policy)
        #: Turns in a portion.
        self.portion = _ROUNDS * max(model.limits.concurrency, 1) * max(model.limits.per_request, 1)
        self._sending = True
        #: Failed requests since the last portion with a reply.
        self._failures = 0
        #: Requests sent, by the reason why there was no reply; None: there was one.
        self._reasons: Counter[str | None] = Counter()

    def read(self, turns: Sequence[ShownTurn]) -> None:
        """Ask about a portion, and write the results for the turns that still wait."""
        answers, work = self._ask(turns), self._attempt.work
        with work.transaction() as conn:
            # a subject of which something was erased meanwhile no longer waits, or has been read again without that
            hold_off_erasures(conn, work.tenant_id)
            # a claim may come long after the reader's memory, which other stages may be changing
            lock_subjects(conn, work.tenant_id, sorted({turn.subject_id for turn in turns}))
            held = hold_waiting(conn, self._attempt, turns)
            answered = [(turn, answer) for turn, answer in zip(turns, answers, strict=True) if turn.id in held]
            withheld = withheld_turns(conn, work, turns)
            readings = [
                _without_claims(reading) if reading.turn.id in withheld else reading
                for reading in self._readings(answered, found_in(conn, work, sorted(held)))
            ]
            write_readings(conn, self._attempt, readings, self._model.key)
            self._attempt.record(conn)

    def unanswered(self) -> UnansweredError | None:
        """Return the error to raise if no request was answered."""
        return unanswered_error(self._model, self._reasons)

    def _ask(self, turns: Sequence[ShownTurn]) -> list[ModelAnswer[TurnNotes]]:
        longest = self._policy.extract.model.turn_characters
        short = [turn for turn in turns if len(turn.text) <= longest]
        inputs = [
            PromptInput(subject_id=turn.subject_id, content=turn.content, source_ids=[turn.id, *turn.before_ids])
            for turn in short
        ]
        caller = ModelCaller.of_run(self._attempt)
        answers = ask(caller, self._model, self._prompt, inputs, sending=self._sending, require_some=False)
        if len(short) < len(turns):
            self._attempt.report.add("failed_too_long", len(turns) - len(short))
        self._decide_whether_to_go_on(answers)
        by_turn = dict(zip((turn.id for turn in short), answers, strict=True))
        return [by_turn.get(turn.id, ModelAnswer(reason="too_long")) for turn in turns]

    def _decide_whether_to_go_on(self, answers: Sequence[ModelAnswer[TurnNotes]]) -> None:
        reasons = [answer.reason for answer in answers if not answer.kept and answer.reason != UNASKED]
        self._reasons.update(reasons)
        failures = sum(reason in NO_REPLY | HINTS.keys() for reason in reasons)
        self._failures = 0 if None in reasons else self._failures + failures
        self._sending &= self._failures < UNFIT and not any(reason in _UNPAID for reason in reasons)

    def _readings(
        self,
        answered: Sequence[tuple[ShownTurn, ModelAnswer[TurnNotes]]],
        found: Mapping[UUID, Sequence[ReaderMemory]],
    ) -> list[TurnReading]:
        read, failed = apart(
            answered,
            lambda some: [self._reading(turn, answer, found.get(turn.id, ())) for turn, answer in some],
        )
        for (turn, answer), error in failed:
            self._attempt.bury(turn.subject_id, turn.id, error)
            read.append(self._unread(turn, answer, REASON))
        return read

    def _reading(self, turn: ShownTurn, answer: ModelAnswer[TurnNotes], found: Sequence[ReaderMemory]) -> TurnReading:
        if answer.reply is None:
            return self._unread(turn, answer, answer.reason)
        judged = judge_claims(turn, answer.reply, self._policy)
        candidates = claim_candidates(
            turn, judged.accepted, self._attempt.work.tenant_id, self._policy, self._model.key, self._prompt.hash
        )
        agreement = with_agreement(judged.accepted, candidates, found, turn.text, self._policy)
        return TurnReading(
            turn=turn,
            judged=replace(judged, accepted=agreement.claims),
            candidates=agreement.candidates,
            agreed=agreement.agreed,
            reason=answer.reason,
            waits=False,
        )

    def _unread(self, turn: ShownTurn, answer: ModelAnswer[TurnNotes], reason: str | None) -> TurnReading:
        waits = answer.reason in NO_REPLY | _UNPAID
        return TurnReading(turn=turn, judged=None, candidates=[], agreed={}, reason=reason, waits=waits)


def _without_claims(reading: TurnReading) -> TurnReading:
    """Return the reading of a withheld turn without its claims: nothing says which of them repeat what is wrong."""
    if reading.judged is None:
        return reading
    judged = reading.judged
    discarded = judged.discarded + Counter(withheld=len(judged.accepted))
    return replace(reading, judged=replace(judged, accepted=[], discarded=discarded), candidates=[])
