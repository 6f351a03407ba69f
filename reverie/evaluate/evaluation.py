"""An evaluation of one tenant's memory: every measure, without a judge (spec E6, Agent 8)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from reverie.evaluate.conduct.growth import KeyGrowth, key_growth, keys_first_known
from reverie.evaluate.conduct.rates import (
    CorrectedShare,
    corrected_shares,
    correction_rate,
    correction_trend,
    observation_rate,
    session_counts,
)
from reverie.evaluate.conduct.repeats import RepeatedQuestions, questions_put, repeated_questions
from reverie.evaluate.conduct.truth import Agreement, measure_agreement
from reverie.evaluate.conduct.utilisation import Utilisation, context_utilisation
from reverie.evaluate.retrieval.ablations import Ablation, AskedMemory, Coverage, ablate, ablate_each, cover
from reverie.evaluate.retrieval.answering import AskedAnswer, embedded, subjects_known
from reverie.evaluate.retrieval.cold_start import SessionBand, converges_at, session_bands, sessions_before
from reverie.evaluate.retrieval.comparing import Difference, differences
from reverie.evaluate.retrieval.held_back import questions_of_log
from reverie.evaluate.retrieval.question import HeldQuestion
from reverie.evaluate.retrieval.question_file import questions_of_file
from reverie.evaluate.retrieval.ranks import Ranks, mean_ranks
from reverie.inference import Embedder
from reverie.policy import EvaluationPolicy, Policy
from reverie.store.work import Work

#: Maximum number of questions of an ablation, spread over all, since each ablation asks them again.
ABLATED = 100


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceQuality:
    """The quality of recall on the questions of one source."""

    source: str
    questions: int
    ranks: Ranks
    #: Share of answers with an item that a person called wrong; None if there is nothing to avoid.
    wrong: float | None
    #: Mean number of tokens per answer.
    tokens: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Drift:
    """The differences for the same questions under another policy or model."""

    #: The other policy or model.
    against: str
    #: Whether memory was rebuilt for it, in a database of its own.
    is_rebuilt: bool
    differences: tuple[Difference, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Conduct:
    """The measures of memory in use."""

    utilisation: Utilisation
    repeats: tuple[RepeatedQuestions, ...]
    sessions: int
    #: Interactive observations per session.
    observation_rate: float | None
    #: Corrections per 100 messages: over all sessions, and over their first and second halves.
    correction_rate: float | None
    correction_trend: tuple[float | None, float | None]
    facts: CorrectedShare
    scaffold: CorrectedShare
    growth: KeyGrowth


@dataclass(frozen=True, kw_only=True, slots=True)
class Evaluation:
    """The result of an evaluation of one tenant."""

    tenant_id: str
    as_of: datetime
    policy: str
    policy_hash: str
    model: str
    #: `log`, or the name of the file of questions.
    source: str
    answers: tuple[AskedAnswer, ...]
    #: Number of questions of a file whose turns are not in the log, or whose turn ids several sessions have.
    left_out: int
    sources: tuple[SourceQuality, ...]
    bands: tuple[SessionBand, ...]
    ablations: tuple[Ablation, ...]
    #: Recall without each of its parts, if requested.
    parts: tuple[Ablation, ...] = ()
    coverage: tuple[Coverage, ...]
    conduct: Conduct
    #: Agreement of profiles with the true ones, if a file has these.
    agreement: Agreement | None = None
    comparison: Drift | None = None
    #: Limits for a meaningful difference: `fewest` and `confidence`.
    numbers: EvaluationPolicy
    #: Notes for people.
    notes: tuple[str, ...] = field(default=())
    seconds: float

    @property
    def questions(self) -> int:
        """The number of questions that were asked."""
        return len(self.answers)

    def measures(self) -> dict[str, float | None]:
        """Return the measures by name, as they are stored and plotted; None if there is nothing to measure."""
        ranks = mean_ranks([each.ranks for each in self.answers])
        conduct = self.conduct
        return {
            "precision_5": ranks.precision_5 if ranks else None,
            "ndcg_5": ranks.ndcg_5 if ranks else None,
            "recall_10": ranks.recall_10 if ranks else None,
            "found_10": ranks.found_10 if ranks else None,
            "utilisation": conduct.utilisation.rate,
            "observation_rate": conduct.observation_rate,
            "correction_rate": conduct.correction_rate,
            **{f"{each.role}_repeat_rate": each.rate for each in conduct.repeats},
            "fact_accuracy": conduct.facts.accuracy,
            "scaffold_accuracy": conduct.scaffold.accuracy,
            "profile_accuracy": self.agreement.accuracy if self.agreement else None,
            "profile_coverage": self.agreement.coverage if self.agreement else None,
            "key_flattening": conduct.growth.flattening,
            "sessions_to_useful": conduct.growth.sessions_to_useful,
            "converges_at_sessions": converges_at(self.bands),
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class EvaluationPlan:
    """The parts of an evaluation besides the measures of the log."""

    #: File of labelled questions; None: questions are made from the log.
    file: Path | None = None
    #: File of true profiles to compare with the learned ones.
    profiles: Path | None = None
    ablate: bool = True
    #: Whether each pass, signal and kind of memory is left out as well, one at a time.
    ablate_each: bool = False
    #: Comparison with the same questions elsewhere; see `evaluate/against.py`.
    compare: Callable[[Sequence[HeldQuestion], Sequence[Ranks]], Drift] | None = None
    #: Number of connections that ask questions.
    jobs: int = 2
    #: Maximum number of questions; None: the policy's of the log, and all of a file.
    limit: int | None = None


def evaluate(work: Work, plan: EvaluationPlan) -> Evaluation:
    """Measure the memory of the work's tenant; nothing is changed, logged or counted as an access.

    The cost of a paid embedder is not booked; the caller warns about it. Questions of the log are those up to `as_of`.

    Raises:
        InputError: the file of questions or profiles cannot be read, or no question's turn is in the log.
    """
    began, store, tenant_id = time.perf_counter(), work.store, work.tenant_id
    numbers = work.policy.evaluation
    if plan.limit is not None:
        numbers = numbers.model_copy(update={"questions": plan.limit})
    asked, left_out = _questions(work, plan, numbers)
    memory = asked_memory(work, asked, embedder=work.embedder, policy=work.policy, jobs=plan.jobs)
    answers = memory.answers()
    bands = session_bands(sessions_before(store, tenant_id, asked), [each.ranks for each in answers])
    ablations: tuple[Ablation, ...] = ()
    coverage: tuple[Coverage, ...] = ()
    step = max(1, -(-len(asked) // ABLATED))
    some, of_some = memory.of(asked[::step]), answers[::step]
    if plan.ablate and asked:
        ablations, coverage = tuple(ablate(some, of_some)), tuple(cover(some, of_some))
    return Evaluation(
        tenant_id=tenant_id,
        as_of=work.as_of,
        policy=work.policy.name,
        policy_hash=work.policy.hash,
        model=work.embedder.model,
        source=plan.file.name if plan.file else "log",
        answers=tuple(answers),
        left_out=left_out,
        sources=tuple(_by_source(answers)),
        bands=tuple(bands),
        ablations=ablations,
        coverage=coverage,
        parts=tuple(ablate_each(some, of_some)) if plan.ablate_each and asked else (),
        conduct=measure_conduct(work, numbers),
        agreement=measure_agreement(store, tenant_id, plan.profiles, policy=work.policy, as_of=work.as_of)
        if plan.profiles
        else None,
        comparison=plan.compare(asked, [each.ranks for each in answers]) if plan.compare and asked else None,
        numbers=numbers,
        notes=tuple(_notes(answers, left_out, numbers.fewest)),
        seconds=round(time.perf_counter() - began, 3),
    )


def _questions(work: Work, plan: EvaluationPlan, numbers: EvaluationPolicy) -> tuple[list[HeldQuestion], int]:
    """Return the questions of the plan's file or of the log, and how many of the file were left out."""
    store, tenant_id = work.store, work.tenant_id
    if plan.file is None:
        return questions_of_log(store, tenant_id, numbers=numbers, embedder=work.embedder, as_of=work.as_of), 0
    asked, left_out = questions_of_file(store, tenant_id, plan.file)
    return asked[: plan.limit], left_out


