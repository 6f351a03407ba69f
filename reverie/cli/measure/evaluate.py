"""`reverie evaluate`: measure a tenant's memory without a judge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reverie.cli.measure.evaluate_summary import show_evaluation
from reverie.cli.options import as_of_option, json_option, policy_option, require_folder, tenant_option
from reverie.cli.output import note, print_json, write_file
from reverie.cli.session import CommandSession
from reverie.cli.signals import ending_cleanly

if TYPE_CHECKING:
    from reverie.evaluate.against import Rival
    from reverie.evaluate.evaluation import Evaluation, EvaluationPlan
    from reverie.store.work import Work

_FILE = click.Path(dir_okay=False, path_type=Path)


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of the command line."""

    tenant: str | None
    policy: str | None
    as_of: datetime | None
    questions: Path | None
    profiles: Path | None
    limit: int | None
    against: str | None
    against_model: str | None
    rebuilt: bool
    gate: bool
    ablations: bool
    ablate: bool
    record: bool
    jobs: int
    html: Path | None
    show_questions: bool
    as_json: bool

    def require_sense(self) -> None:
        """Raise a usage error for options that do not go together."""
        if self.gate and not (self.against or self.against_model):
            raise click.UsageError("--gate needs --against POLICY or --against-model NAME to compare with.")
        if self.rebuilt and not self.against and not self.against_model:
            raise click.UsageError("--rebuilt needs --against POLICY or --against-model NAME.")
        if self.html:
            require_folder(self.html, "--html")


@click.command("evaluate", short_help="Measure a tenant's memory without a judge.")
@tenant_option
@policy_option
@as_of_option("Read the log up to this time.")
@click.option(
    "--questions",
    type=_FILE,
    metavar="FILE",
    help="Labelled questions (JSON Lines), instead of ones made from the log.",
)
@click.option(
    "--profiles",
    type=_FILE,
    metavar="FILE",
    help="True profiles (JSON Lines of subject_id and profile), to compare the learned ones with.",
)
@click.option(
    "--limit",
    type=click.IntRange(1, 100_000),
    metavar="NUMBER",
    help="Maximum number of questions. [default: the policy's; all of a file]",
)
@click.option("--against", metavar="NAME|PATH", help="Ask the same questions under this policy, and compare.")
@click.option("--against-model", metavar="NAME", help="Compare with this embedding model. Implies --rebuilt.")
@click.option("--rebuilt", is_flag=True, help="Build memory again for the comparison, in a temporary database.")
@click.option("--gate", is_flag=True, help="Exit with 11 when quality falls by more than the policy's tolerance.")
@click.option("--ablations/--no-ablations", default=True, help="Also ask with parts of memory left out. [default: yes]")
@click.option("--ablate", is_flag=True, help="Also leave out each pass, signal and kind of memory, one at a time.")
@click.option("--record/--no-record", default=True, help="Keep the numbers in ops.evaluations. [default: yes]")
@click.option("--jobs", type=click.IntRange(1, 64), default=2, show_default=True, metavar="NUMBER", help="Connections.")
@click.option("--html", type=_FILE, metavar="FILE", help="Write a report with plots; it needs no network.")
@click.option("--show-questions", is_flag=True, help="Add the questions' texts to the report and to --json.")
@json_option
def command(**given: Any) -> None:
    """Measure a tenant's memory on held-back questions and on how it was used.

    The questions come from the log: messages that refer to something said in an earlier session, recalls with a good
    outcome, corrections. Each is asked as of its own time. Nothing is logged, and no judge or language model is asked.
    docs/evaluating.md defines every measure and its known error.

    \b
    Examples:
      reverie evaluate --tenant acme
      reverie evaluate --tenant acme --html report.html
      reverie evaluate --tenant acme --ablate
      reverie evaluate --tenant acme --questions labelled.jsonl --no-ablations --json
      reverie evaluate --tenant acme --profiles true_profiles.jsonl
      reverie evaluate --tenant acme --against mine.toml --rebuilt --gate
    """
    options = Options(**given)
    options.require_sense()
    with CommandSession(options.tenant, options.policy) as session, ending_cleanly():
        session.connections = options.jobs
        session.require_tenant()
        from reverie.evaluate.evaluation import evaluate

        work = session.work(session.time(options.as_of))
        evaluation = evaluate(work, _plan(session, work, options))
        if options.record:
            from reverie.evaluate.results import record_evaluation

            record_evaluation(session.worker, evaluation, driver="reverie")
        _print(evaluation, options)
        if options.html:
            _write_html(session, evaluation, options)
        if options.gate and evaluation.comparison:
            from reverie.evaluate.retrieval.comparing import require_quality

            require_quality(evaluation.comparison.differences, session.policy.evaluation)


