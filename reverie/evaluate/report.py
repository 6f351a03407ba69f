"""An evaluation as one HTML page with plots, which opens without a network. Needs the extra `report`, for plotly.

The page has ids and numbers; the questions' texts only where the user asks for them.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from reverie.evaluate.evaluation import Evaluation
from reverie.evaluate.retrieval.ablations import NOT_MEASURED
from reverie.evaluate.retrieval.comparing import Difference
from reverie.evaluate.retrieval.ranks import Ranks

if TYPE_CHECKING:
    from reverie.evaluate.results import PastEvaluation

#: How the measures of a ranking are called.
_TITLES = {"precision_5": "P@5", "ndcg_5": "NDCG@5", "recall_10": "R@10", "found_10": "found@10"}
#: Rates that are plotted over time.
_RATES = ("utilisation", "correction_rate", "user_repeat_rate", "assistant_repeat_rate", "fact_accuracy")
_COLOURS = ("#3d6fb6", "#2a9d8f", "#e9a03b", "#8a5fbf", "#c8553d")
_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1c2733; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.5rem; }
table { border-collapse: collapse; } td, th { padding: .25rem .9rem .25rem 0; text-align: left; vertical-align: top; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
th { border-bottom: 1px solid #9aa7b4; } .note { color: #5b6875; }
"""


def report_page(evaluation: Evaluation, past: Sequence[PastEvaluation], *, with_texts: bool = False) -> str:
    """Return the page; `past` are evaluations of the tenant, oldest first, for the plots over time."""
    body = "\n".join((*_summary(evaluation), *_plots(evaluation, past), *_questions(evaluation, with_texts)))
    title = f"Memory of tenant {html.escape(evaluation.tenant_id)}"
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f"<style>{_STYLE}</style></head><body>\n<h1>{title}</h1>\n{body}\n</body></html>\n"
    )


def _summary(evaluation: Evaluation) -> Iterator[str]:
    yield _note(
        f"Policy {evaluation.policy} ({evaluation.policy_hash}), model {evaluation.model}, as of "
        f"{evaluation.as_of:%Y-%m-%d %H:%M} UTC. {evaluation.questions:,} questions from {evaluation.source}, each "
        f"asked as of its own time, in {evaluation.seconds:.1f} seconds. What each measure means, and its known error: "
        "docs/evaluating.md."
    )
    yield from map(_note, evaluation.notes)
    yield "<h2>Measures</h2>"
    named = [(_TITLES.get(name, name.replace("_", " ")), value) for name, value in evaluation.measures().items()]
    yield _table(("measure", "value"), [(name, _number(value)) for name, value in named])


def _plots(evaluation: Evaluation, past: Sequence[PastEvaluation]) -> Iterator[str]:
    figures = [(title, text, figure) for title, text, figure in _figures(evaluation, past) if figure is not None]
    for place, (title, text, figure) in enumerate(figures):
        yield f"<h2>{html.escape(title)}</h2>"
        yield _note(text)
        # the library is in the page once, so that it opens offline
        yield figure.to_html(full_html=False, include_plotlyjs=place == 0, config={"displaylogo": False})
    if evaluation.ablations:
        yield from (_note(f"Not measured: {name}. {reason}.") for name, reason in NOT_MEASURED.items())


def _figures(evaluation: Evaluation, past: Sequence[PastEvaluation]) -> Iterator[tuple[str, str, Any]]:
    yield (
        "What recall finds",
        "By what the questions were made of.",
        _grouped({f"{each.source} ({each.questions:,})": each.ranks for each in evaluation.sources}),
    )
    yield (
        "Cold start",
        "R@10 and NDCG@5 by how many sessions of the subject came before the question.",
        _cold_start(evaluation),
    )
    yield (
        "Ablations",
        "The same questions with a part of memory left out. Questions made from a log share words with what they refer "
        "to, so they flatter recall without vectors.",
        _ablations(evaluation),
    )
    yield (
        "What each text tells",
        "Share of the needed turns' content words that a text has; a text that nobody has is left out.",
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
            "Mean change of each measure, with its confidence interval; below 0 is worse.",
            _intervals(evaluation.comparison.differences),
        )
    for names, title in ((tuple(_TITLES), "Quality over time"), (_RATES, "Rates over time")):
        yield title, f"{len(past):,} evaluations.", _over_time(past, names)