def asked_memory(
    work: Work, asked: Sequence[HeldQuestion], *, embedder: Embedder, policy: Policy, jobs: int = 2
) -> AskedMemory:
    """Return questions about the memory of the work's store, embedded in one call."""
    known = subjects_known(work.store, work.tenant_id, asked)
    return AskedMemory(
        store=work.store,
        tenant_id=work.tenant_id,
        asked=asked,
        known=known,
        policy=policy,
        embedder=embedded(asked, known, embedder),
        jobs=jobs,
    )


def compared(against: str, memory: AskedMemory, before: Sequence[Ranks], policy: Policy, *, is_rebuilt: bool) -> Drift:
    """Return the differences for the same questions elsewhere, by the gate's numbers of the tenant's present policy."""
    after = [each.ranks for each in memory.answers()]
    return Drift(
        against=against, is_rebuilt=is_rebuilt, differences=tuple(differences(before, after, policy.evaluation))
    )


def measure_conduct(work: Work, numbers: EvaluationPolicy) -> Conduct:
    """Return the measures that need no question: utilisation, repeats, rates and growth."""
    store, tenant_id, as_of = work.store, work.tenant_id, work.as_of
    sessions = session_counts(store, tenant_id, as_of=as_of)
    put = questions_put(store, tenant_id, as_of=as_of, limit=numbers.questions)
    facts, scaffold = corrected_shares(store, tenant_id, as_of=as_of)
    return Conduct(
        utilisation=context_utilisation(store, tenant_id, as_of=as_of, numbers=numbers, model=work.embedder.model),
        repeats=tuple(repeated_questions(put, embedder=work.embedder, numbers=numbers)),
        sessions=len(sessions),
        observation_rate=observation_rate(sessions),
        correction_rate=correction_rate(sessions),
        correction_trend=correction_trend(sessions),
        facts=facts,
        scaffold=scaffold,
        growth=key_growth(sessions, keys_first_known(store, tenant_id, as_of=as_of)),
    )


def _by_source(answers: Sequence[AskedAnswer]) -> list[SourceQuality]:
    found = []
    for source in dict.fromkeys(each.question.source for each in answers):
        some = [each for each in answers if each.question.source == source]
        avoiding = [each.is_wrong for each in some if each.question.avoids]
        if ranks := mean_ranks([each.ranks for each in some]):
            found.append(
                SourceQuality(
                    source=source,
                    questions=len(some),
                    ranks=ranks,
                    wrong=sum(avoiding) / len(avoiding) if avoiding else None,
                    tokens=sum(each.tokens for each in some) / len(some),
                )
            )
    return found


def _notes(answers: Sequence[AskedAnswer], left_out: int, fewest: int) -> list[str]:
    notes = []
    if len(answers) < fewest:
        asked = "1 question is" if len(answers) == 1 else f"{len(answers)} questions are"
        notes.append(f"{asked} fewer than {fewest}: too few to judge a difference, so a gate lets it pass.")
    if left_out:
        notes.append(
            f"{left_out} questions of the file were left out: the log lacks a turn that they need, or several sessions "
            "have its id."
        )
    return notes