def pass_gate(session: CommandSession, present: CommandSession, as_of: datetime) -> None:
    """Compare the policy of `session` with that of `present`, the tenant's own, on questions of the log.

    Both policies search the present memory. Raises QualityError if the policy of `session` finds less.
    """
    from reverie.evaluate.against import Rival, require_no_fall

    work = present.work(as_of)
    rival = Rival(
        policy=session.policy,
        embedder=work.embedder,
        name=session.policy_name,
        is_rebuilt=False,
    )
    comparison = require_no_fall(work, rival)
    asked, fewest = comparison.differences[0].questions if comparison else 0, work.policy.evaluation.fewest
    if asked < fewest:
        note(f"The gate passes: only {asked} questions could be made from the log, and it needs {fewest}.")
    else:
        note(f"The gate passes: quality did not fall on {asked} questions.")


def _told_once() -> Callable[[str], None]:
    """Return a progress callback that names each stage only once, since a history has hundreds of cycles."""
    told: set[str] = set()

    def tell(stage: str) -> None:
        if stage not in told:
            told.add(stage)
            note(f"Rebuilding in a temporary database: {stage}.")

    return tell


def _plan(session: CommandSession, work: Work, options: Options) -> EvaluationPlan:
    from reverie.evaluate.against import comparing
    from reverie.evaluate.evaluation import EvaluationPlan

    if session.embedder.price_per_token:
        note(f"The questions are embedded by {session.embedder.model}, which costs money; this cost is not recorded.")
    plan = EvaluationPlan(
        file=options.questions,
        profiles=options.profiles,
        ablate=options.ablations,
        ablate_each=options.ablate,
        jobs=options.jobs,
        limit=options.limit,
    )
    if not options.against and not options.against_model:
        return plan
    return comparing(work, _rival(session, options), plan)


def _rival(session: CommandSession, options: Options) -> Rival:
    from reverie.evaluate.against import Rival
    from reverie.inference.loading import load_embedder
    from reverie.policy import load_policy

    model = options.against_model
    return Rival(
        policy=load_policy(options.against) if options.against else session.policy,
        embedder=load_embedder(model, threads=session.settings.threads) if model else session.embedder,
        name=" and ".join(filter(None, (options.against, model))),
        is_rebuilt=options.rebuilt or model is not None,
        progress=_told_once(),
    )


def _write_html(session: CommandSession, evaluation: Evaluation, options: Options) -> None:
    from reverie.evaluate.report import report_page
    from reverie.evaluate.results import past_evaluations

    assert options.html is not None
    past = past_evaluations(session.worker, session.tenant_id, source=evaluation.source)
    write_file(options.html, report_page(evaluation, past, with_texts=options.show_questions))
    note(f"Wrote {options.html}.")


def _print(evaluation: Evaluation, options: Options) -> None:
    if options.as_json:
        print_json(as_json(evaluation, with_texts=options.show_questions))
    else:
        show_evaluation(evaluation)
        if options.show_questions:
            from reverie.cli.measure.evaluate_summary import show_texts

            show_texts(evaluation)


def as_json(evaluation: Evaluation, *, with_texts: bool) -> dict[str, object]:
    """Return an evaluation as JSON; without texts, questions are ids and numbers."""
    return {
        "tenant_id": evaluation.tenant_id,
        "as_of": evaluation.as_of,
        "policy": evaluation.policy,
        "policy_hash": evaluation.policy_hash,
        "model": evaluation.model,
        "source": evaluation.source,
        "questions": evaluation.questions,
        "left_out": evaluation.left_out,
        "seconds": evaluation.seconds,
        "measures": evaluation.measures(),
        "sources": [
            {"source": each.source, "questions": each.questions, **each.ranks._asdict(), "wrong": each.wrong}
            for each in evaluation.sources
        ],
        "bands": [
            {"sessions": each.sessions, "questions": each.questions, **each.ranks._asdict()}
            for each in evaluation.bands
        ],
        "ablations": {each.name: each.differences for each in evaluation.ablations},
        "parts": {each.name: {"changed": each.changed, "worth": each.differences} for each in evaluation.parts},
        "coverage": evaluation.coverage,
        "conduct": evaluation.conduct,
        "agreement": evaluation.agreement,
        "comparison": evaluation.comparison,
        "notes": evaluation.notes,
        "answers": [
            {
                "id": each.question.id,
                "source": each.question.source,
                "asked_at": each.question.asked_at,
                "needs": sorted(map(str, each.question.needs)),
                **each.ranks._asdict(),
            }
            | ({"question": each.question.text} if with_texts else {})
            for each in evaluation.answers
        ],
    }
