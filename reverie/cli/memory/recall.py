"""`reverie recall`: answer a question about a subject from memory, with an explanation of each hit."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from reverie.cli.options import as_of_option, filter_options, json_option, policy_option, tenant_option
from reverie.cli.output import format_value, heading, note, print_json, say, single_line, table
from reverie.cli.session import CommandSession
from reverie.errors import DatabaseError, InferenceError, NotFoundError

if TYPE_CHECKING:
    from reverie.inference.embedder import Embedder
    from reverie.recall.result import Hit, RecallResult
    from reverie.store.session import TenantSession

_KINDS = ("fact", "preference", "instruction", "episode", "pattern", "summary", "working")


@click.command("recall", short_help="Answer a question from memory; --why explains it.")
@click.argument("question")
@click.option("--subject", "-s", required=True, metavar="NAME", help="The subject of the question.")
@tenant_option
@as_of_option("Recall as of this time.")
@click.option(
    "--top-k", "-k", type=click.IntRange(min=1), metavar="N", help="Maximum number of hits. [default: the policy's]"
)
@click.option(
    "--budget", type=click.IntRange(min=0), metavar="TOKENS", help="Maximum number of tokens. [default: the policy's]"
)
@click.option("--kinds", metavar="KIND,...", help=f"Only memories of these kinds: {', '.join(_KINDS)}.")
@filter_options
@click.option("--include-compressed", is_flag=True, help="Also search memories that a pattern or summary replaced.")
@click.option(
    "--neighbours",
    type=click.IntRange(0, 10),
    default=0,
    metavar="N",
    help="Also return N turns before and after each hit.",
)
@click.option("--why", is_flag=True, help="Print each hit's signals, weights and ranks, and what was dropped and why.")
@policy_option
@json_option
def command(
    question: str,
    subject: str,
    tenant: str | None,
    as_of: datetime | None,
    budget: int | None,
    kinds: str | None,
    why: bool,
    policy: str | None,
    as_json: bool,
    **limits: Any,
) -> None:
    """Answer QUESTION about a subject with verbatim turns, facts, preferences, patterns and summaries, best first.

    Each recall is logged and counts as an access of the items that it returns, so items in use fade later.

    \b
    Examples:
      reverie recall "what is she allergic to?" --subject ana
      reverie recall "how did the video posts do?" --subject mumbai-bakery --tenant demo --why
      reverie recall "breakfast" --subject ana --kinds fact,preference --top-k 3 --json
    """
    from reverie.recall.query import RecallQuery
    from reverie.recall.recall import log_recall, recall
    from reverie.store.session import perform

    options = limits | {"token_budget": budget, "kinds": parse_kinds(kinds)}
    with CommandSession(tenant, policy) as session:
        session.require_tenant()
        embedder = embedder_or_none(session)
        age = session.asking_notes(embedder)
        recalled = recall(
            session.asking(embedder).session(session.tenant_id),
            RecallQuery(text=question, subject_id=subject, as_of=session.time(as_of), **options),
            policy=session.policy,
            embedder=embedder,
            reranker=session.reranker,
        )
        result = _with_notes(perform(recalled), age)
        _check_subject(session, result)
        if as_json:
            print_json(_flat(result))
        else:
            _print_result(result, why)
        # logged last, so that the answer does not wait for it
        log_answer(session, lambda there: log_recall(there, result))


def _check_subject(session: CommandSession, result: RecallResult) -> None:
    """Raise NotFoundError if nothing was found because the tenant has no such subject."""
    subject = result.subject_id
    if not result.hits and not session.knows_subject(subject):
        raise NotFoundError(
            f"Tenant {session.tenant_id} remembers nothing about {subject}.", unknown=("subject", subject)
        )


def _with_notes(result: RecallResult, notes: tuple[str, ...]) -> RecallResult:
    return replace(result, notes=(*result.notes, *notes))


def embedder_or_none(session: CommandSession) -> Embedder | None:
    """Return the embedder, or None if it fails: recall then searches by words and entities alone."""
    try:
        return session.embedder
    except InferenceError as error:
        note(f"Note: {error}")
        return None


def log_answer(session: CommandSession, log: Callable[[TenantSession], Coroutine[Any, Any, None]]) -> None:
    """Log an answer that was printed. A database that takes no entry, such as a read-only one, costs only a note."""
    from reverie.store.connect import database_errors
    from reverie.store.session import perform

    try:
        with database_errors():
            perform(log(session.primary_reader.session(session.tenant_id)))
    except DatabaseError as error:
        note(f"Note: this answer was not logged. {error}")


def parse_kinds(value: str | None) -> tuple[str, ...] | None:
    """Return the kinds named in a comma-separated list; None means any."""
    if value is None:
        return None
    kinds = tuple(kind.strip() for kind in value.split(",") if kind.strip())
    if unknown := [kind for kind in kinds if kind not in _KINDS]:
        raise click.BadParameter(f"{unknown[0]!r} is none of {', '.join(_KINDS)}.", param_hint="--kinds")
    return kinds or None


def _flat(result: RecallResult) -> dict[str, Any]:
    """Return the result with each hit as one flat object: `signal_<name>`, `weight_<name>`, `rank_<arm>`."""
    texts = ("question", "tenant_id", "subject_id", "asked_at", "policy", "policy_hash", "model", "reranker")
    numbers = ("total_tokens", "token_budget", "budget_used")
    return {name: getattr(result, name) for name in texts + numbers} | {
        "hits": [_flat_hit(place, hit) for place, hit in enumerate(result.hits, start=1)],
        "dropped": list(result.dropped),
        "notes": list(result.notes),
    }


def _flat_hit(place: int, hit: Hit) -> dict[str, Any]:
    fields = ("item", "id", "kind", "content", "happened_at", "score", "tokens", "importance", "turn_id", "session_id")
    flat: dict[str, Any] = {"place": place} | {name: getattr(hit, name) for name in fields}
    flat |= {"times": hit.times, "first_at": hit.first_at, "until": hit.until, "fresh": hit.fresh}
    flat["doubt"] = hit.doubt and hit.doubt._asdict()
    flat["reply_to"] = hit.reply_to and hit.reply_to._asdict()
    flat |= {name: [one._asdict() for one in getattr(hit, name)] for name in ("before", "after")}
    flat["moves"] = list(hit.moves)
    for arm, rank in hit.ranks.items():
        flat[f"rank_{arm}"] = rank
    for name, signal in hit.signals.items():
        flat |= {f"signal_{name}": signal.value, f"weight_{name}": signal.weight, f"gave_{name}": signal.contribution}
    return flat


def _print_result(result: RecallResult, why: bool) -> None:
    for sentence in result.notes:
        note(f"Note: {sentence}")
    (_print_why if why else _print)(result)


def _print(result: RecallResult) -> None:
    if not result.hits:
        say(f"Memory of {result.subject_id} has no answer to this.")
        return
    rows = [
        (place, f"{hit.score:.3f}", hit.kind, f"{hit.happened_at:%Y-%m-%d}", hit.id, _told(hit))
        for place, hit in enumerate(result.hits, start=1)
    ]
    table(("", "score", "kind", "when", "id", "content"), rows, right=("", "score"), ids=("id",))
    say(
        f"\n{result.total_tokens:,} of {result.token_budget:,} tokens. Why: --why; details of a hit: reverie explain ID"
    )


def _told(hit: Hit) -> str:
    """Return the hit on one line, with its neighbours on lines before and after it."""
    lines = [*(one.content for one in hit.before), hit.told, *(one.content for one in hit.after)]
    return "\n".join(single_line(line, 500) for line in lines)


def _print_why(result: RecallResult) -> None:
    models = f"model {result.model or 'none'}, reranker {result.reranker or 'none'}"
    say(f"Asked {format_value(result.asked_at)} by policy {result.policy} {result.policy_hash[:8]}, {models}.")
    for place, hit in enumerate(result.hits, start=1):
        ranks = ", ".join(f"{arm} {rank}" for arm, rank in hit.ranks.items())
        heading(f"{place}. {hit.score:.3f}  {hit.kind} of {hit.happened_at:%Y-%m-%d}  {hit.id}")
        say(f"“{_told(hit)}”")
        say(
            f"found by {ranks or 'none'}; {hit.tokens:,} tokens"
            + (f"; said in turn {hit.turn_id}" if hit.turn_id else "")
        )
        for move in hit.moves:
            say(move)
        rows = [
            (name, signal.value, signal.weight, signal.contribution)
            for name, signal in sorted(hit.signals.items(), key=lambda pair: -abs(pair[1].contribution))
            if signal.contribution or signal.value
        ]
        numbers = ("value", "weight", "gives")
        table(("signal", *numbers), rows, right=numbers)
    heading(f"dropped ({len(result.dropped):,})")
    reasons: dict[str, int] = {}
    for drop in result.dropped:
        reasons[drop.reason] = reasons.get(drop.reason, 0) + 1
    say(", ".join(f"{number:,} for {reason}" for reason, number in reasons.items()) or "nothing")
    if result.unranked:
        say(f"{result.unranked:,} more candidates ranked lower than that.")
    if result.dropped:
        drops = [(drop.score, drop.reason, drop.item, drop.id) for drop in result.dropped[:10]]
        table(("score", "reason", "item", "id"), drops, right=("score",))
    say(f"{result.total_tokens:,} of {result.token_budget:,} tokens.")
