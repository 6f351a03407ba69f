"""`reverie explain`: the sources, history and future of a memory or of an entry of the scaffold."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from reverie.cli.options import json_option, tenant_option
from reverie.cli.output import bar, format_value, heading, pairs, print_json, say, single_line, table
from reverie.cli.session import CommandSession
from reverie.errors import NotFoundError

if TYPE_CHECKING:
    from uuid import UUID

    from reverie.recall.conflicts import MemoryConflict
    from reverie.recall.contexts.explained import ContextExplained
    from reverie.recall.inspect import CorrectionSeen, Explanation, Relative
    from reverie.recall.scaffold import EntryExplained
    from reverie.store.session import TenantSession

#: Reasons for forgetting a memory, in words.
_REASONS = {
    "faded": "because it had faded",
    "budget": "because the subject had more memories than its policy's budget and this was among the least valuable",
    "expired": "because it had expired",
    "unimportant": "because it was unimportant from the start",
    "wrong": "because a person marked it as wrong",
    "forgotten_on_request": "because a person asked for it",
}
#: Maximum number of turns and relatives shown to people. JSON has them all.
_SHOWN = 20


@click.command("explain", short_help="Explain where a memory comes from and when it will be forgotten.")
@click.argument("memory")
@tenant_option
@json_option
def command(memory: str, tenant: str | None, as_json: bool) -> None:
    """Explain MEMORY, an id or the beginning of one: the turns it comes from verbatim, the memories it was derived from
    and those derived from it, the run, policy and model that made it, its outcomes and entities, and when it will be
    forgotten. For a forgotten memory, print what its tombstone and lineage still say. The id of an entry of the
    scaffold (`reverie show`) explains its sources and the other values that were stated there. The id of a context
    (`reverie context --why`) prints which item was used for which line.

    \b
    Examples:
      reverie explain 019b8d6a-7f10-8c41-9a2
      reverie explain 019b8d6a-7f10-8c41-9a2 --json
    """
    from reverie.recall.inspect import explain
    from reverie.recall.scaffold import explain_entry
    from reverie.store.session import perform

    entry: EntryExplained | None = None
    context: ContextExplained | None = None
    with CommandSession(tenant) as session:
        session.require_tenant()
        tenant_session = session.reader.session(session.tenant_id)
        try:
            found = perform(explain(tenant_session, memory))
        except NotFoundError as unknown:
            try:
                entry = perform(explain_entry(tenant_session, memory, datetime.now(UTC)))
            except NotFoundError:
                context = _context(tenant_session, memory)
                if context is None:
                    raise unknown from None
    if as_json:
        explained: dict[str, object] = (
            {"context": context} if context else {"entry": entry} if entry else {"memory": found}
        )
        print_json({"tenant_id": session.tenant_id, **explained})
    elif context is not None:
        _print_context(context)
    elif entry is not None:
        _print_entry(entry)
    else:
        _print(found)


def _context(session: TenantSession, text: str) -> ContextExplained | None:
    """Return the logged context with this id, if it is the id of one."""
    from uuid import UUID

    from reverie.recall.contexts.explained import explain_context
    from reverie.store.session import perform

    try:
        return perform(explain_context(session, UUID(text.strip())))
    except (ValueError, NotFoundError):
        return None


def _print_context(context: ContextExplained) -> None:
    say(f"Context of {context.subject_id}, {context.total_tokens:,} tokens in the form {context.form}.")
    pairs([("assembled at", format_value(context.assembled_at)), ("request", context.request_id or "none")])
    rows = [
        (line.section, item.item, item.kind or "", item.id, single_line(item.content or "", 200))
        for line in context.lines
        for item in line.items
    ]
    table(("section", "item", "kind", "id", "content"), rows, ids=("id",))


def _print_entry(explained: EntryExplained) -> None:
    entry = explained.entry
    until = f" to {format_value(entry.valid_to)}" if entry.valid_to else ""
    say(entry.text)
    pairs(
        [
            ("id", str(entry.id)),
            ("subject", explained.subject_id),
            ("connection", entry.connection_id or None),
            ("state", entry.state + (f", against a value based on {entry.against}" if entry.against else "")),
            ("confidence", f"{bar(entry.confidence)} {entry.confidence:.2f}, based on {entry.basis}"),
            ("valid", f"from {format_value(entry.valid_from)}{until}"),
            ("model", entry.model or "none: by rules"),
            ("policy", entry.policy_hash),
        ]
    )
    heading(f"based on ({len(explained.sources):,})")
    for source in explained.sources[:_SHOWN]:
        say(f"{format_value(source.at)}  {source.source}, {source.kind}, {source.channel}")
        if source.content:
            say(f"  “{single_line(source.content, 400)}”")
    _print_rest(explained.sources)
    if explained.others:
        heading(f"also stated ({len(explained.others):,})")
        rows = [
            (other.valid_from, other.state, other.basis, other.id, other.text) for other in explained.others[:_SHOWN]
        ]
        table(("when", "state", "based on", "id", "entry"), rows)
        _print_rest(explained.others)


def _print(explanation: Explanation) -> None:
    if explanation.forgotten:
        _print_tombstone(explanation)
    else:
        _print_memory(explanation)
    if explanation.corrections:
        heading(f"corrections ({len(explanation.corrections):,})")
        table(("when", "what", "by", "state"), map(_correction_row, explanation.corrections))
    _print_sources(explanation)
    for title, relatives in (("derived from", explanation.parents), ("led to", explanation.children)):
        if relatives:
            heading(f"{title} ({len(relatives):,} memories)")
            rows = map(_relative_row, relatives[:_SHOWN])
            table(("when", "how", "similarity", "id", "memory"), rows, right=("similarity",))
            _print_rest(relatives)
    if explanation.conflicts:
        heading(f"in conflict with ({len(explanation.conflicts):,} memories)")
        conflicts = [_conflict_row(conflict, explanation.id) for conflict in explanation.conflicts]
        table(("when", "relation", "why", "id", "memory"), conflicts, ids=("id",))
    if explanation.outcomes:
        heading(f"outcomes ({len(explanation.outcomes):,})")
        outcomes = [
            (outcome.observed_at, outcome.metric, f"{outcome.value:g}", "good" if outcome.positive else "bad")
            for outcome in explanation.outcomes
        ]
        table(("when", "metric", "value", "was"), outcomes, right=("value",))


def _print_tombstone(explanation: Explanation) -> None:
    row, kind = explanation.memory, explanation.kind
    say(f"Forgotten: {'an' if kind[0] in 'aeiou' else 'a'} {kind}. Its content has been deleted.")
    pairs(
        [
            ("id", str(explanation.id)),
            ("subject", explanation.subject_id),
            ("forgotten", f"{format_value(row['forgotten_at'])}, {_REASONS.get(row['reason'], row['reason'])}"),
            ("importance", f"{bar(row['importance'])} {row['importance']:.2f} when last computed"),
            ("forgotten by", _run_text(explanation)),
        ]
    )


def _print_memory(explanation: Explanation) -> None:
    row = explanation.memory
    say(row["content"])
    pairs(
        [
            ("id", str(explanation.id)),
            ("subject", explanation.subject_id),
            ("kind", f"{explanation.kind}, {row['state']}"),
            ("covers", _turns(row)),
            ("happened", row["happened_at"]),
            ("states", _statement(row)),
            ("confidence", _confidence(row)),
            ("valid", _validity(explanation)),
            ("in doubt", _doubt(row)),
            ("last used", f"{format_value(row['accessed_at'])}, recalled {row['access_count']} times"),
            ("importance", _importance(row)),
            ("future", _future(explanation)),
            ("made by", f"{row['origin']}, in {_run_text(explanation)}"),
            ("policy", row["policy_hash"]),
            ("worded by", row["model"] or "rules"),
            ("entities", ", ".join(entity.id for entity in explanation.entities) or None),
        ]
    )


def _print_sources(explanation: Explanation) -> None:
    if explanation.turns:
        heading(f"comes from ({len(explanation.turns):,} turns)")
        for turn in explanation.turns[:_SHOWN]:
            how = "" if turn.direct else ", through another memory"
            readers = [reader for reader in (turn.read_by, turn.model) if reader]
            how += f", read by {' and by '.join(readers)}" if readers else ""
            how += f"; {turn.mark}, withheld from recall and contexts" if turn.mark else ""
            named = f"{turn.speaker or turn.role}, session {turn.session_id}, turn {turn.id}"
            say(f"{format_value(turn.said_at)}  {named}{how}")
            say(f"  “{single_line(turn.text, 400)}”")
        _print_rest(explanation.turns)
    if explanation.observed:
        heading(f"comes from ({len(explanation.observed):,} observations)")
        for observation in explanation.observed[:_SHOWN]:
            how = "" if observation.direct else ", through another memory"
            named = f"{observation.type}, {observation.channel}, {observation.source} {observation.id}"
            say(f"{format_value(observation.observed_at)}  {named}{how}")
            say(f"  “{single_line(observation.content, 400)}”")
        _print_rest(explanation.observed)


def _statement(row: dict[str, Any]) -> str | None:
    """Return what a memory states, as data: `lives in: Bergen (begins)`."""
    if row["object"] is None:
        return None
    relation = (row["relation"] or "statement").replace("_", " ")
    named = [row["who"], f"{relation} {row['topic']}" if row["topic"] else relation]
    return f"{', '.join(name for name in named if name)}: {single_line(row['object'], 200)} ({row['phase']})"


def _confidence(row: dict[str, Any]) -> str | None:
    """Return the confidence in a statement: `0.93, read by the reader and by the language model (0.74 by … alone)`."""
    from reverie.language.cues.keeping import REST

    if row["confidence"] is None:
        return None
    # the model of what is left of a statement is the judge that ended the rest of it
    is_claim = row["model"] and row["origin"] != REST
    by = "the language model" if is_claim else "the reader"
    if row["agreed"] is None:
        return f"{row['confidence']:.2f}, read by {by}"
    return f"{row['agreed']:.2f}, read by the reader and by the language model ({row['confidence']:.2f} by {by} alone)"


def _validity(explanation: Explanation) -> str | None:
    """Return the period for which a memory's statement holds, and what ended it."""
    row = explanation.memory
    if row["valid_from"] is None:
        return None
    if row["valid_to"] is None:
        return f"since {format_value(row['valid_from'])}"
    by = next((child.content for child in explanation.children if child.relation == "superseded"), None)
    said = f": “{single_line(by, 200)}”" if by else ", which is forgotten"
    until = f"{format_value(row['valid_from'])} to {format_value(row['valid_to'])}"
    words = f", in the message “{single_line(row['ended_words'], 200)}”" if row["ended_words"] else ""
    if row["superseded_by"] == row["ended_by"]:  # the message states nothing by itself
        return f"{until}, ended by turn {row['ended_by']}{words}; reverie undo puts it back"
    return f"{until}, superseded by {row['superseded_by']}{said}{words}; reverie undo puts it back"


