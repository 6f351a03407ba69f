"""An evaluation as one HTML page with plots, which opens offline. It needs the extra `report`, for plotly.

The page has ids and numbers, and the texts of questions only if the user asks for them.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from reverie.evaluate.evaluation import Evaluation, SourceQuality
from reverie.evaluate.retrieval.ablations import NOT_MEASURED, Ablation
from reverie.evaluate.retrieval.comparing import Difference, interval

if TYPE_CHECKING:
    from reverie.evaluate.results import PastEvaluation

#: Titles of the measures of a ranking.
_TITLES = {"precision_5": "P@5", "ndcg_5": "NDCG@5", "recall_10": "R@10", "found_10": "found@10"}
#: Titles of the other measures, and formats of their numbers.
_MEASURES = {
    "utilisation": ("context utilisation", ".1%"),
    "observation_rate": ("observations per session", ".2f"),
    "correction_rate": ("corrections per 100 messages", ".2f"),
    "user_repeat_rate": ("questions that users repeat", ".1%"),
    "assistant_repeat_rate": ("questions that the assistant repeats", ".1%"),
    "fact_accuracy": ("facts that were not corrected", ".1%"),
    "scaffold_accuracy": ("scaffold entries that were not corrected", ".1%"),
    "profile_accuracy": ("profile entries that agree with the true ones", ".1%"),
    "profile_coverage": ("true profile entries that were learned", ".1%"),
    "key_flattening": ("growth of keys: second half over first", ".2f"),
    "sessions_to_useful": ("sessions until 80 % of today's keys", ".0f"),
    "converges_at_sessions": ("sessions until recall converges", ".0f"),
}
#: Rates that are plotted over time.
_RATES = ("utilisation", "user_repeat_rate", "assistant_repeat_rate", "fact_accuracy", "scaffold_accuracy")
#: Colours of measures and rates, each with one meaning. A plot of a single series is grey.
_COLOURS = dict(
    zip(
        (*_TITLES, *_RATES),
        ("#3d6fb6", "#2a9d8f", "#e9a03b", "#8a5fbf", "#c8553d", "#5b8c5a", "#b0578d", "#2f3e4e", "#b59a3c"),
        strict=True,
    )
)
_GREY = "#6b7a8f"
_DAY = timedelta(days=1)
_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1c2733; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.5rem; }
table { border-collapse: collapse; font-size: .95rem; }
td, th { padding: .25rem .9rem .25rem 0; text-align: left; vertical-align: top; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
th { border-bottom: 1px solid #9aa7b4; } .note { color: #5b6875; }
.warning { background: #fdf3d8; border-left: 4px solid #e9a03b; padding: .6rem 1rem; }
"""


def report_page(evaluation: Evaluation, past: Sequence[PastEvaluation], *, with_texts: bool = False) -> str:
    """Return the page; `past` has evaluations of the tenant, oldest first, for the plots over time."""
    body = "\n".join((*_summary(evaluation), *_plots(evaluation, past), *_questions(evaluation, with_texts)))
    title = f"Memory of tenant {html.escape(evaluation.tenant_id)}"
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width">'
        f"<style>{_STYLE}</style></head><body>\n<h1>{title}</h1>\n{body}\n</body></html>\n"
    )


def _summary(evaluation: Evaluation) -> Iterator[str]:
    origin = "the log" if evaluation.source == "log" else evaluation.source
    yield _note(
        f"Policy {evaluation.policy} ({evaluation.policy_hash}), model {evaluation.model}, as of "
        f"{evaluation.as_of:%Y-%m-%d %H:%M} UTC. {_count(evaluation.questions, 'question')} from {origin}, "
        f"each asked as of its own time, in {evaluation.seconds:.1f} seconds. What each measure means, and its known "
        "error: docs/evaluating.md."
    )
    yield from (f'<p class="warning">{html.escape(each)}</p>' for each in evaluation.notes)
    yield "<h2>Measures</h2>"
    rows = []
    for name, value in evaluation.measures().items():
        title, form = _MEASURES.get(name, (_TITLES.get(name, name.replace("_", " ")), ".3f"))
        rows.append((title, "nothing to measure" if value is None else f"{value:{form}}"))
    yield _table(("measure", "value"), rows)


def _plots(evaluation: Evaluation, past: Sequence[PastEvaluation]) -> Iterator[str]:
    has_library = False
    for title, text, shown in _figures(evaluation, past):
        if shown is None:
            continue
        yield f"<h2>{html.escape(title)}</h2>"
        yield _note(text)
        if isinstance(shown, str):
            yield shown
            continue
        # include the library once, so that the page opens offline
        yield shown.to_html(
            full_html=False, include_plotlyjs=not has_library, config={"displayModeBar": False, "responsive": True}
        )
        has_library = True
    if evaluation.ablations:
        yield from map(_note, NOT_MEASURED)


