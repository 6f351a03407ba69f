"""The summary of `reverie evaluate`, for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from reverie.cli.output import bar, heading, note, pairs, say, single_line, table

if TYPE_CHECKING:
    from reverie.evaluate.conduct.truth import Agreement
    from reverie.evaluate.evaluation import Conduct, Drift, Evaluation
    from reverie.evaluate.retrieval.comparing import Difference

#: Titles of the measures of a ranking.
TITLES = {"precision_5": "P@5", "ndcg_5": "NDCG@5", "recall_10": "R@10", "found_10": "found@10"}
#: Maximum number of questions in a list.
_SHOWN = 40
#: Number of questions that a part must change before its interval is shown.
_TELLING = 10


def show_evaluation(evaluation: Evaluation) -> None:
    """Print the summary: numbers without the texts of questions."""
    say(
        f"Tenant {evaluation.tenant_id}, policy {evaluation.policy} ({evaluation.policy_hash}), {evaluation.model}: "
        f"{evaluation.questions:,} questions in {evaluation.seconds:.1f} s."
    )
    if evaluation.sources:
        heading("What recall finds")
        table(
            ("questions made of", "questions", *TITLES.values(), "wrong", "tokens"),
            [
                (
                    each.source, each.questions, *(f"{value:.3f}" for value in each.ranks),
                    share(each.wrong), round(each.tokens),
                )
                for each in evaluation.sources
            ],
            right=("questions", *TITLES.values(), "wrong", "tokens"),
        )  # fmt: skip
    else:
        say("No question could be made from the log: nothing in it refers to an earlier session yet.")
    if evaluation.bands:
        heading("Cold start: by sessions before the question")
        table(
            ("sessions", "questions", "R@10", "NDCG@5", ""),
            [
                (f"{each.sessions}+", each.questions, f"{each.ranks.recall_10:.3f}", f"{each.ranks.ndcg_5:.3f}",
                 bar(each.ranks.recall_10))
                for each in evaluation.bands
            ],
            right=("sessions", "questions", "R@10", "NDCG@5"),
        )  # fmt: skip
    if evaluation.ablations:
        _show_ablations(evaluation)
    if evaluation.parts:
        _show_parts(evaluation)
    _show_conduct(evaluation.conduct)
    if evaluation.agreement:
        _show_agreement(evaluation.agreement)
    if evaluation.comparison:
        _show_comparison(evaluation.comparison, evaluation)
    for each in evaluation.notes:
        note(each)


def share(value: float | None) -> str:
    """Return a share as a percentage; a dash if there was nothing to measure."""
    return "-" if value is None else f"{100 * value:.1f} %"


def _show_ablations(evaluation: Evaluation) -> None:
    heading("Ablations: what recall finds with a part left out")
    whole = evaluation.ablations[0].differences
    rows: list[Sequence[object]] = [("all of recall", *(f"{each.after:.3f}" for each in whole), "")]
    for each in evaluation.ablations:
        recall = next(one for one in each.differences if one.measure == "recall_10")
        rows.append((each.name, *(f"{one.before:.3f}" for one in each.differences), _interval(recall)))
    table(("memory", *TITLES.values(), "R@10 gained by the rest"), rows, right=tuple(TITLES.values()))
    heading("Share of the needed content in each text")
    table(
        ("text", "covered", "words"),
        [(each.name, "no such text" if each.covered is None else share(each.covered), round(each.words))
         for each in evaluation.coverage],
        right=("covered", "words"),
    )  # fmt: skip
    from reverie.evaluate.retrieval.ablations import NOT_MEASURED

    for sentence in NOT_MEASURED:
        say(sentence)


def _show_parts(evaluation: Evaluation) -> None:
    heading("What each part is worth: all of recall against recall without it")
    rows: list[Sequence[object]] = []
    for each in evaluation.parts:
        worth = {one.measure: one for one in each.differences}
        tells = _interval(worth["recall_10"]) if (each.changed or 0) >= _TELLING else "too few to tell"
        gains = (f"{worth[name].change:+.3f}" for name in ("recall_10", "ndcg_5"))
        rows.append((each.name.removeprefix("without the "), each.changed, *gains, tells))
    measured = ("questions changed", "R@10", "NDCG@5")
    table(("part", *measured, "R@10, 95 %"), rows, right=measured)


def _show_conduct(conduct: Conduct) -> None:
    heading("In use")
    used, growth = conduct.utilisation, conduct.growth
    early, late = conduct.correction_trend
    rows: list[tuple[str, str]] = [
        ("context utilisation", f"{share(used.rate)} of {used.items:,} items before {used.replies:,} replies"),
        ("observation rate", f"{_number(conduct.observation_rate)} per session, {conduct.sessions:,} sessions"),
        (
            "correction rate",
            f"{_number(conduct.correction_rate)} per 100 messages ({_number(early)} early, {_number(late)} late)",
        ),
        ("accuracy of facts", f"{share(conduct.facts.accuracy)} of {conduct.facts.learned:,} were not corrected"),
        (
            "accuracy of the scaffold",
            f"{share(conduct.scaffold.accuracy)} of {conduct.scaffold.learned:,} were not corrected",
        ),
        ("growth of keys", f"{_number(growth.flattening)} (second half over first; below 1 flattens)"),
        ("useful after", f"{_number(growth.sessions_to_useful, digits=0)} sessions (80 % of today's keys)"),
    ]
    rows += [
        (f"repeated by {each.role}", f"{share(each.rate)} of {each.questions:,} questions") for each in conduct.repeats
    ]
    pairs(rows)


def _show_agreement(found: Agreement) -> None:
    heading(f"Learned profiles and true ones, of {found.subjects:,} subjects")
    pairs(
        [
            ("accuracy", f"{share(found.accuracy)} of {found.correct + found.wrong:,} that were learned"),
            ("coverage", f"{share(found.coverage)} of {found.correct + found.wrong + found.missing:,}"),
            ("not learned", f"{found.missing:,}"),
        ]
    )


def _show_comparison(comparison: Drift, evaluation: Evaluation) -> None:
    built = ", memory built again" if comparison.is_rebuilt else ", asked of the same memory"
    heading(f"Against {comparison.against}{built}")
    table(
        ("measure", evaluation.policy, comparison.against, "change", "interval"),
        [
            (TITLES[each.measure], f"{each.before:.3f}", f"{each.after:.3f}", f"{each.change:+.3f}", _interval(each))
            for each in comparison.differences
        ],
        right=(evaluation.policy, comparison.against, "change", "interval"),
    )


def show_texts(evaluation: Evaluation) -> None:
    """Print the questions that find least, with their texts."""
    heading("Questions, worst first")
    worst = sorted(evaluation.answers, key=lambda each: each.ranks.recall_10)[:_SHOWN]
    table(
        ("asked at", "R@10", "question"),
        [(each.question.asked_at, f"{each.ranks.recall_10:.2f}", single_line(each.question.text)) for each in worst],
        right=("R@10",),
    )


def _interval(difference: Difference) -> str:
    return f"{difference.low:+.3f} to {difference.high:+.3f}"


def _number(value: float | None, *, digits: int = 2) -> str:
    return "-" if value is None else f"{value:.{digits}f}"