def _doubt(row: dict[str, Any]) -> str | None:
    """Return which message may have ended a memory that is in force, and how probable the judge finds that."""
    if row["doubted_by"] is None or row["valid_to"] is not None or not row["doubt_words"]:
        return None
    words = f"the message “{single_line(row['doubt_words'], 200)}” (turn {row['doubted_by']})"
    return f"may be over by {words}, with a chance of {row['doubt']:.2f}"


def _turns(row: dict[str, Any]) -> str | None:
    return f"turns {row['turn_start']}-{row['turn_end']} of session {row['session_id']}" if row["turn_start"] else None


def _importance(row: dict[str, Any]) -> str:
    now = row["importance"]
    before = f"{row['base']:.2f} when new, {row['peak']:.2f} when last used"
    return f"{bar(now)} {now:.2f} as of {format_value(row['decayed_at'])}; {before}"


def _future(explanation: Explanation) -> str:
    row = explanation.memory
    if explanation.is_pinned:
        return "kept until it is unpinned"
    if row["into_id"] is not None:
        merged = any(child.similarity is not None for child in explanation.children)
        hint = "; reverie undo separates them" if merged else ""
        return f"kept as long as {format_value(row['into_id'])}, which replaces it{hint}"
    if row["forget_at"] is None:
        return "kept permanently"
    if row["expires_at"] is not None and row["forget_at"] >= row["expires_at"]:
        return f"ends on {format_value(row['expires_at'])}; forgotten after {format_value(row['forget_at'])}"
    return f"forgotten after {format_value(row['forget_at'])} unless it is stated again or recalled"