def _figures(evaluation: Evaluation, past: Sequence[PastEvaluation]) -> Iterator[tuple[str, str, Any]]:
    """Yield title, text, and a plot or HTML; None if there is nothing to show."""
    confidence = f"{100 * evaluation.numbers.confidence:g} %"
    yield (
        "What recall finds",
        f"By source of the questions, each with its {confidence} confidence interval.",
        _found(evaluation),
    )
    yield (
        "Cold start",
        "R@10 and NDCG@5 by the number of sessions of the subject before the question.",
        _cold_start(evaluation),
    )
    left_out = evaluation.ablations or evaluation.parts
    asked = left_out[0].differences[0].questions if left_out else 0
    yield (
        "Ablations",
        f"The same questions ({asked:,}) with a part of memory left out. Questions made from a log share words with "
        "what they refer to, so they flatter recall without vectors.",
        _left_out(evaluation, evaluation.ablations, "recall"),
    )
    yield (
        "What each part is worth",
        f"The same questions ({asked:,}) without one pass, signal or kind of memory at a time.",
        _left_out(evaluation, evaluation.parts, "recall without"),
    )
    yield (
        "Coverage of each text",
        "Share of the needed turns' content words in each text. A text that no subject has is left out.",
        _coverage(evaluation),
    )
    yield (
        "Growth of keys",
        "Mean number of keys per subject after its n-th session, over subjects that had as many.",
        _growth(evaluation),
    )
    if evaluation.comparison:
        yield (
            f"Against {evaluation.comparison.against}",
            f"Mean change of each measure, with its {confidence} confidence interval; below 0 is worse.",
            _intervals(evaluation.comparison.differences),
        )
    yield from _over_time(past)


def _figure(traces: Sequence[Any], x: str, y: str, **layout: Any) -> Any:
    from plotly import graph_objects

    if not traces:
        return None
    shared = {
        "template": "plotly_white",
        "height": 360,
        "margin": {"t": 20, "r": 20},
        "showlegend": len(traces) > 1,
        "xaxis": {"automargin": True, "title": {"text": x, "standoff": 12}} | layout.pop("xaxis", {}),
        "yaxis": {"automargin": True, "title": y} | layout.pop("yaxis", {}),
    }
    return graph_objects.Figure(data=traces, layout=shared | layout)


def _found(evaluation: Evaluation) -> Any:
    """Return a plot of each measure by source of questions, with an interval of its mean."""
    from plotly import graph_objects

    sources = evaluation.sources
    traces = []
    for place, (name, title) in enumerate(_TITLES.items()):
        means = [each.ranks[place] for each in sources]
        bounds = [_bounds(evaluation, each, place) for each in sources]
        error = {
            "symmetric": False,
            "array": [high - mean for (_, high), mean in zip(bounds, means, strict=True)],
            "arrayminus": [mean - low for (low, _), mean in zip(bounds, means, strict=True)],
            "color": "#1c2733",
            "thickness": 1,
        }
        x = [f"{each.source} ({each.questions:,})" for each in sources]
        traces.append(graph_objects.Bar(name=title, x=x, y=means, error_y=error, marker_color=_COLOURS[name]))
    return _figure(
        traces if sources else [],
        "made of (questions)",
        "mean over questions",
        barmode="group",
        yaxis={"range": [0, 1.02]},
    )


def _bounds(evaluation: Evaluation, source: SourceQuality, place: int) -> tuple[float, float]:
    values = [each.ranks[place] for each in evaluation.answers if each.question.source == source.source]
    return interval(np.array(values), evaluation.numbers.confidence)


def _left_out(evaluation: Evaluation, ablations: Sequence[Ablation], of: str) -> str | None:
    """Return a table of recall with each part left out, and whether the questions show a difference."""
    if not ablations:
        return None
    whole = ablations[0].differences
    rows = [("all of recall", *(f"{each.after:.3f}" for each in whole), "", "")]
    for each in ablations:
        gained = next(one for one in each.differences if one.measure == "recall_10")
        rows.append(
            (
                each.name.removeprefix("without the ") if of == "recall without" else each.name,
                *(f"{one.before:.3f}" for one in each.differences),
                f"{gained.low:+.3f} to {gained.high:+.3f}",
                gained.verdict(evaluation.numbers).replace(" is found", " is found by all of recall"),
            )
        )
    confidence = f"{100 * evaluation.numbers.confidence:g} %"
    return _table((of, *_TITLES.values(), f"all of recall gains R@10, {confidence}", "told apart?"), rows)


def _cold_start(evaluation: Evaluation) -> Any:
    from plotly import graph_objects

    bands = evaluation.bands
    x = [f"{each.sessions}+ ({each.questions:,})" for each in bands]
    traces = [
        graph_objects.Scatter(
            name=_TITLES[name], x=x, y=[getattr(each.ranks, name) for each in bands], mode="lines+markers",
            line_color=_COLOURS[name],
        )
        for name in ("recall_10", "ndcg_5")
    ]  # fmt: skip
    return _figure(
        traces if bands else [],
        "sessions before the question (questions)",
        "mean over questions",
        yaxis={"range": [0, 1.02]},
    )


