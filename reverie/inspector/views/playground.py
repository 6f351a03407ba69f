"""Recall by two policies side by side with all signals and dropped candidates, and the context for a model.

Neither is logged: looking at memory does not count as an access.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from reverie.errors import InputError, PolicyError
from reverie.inspector.drawing import SIGNAL_COLOURS, Bar, stacked_bar
from reverie.inspector.views.page import InspectorPage
from reverie.inspector.visits import Visit
from reverie.policy import SIGNALS, Policy, load_policy, shipped_policies
from reverie.recall.contexts.context import assemble_context
from reverie.recall.contexts.explained import ContextLine, explain_lines
from reverie.recall.query import RecallQuery
from reverie.recall.recall import recall
from reverie.recall.result import Hit, RecallResult
from reverie.recall.roster import knows_subject

#: The tenant's own policy, in the forms.
OWN_POLICY = "own"
_LONGEST_QUESTION = 10_000


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownHit:
    """A hit with its score as a bar."""

    hit: Hit
    bars: Sequence[Bar]
    #: Name, value, weight and contribution of each signal, the largest first, without values of 0.
    parts: Sequence[tuple[str, float, float, float]]
    #: Place of the same item on the other side, from 1; None: it is absent there.
    other: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class PolicySide:
    """The answer by one policy."""

    policy: Policy
    result: RecallResult
    hits: Sequence[ShownHit]
    #: Number of candidates dropped for each reason.
    reasons: dict[str, int]


async def ask_recall(visit: Visit) -> Response:
    """Show the form, and the answers by one or two policies if a question was asked."""
    question, shown = _question(visit), list[str]()
    names = [name for name in (visit.value("first") or OWN_POLICY, visit.value("second")) if name]
    sides: list[PolicySide] = []
    if question and visit.request.method == "POST":
        policies = [_policy(visit, name) for name in names]
        results = [await _recall(visit, question, policy) for policy in policies]
        shown = signals_shown(results)
        sides = _sides(policies, results, shown)
    return visit.render(
        "recall.html",
        **_form(visit, question),
        first=names[0],
        second=names[1] if len(names) > 1 else "",
        sides=sides,
        legend=[(name, place % SIGNAL_COLOURS) for place, name in enumerate(shown)],
    )


async def show_context(visit: Visit) -> Response:
    """Show the form, and the context for a message."""
    question, context = _question(visit), None
    lines: Sequence[ContextLine] = ()
    first = visit.value("first") or OWN_POLICY
    if visit.request.method == "POST":
        context = await assemble_context(
            visit.caller.questioner(),
            RecallQuery(text=question or "", subject_id=await _subject(visit), as_of=visit.time() or visit.at),
            policy=_policy(visit, first),
            embedder=visit.services.embedder,
            reranker=visit.services.reranker,
        )
        lines = explain_lines(context)
    return visit.render("context.html", **_form(visit, question), first=first, context=context, lines=lines)


def _form(visit: Visit, question: str | None) -> dict[str, Any]:
    return {
        "subject": visit.value("subject"),
        "question": question,
        "as_of": visit.time(),
        "policies": shipped_policies(),
        "own": visit.caller.policy.name,
    }


def _question(visit: Visit) -> str | None:
    question = visit.entry("question")
    if question and len(question) > _LONGEST_QUESTION:
        raise InputError(f"A question has at most {_LONGEST_QUESTION:,} characters.")
    return question


async def _subject(visit: Visit) -> str:
    """Return the name in the form: as it is if there is such a subject, else without surrounding spaces."""
    name = visit.name("subject")
    if name != name.strip() and await asyncio.to_thread(knows_subject, visit.services.batches, visit.tenant_id, name):
        return name
    return name.strip() or name


def _policy(visit: Visit, name: str) -> Policy:
    if name == OWN_POLICY:
        return visit.caller.policy
    if name not in shipped_policies():
        raise InputError(f"There is no shipped policy {name!r}.")
    try:
        return load_policy(name)
    except PolicyError as error:
        raise InputError(str(error)) from error


async def _recall(visit: Visit, question: str, policy: Policy) -> RecallResult:
    query = RecallQuery(text=question, subject_id=await _subject(visit), as_of=visit.time() or visit.at)
    return await recall(
        visit.caller.questioner(),
        query,
        policy=policy,
        embedder=visit.services.embedder,
        reranker=visit.services.reranker,
    )


def _sides(policies: Sequence[Policy], results: Sequence[RecallResult], names: Sequence[str]) -> list[PolicySide]:
    scale = max((_positive(hit) for result in results for hit in result.hits), default=0.0)
    sides = []
    for place, (policy, result) in enumerate(zip(policies, results, strict=True)):
        others = results[1 - place].hits if len(results) > 1 else ()
        ranks = {hit.id: rank for rank, hit in enumerate(others, 1)}
        hits = [_shown(hit, names, scale, ranks.get(hit.id)) for hit in result.hits]
        reasons = dict(Counter(drop.reason for drop in result.dropped).most_common())
        sides.append(PolicySide(policy=policy, result=result, hits=hits, reasons=reasons))
    return sides


def _shown(hit: Hit, names: Sequence[str], scale: float, other: int | None) -> ShownHit:
    parts = {name: signal.contribution for name, signal in hit.signals.items()}
    ordered = sorted(hit.signals.items(), key=lambda item: -abs(item[1].contribution))
    return ShownHit(
        hit=hit,
        bars=stacked_bar(parts, names, scale),
        parts=[(name, signal.value, signal.weight, signal.contribution) for name, signal in ordered if signal.value],
        other=other,
    )


def _positive(hit: Hit) -> float:
    return sum(max(signal.contribution, 0.0) for signal in hit.signals.values())


def signals_shown(results: Sequence[RecallResult]) -> list[str]:
    """Return the signals that are part of a bar, in their order: only these need a colour."""
    raising = {
        name for result in results for hit in result.hits for name, signal in hit.signals.items()
        if signal.contribution > 0
    }  # fmt: skip
    return [name for name in SIGNALS if name in raising]


PAGES = (
    InspectorPage("recall", ask_recall),
    InspectorPage("recall", ask_recall, method="POST"),
    InspectorPage("context", show_context),
    InspectorPage("context", show_context, method="POST"),
)
