"""synthesize: observations become a subject's profile.

Events of the bus, and memories that rules made from turns if the policy says so, become a narrative, a scaffold of
keys, and facts. A language model does this at each cycle; without one, rules take the keys and values that observations
state. Each observation is marked in the transaction that includes it in the profile, so a crash neither loses nor
repeats one. Observations for which a model gives no usable reply wait for the next cycle.
Source: docs/design-sources.md, Agent 3.B and 5.1.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from reverie.consolidate.synthesize.decide import PostponedSubject, ProfileUpdate, decide_update
from reverie.consolidate.synthesize.language_model import (
    SubjectAnswer,
    ask_profiles,
    profile_input,
    synthesis_prompt,
)
from reverie.consolidate.synthesize.observations import StoredProfile
from reverie.consolidate.synthesize.read import read_profiles, waiting_subjects
from reverie.consolidate.synthesize.write import write_postponed, write_updates
from reverie.inference.completions import LanguageModel
from reverie.llm.answers import NO_REPLY
from reverie.policy import Policy
from reverie.store.locks import add_subjects, lock_subjects
from reverie.store.runs import Report, Run, run
from reverie.store.work import Work

#: Subjects in one transaction: with a language model, and with rules alone.
_ASKED, _BY_RULES = 20, 500
#: Observations of a subject that rules process at a time.
_OBSERVATIONS = 1000
#: Reasons that last until somebody acts; until then the rules do the work.
_LASTING = frozenset({"credit", "unpriced", "unrecorded"})


def synthesize(work: Work) -> Report:
    """Update profiles; counts `observations`, `by_rules`, `entries`, `replaced`, `conflicts`, `facts`,
    `narratives`, `waiting` subjects, and discards by reason; with a language model also the counts of `ask`.

    With a language model, observations of the last `max_wait_minutes` (policy) are left for the next cycle: by then
    every turn of that time is in the log, whichever driver runs the stages. A dry run asks no model.

    Raises:
        UnansweredError, InferenceError: the model cannot be used at all; earlier work is kept.
    """
    model = None if work.dry_run else work.language_model
    with run(work, "synthesize") as attempt:
        for name in ("observations", "by_rules", "entries", "replaced", "conflicts", "facts", "narratives", "waiting"):
            attempt.report.add(name, 0)
        synthesis = _Synthesizer(attempt, model)
        subject_ids = [""]
        while subject_ids:
            with work.transaction() as conn:
                subject_ids = waiting_subjects(conn, work, synthesis.choice, subject_ids[-1])
                if not subject_ids:
                    attempt.record(conn)
            synthesis.update(subject_ids)
            if work.dry_run:  # it writes nothing, and all subjects were in this portion
                break
    return attempt.report


def lag(policy: Policy) -> timedelta:
    """Return how long a turn may take to reach the log; a cycle with a model leaves turns of that time to the next."""
    return timedelta(minutes=policy.queue.max_wait_minutes)


class _Synthesizer:
    """Updates profiles in one run, a portion of subjects at a time."""

    def __init__(self, attempt: Run, model: LanguageModel | None) -> None:
        work, numbers = attempt.work, attempt.work.policy.profile
        self._attempt, self._work, self._model = attempt, work, model
        self._prompt = synthesis_prompt(work.policy) if model else None
        self._most = None if work.dry_run else numbers.observations if model else _OBSERVATIONS
        #: Query parameters: the observations to read, and the number of subjects at a time.
        self.choice: dict[str, Any] = {
            "horizon": work.as_of - lag(work.policy) if model else work.as_of,
            "from_memories": numbers.from_memories and model is not None,
            "asks": model is not None,
            "letters": numbers.excerpt_letters,
            "most": self._most,
            "limit": None if work.dry_run else _ASKED if model else _BY_RULES,
        }

    def update(self, subject_ids: list[str]) -> None:
        """Update the profiles of a portion until none of its observations is left."""
        while subject_ids:
            subject_ids = self._round(subject_ids)

    def _round(self, subject_ids: list[str]) -> list[str]:
        """Update the profiles once; return subjects with more observations, and those that changed in the meantime."""
        work, answers = self._work, self._ask(subject_ids)
        with work.transaction() as conn:
            add_subjects(conn, work.tenant_id, subject_ids)
            lock_subjects(conn, work.tenant_id, subject_ids)
            profiles = read_profiles(conn, work, self.choice, subject_ids)
            results = {
                subject_id: self._decide(profile, answers.get(subject_id)) for subject_id, profile in profiles.items()
            }
            write_postponed(
                conn, self._attempt, [each for each in results.values() if isinstance(each, PostponedSubject)]
            )
            write_updates(
                conn,
                self._attempt,
                [each for each in results.values() if isinstance(each, ProfileUpdate)],
                model=self._model.key if self._model else None,
                prompt_hash=self._prompt.hash if self._prompt else None,
            )
            self._attempt.record(conn)
        if work.dry_run:
            return []
        return [
            subject_id
            for subject_id, result in results.items()
            if result is None or (isinstance(result, ProfileUpdate) and len(result.observations) == self._most)
        ]

    def _ask(self, subject_ids: list[str]) -> dict[str, SubjectAnswer]:
        if self._model is None or self._prompt is None:
            return {}
        with self._work.transaction() as conn:
            profiles = read_profiles(conn, self._work, self.choice, subject_ids)
        return ask_profiles(self._attempt, self._model, self._prompt, list(profiles.values()))

    def _decide(self, profile: StoredProfile, answer: SubjectAnswer | None) -> ProfileUpdate | PostponedSubject | None:
        """Decide on one subject; None if it changed since the model was asked, so that it is asked about again."""
        work, policy = self._work, self._work.policy
        if self._model is not None:
            if answer is None or answer.shown.content != profile_input(profile, policy).content:
                return None
            reason = answer.answer.reason
            if answer.answer.reply is None and reason not in _LASTING:
                failures = profile.failures + (reason not in NO_REPLY)
                if failures < policy.queue.attempts:
                    return PostponedSubject(subject_id=profile.subject_id, failures=failures, reason=reason)
        reply = answer.reply() if answer else None
        return decide_update(work.tenant_id, profile, reply, policy, as_of=work.as_of)