def _coverage(evaluation: Evaluation) -> Any:
    from plotly import graph_objects

    known = [each for each in evaluation.coverage if each.covered is not None]
    bar = graph_objects.Bar(
        x=[each.name for each in known], y=[each.covered for each in known], marker_color=_GREY,
        text=[f"{each.words:.0f} words" for each in known],
    )  # fmt: skip
    return _figure([bar] if known else [], "text", "share of words", yaxis={"range": [0, 1.02], "tickformat": ".0%"})


def _growth(evaluation: Evaluation) -> Any:
    from plotly import graph_objects

    growth = evaluation.conduct.growth
    line = graph_objects.Scatter(
        x=list(range(1, len(growth.after) + 1)), y=growth.after, mode="lines+markers", line_color=_GREY,
        text=[f"{number:,} subjects" for number in growth.subjects],
    )  # fmt: skip
    return _figure(
        [line] if any(growth.after) else [], "sessions of the subject", "keys", yaxis={"rangemode": "tozero"}
    )


def _intervals(differences: Sequence[Difference]) -> Any:
    from plotly import graph_objects

    points = graph_objects.Scatter(
        x=[each.change for each in differences], y=[_TITLES[each.measure] for each in differences], mode="markers",
        marker_color=[_COLOURS[each.measure] for each in differences],
        error_x={
            "symmetric": False,
            "array": [each.high - each.change for each in differences],
            "arrayminus": [each.change - each.low for each in differences],
            "color": _GREY,
        },
    )  # fmt: skip
    return _figure([points] if differences else [], "change", "", xaxis={"zeroline": True, "zerolinewidth": 2})


def _over_time(past: Sequence[PastEvaluation]) -> Iterator[tuple[str, str, Any]]:
    """Yield the plots over time; evaluations of a single time, as with a fixed clock, have none."""
    times = {each.as_of for each in past}
    if not past:
        return
    if len(times) == 1:
        yield (
            "Over time",
            f"{_count(len(past), 'evaluation')} so far, as of {past[0].as_of:%Y-%m-%d %H:%M} UTC. Evaluations as of "
            "other times show here how quality and rates change.",
            "",
        )
        return
    for names, title, form in ((tuple(_TITLES), "Quality over time", ""), (_RATES, "Rates over time", ".0%")):
        yield title, f"{_count(len(past), 'evaluation')}.", _lines(past, names, form)


def _lines(past: Sequence[PastEvaluation], names: Sequence[str], form: str) -> Any:
    from plotly import graph_objects

    traces = []
    for name in names:
        known = [(each.as_of, value) for each in past if (value := each.measures.get(name)) is not None]
        if known:
            x, y = zip(*known, strict=True)
            title = _TITLES.get(name) or _MEASURES[name][0]
            traces.append(graph_objects.Scatter(name=title, x=x, y=y, mode="lines+markers", line_color=_COLOURS[name]))
    # an axis of less than a day would be labelled in seconds
    first, last = past[0].as_of, past[-1].as_of
    short = max(_DAY - (last - first), timedelta()) / 2
    return _figure(
        traces,
        "as of",
        "",
        xaxis={"range": [first - short - _DAY / 4, last + short + _DAY / 4]},
        yaxis={"range": [0, 1.02], "tickformat": form},
    )


def _questions(evaluation: Evaluation, with_texts: bool) -> Iterator[str]:
    if not evaluation.answers:
        return
    yield "<h2>Questions, worst first</h2>"
    columns = ("id", "made of", "asked at", *_TITLES.values(), *(("question",) if with_texts else ()))
    rows = [
        (
            each.question.id, each.question.source, f"{each.question.asked_at:%Y-%m-%d %H:%M}",
            *(f"{value:.2f}" for value in each.ranks), *((each.question.text,) if with_texts else ()),
        )
        for each in sorted(evaluation.answers, key=lambda one: (one.ranks.recall_10, one.ranks.ndcg_5))
    ]  # fmt: skip
    yield f"<details><summary>{len(rows):,} questions</summary>{_table(columns, rows)}</details>"


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    numbers = {place for place, name in enumerate(columns) if name in {"value", *_TITLES.values()}}

    def cells(row: Sequence[str], tag: str) -> str:
        parts = (
            f'<{tag} class="number">{html.escape(cell)}</{tag}>'
            if place in numbers
            else f"<{tag}>{html.escape(cell)}</{tag}>"
            for place, cell in enumerate(row)
        )
        return f"<tr>{''.join(parts)}</tr>"

    return f"<table>{cells(columns, 'th')}{''.join(cells(row, 'td') for row in rows)}</table>"


def _note(text: str) -> str:
    return f'<p class="note">{html.escape(text)}</p>'


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}" + ("" if number == 1 else "s")