def _run_text(explanation: Explanation) -> str:
    if explanation.run is None:
        return "a run that is no longer in the ledger"
    run = explanation.run
    return f"{run['stage']} as of {format_value(run['as_of'])} (policy {run['policy']})"


def _correction_row(correction: CorrectionSeen) -> tuple[Any, ...]:
    state = "applied" if correction.worked_in or correction.kind == "keep_apart" else "waiting for a worker"
    if correction.retracted:
        state = "taken back"
    return (correction.corrected_at, correction.kind, correction.actor or "unknown", state)


def _conflict_row(conflict: MemoryConflict, memory_id: UUID) -> tuple[Any, ...]:
    is_first = conflict.memory_id == memory_id
    other = (conflict.other_id, conflict.other_content) if is_first else (conflict.memory_id, conflict.content)
    return (conflict.since, conflict.relation, conflict.reason, other[0], single_line(other[1], 200))


def _relative_row(relative: Relative) -> tuple[Any, ...]:
    content = "(forgotten)" if relative.content is None else relative.content
    return (relative.as_of, relative.relation, relative.similarity, relative.id, content)


def _print_rest(rows: Sequence[Any]) -> None:
    if len(rows) > _SHOWN:
        say(f"and {len(rows) - _SHOWN:,} more: --json")