def _figure(traces: Sequence[Any], **layout: Any) -> Any:
    from plotly import graph_objects

    if not traces:
        return None
    shared = {"template": "plotly_white", "height": 360, "margin": {"t": 20, "r": 20}, "colorway": _COLOURS}
    return graph_objects.Figure(data=traces, layout=shared | layout)


def _grouped(rows: dict[str, Ranks]) -> Any:
    from plotly import graph_objects

    traces = [
        graph_objects.Bar(name=title, x=list(rows), y=[getattr(each, name) for each in rows.values()])
        for name, title in _TITLES.items()
    ]
    return _figure(traces if rows else [], barmode="group", yaxis={"range": [0, 1]})


def _cold_start(evaluation: Evaluation) -> Any:
    from plotly import graph_objects

    bands = evaluation.bands
    x = [f"{each.sessions}+" for each in bands]
    hover = [f"{each.questions:,} questions" for each in bands]
    traces = [
        graph_objects.Scatter(
            name=_TITLES[name], x=x, y=[getattr(each.ranks, name) for each in bands], text=hover, mode="lines+markers"
        )
        for name in ("recall_10", "ndcg_5")
    ]
    return _figure(
        traces if bands else [], yaxis={"range": [0, 1]}, xaxis={"title": {"text": "sessions before the question"}}
    )


def _ablations(evaluation: Evaluation) -> Any:
    if not evaluation.ablations:
        return None
    rows = {each.name: Ranks(*(one.before for one in each.differences)) for each in evaluation.ablations}
    return _grouped(rows | {"all of recall": Ranks(*(one.after for one in evaluation.ablations[0].differences))})


def _coverage(evaluation: Evaluation) -> Any:
    from plotly import graph_objects

    known = [each for each in evaluation.coverage if each.covered is not None]
    bar = graph_objects.Bar(
        x=[each.name for each in known], y=[each.covered for each in known],
        text=[f"{each.words:.0f} words" for each in known],
    )  # fmt: skip
    return _figure([bar] if known else [], yaxis={"range": [0, 1]})


def _growth(evaluation: Evaluation) -> Any:
    from plotly import graph_objects

    growth = evaluation.conduct.growth
    line = graph_objects.Scatter(
        x=list(range(1, len(growth.after) + 1)), y=growth.after, mode="lines+markers",
        text=[f"{number:,} subjects" for number in growth.subjects],
    )  # fmt: skip
    return _figure([line] if any(growth.after) else [], xaxis={"title": {"text": "sessions"}})


def _intervals(differences: Sequence[Difference]) -> Any:
    from plotly import graph_objects

    points = graph_objects.Scatter(
        x=[each.change for each in differences], y=[_TITLES[each.measure] for each in differences], mode="markers",
        error_x={
            "symmetric": False,
            "array": [each.high - each.change for each in differences],
            "arrayminus": [each.change - each.low for each in differences],
        },
    )  # fmt: skip
    return _figure([points] if differences else [], xaxis={"zeroline": True, "zerolinewidth": 2})


def _over_time(past: Sequence[PastEvaluation], names: Sequence[str]) -> Any:
    from plotly import graph_objects

    traces = []
    for name in names:
        known = [(each.as_of, value) for each in past if (value := each.measures.get(name)) is not None]
        if known:
            x, y = zip(*known, strict=True)
            title = _TITLES.get(name, name.replace("_", " "))
            traces.append(graph_objects.Scatter(name=title, x=x, y=y, mode="lines+markers"))
    return _figure(traces)


def _questions(evaluation: Evaluation, with_texts: bool) -> Iterator[str]:
    if not evaluation.answers:
        return
    yield "<h2>Questions, those that find least first</h2>"
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


def _number(value: float | None) -> str:
    return "nothing to measure" if value is None else f"{value:,.3f}"
