"""`reverie explain`: where one memory or entry of a profile comes from, what became of it and what will."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from reverie.cli.options import json_option, tenant_option
from reverie.cli.output import bar, format_value, heading, pairs, print_json, say, single_line, table
from reverie.cli.session import Session
from reverie.errors import NotFoundError

if TYPE_CHECKING:
    from reverie.recall.inspect import CorrectionSeen, Explanation, Relative
    from reverie.recall.scaffold import EntryExplained

#: Why something was forgotten, in words.
_REASONS = {
    "faded": "since it had faded",
    "unimportant": "since it was unimportant from the start",
    "wrong": "since a person said that it was wrong",
    "forgotten_on_request": "since a person asked for it",
}
#: Turns and relatives shown to people; JSON has them all.
_SHOWN = 20


@click.command("explain", short_help="Say where a memory comes from and what will become of it.")
@click.argument("memory")
@tenant_option
@json_option
def command(memory: str, tenant: str | None, as_json: bool) -> None:
    """Say all about MEMORY, given by its id or the beginning of it: the turns it comes from word for word, what it was
    made of and went into, the run, policy and model that made it, outcomes, what it speaks of, when it will be
    forgotten. Of a forgotten memory what its tombstone and lineage still tell. The id of an entry of the scaffold
    (`reverie show`) says what it rests on and what else was stated there.

    \b
    Examples:
      reverie explain 019b8d6a-7f10-8c41-9a2
      reverie explain 019b8d6a-7f10-8c41-9a2 --json
    """
    from reverie.recall.inspect import explain
    from reverie.recall.scaffold import explain_entry
    from reverie.store.steps import perform

    entry: EntryExplained | None = None
    with Session(tenant) as session:
        try:
            found = explain(session.reader, tenant_id=session.tenant_id, memory=memory)
        except NotFoundError as unknown:
            try:
                steps = explain_entry(session.tenant_id, memory, datetime.now(UTC))
                entry = perform(session.reader, session.tenant_id, steps)
            except NotFoundError:
                raise unknown from None
    if as_json:
        told = {"memory": found} if entry is None else {"entry": entry}
        print_json({"tenant_id": session.tenant_id, **told})
    elif entry is None:
        _print(found)
    else:
        _print_entry(entry)


def _print_entry(found: EntryExplained) -> None:
    one = found.entry
    say(one.text)
    pairs(
        [
            ("id", str(one.id)),
            ("subject", found.subject_id),
            ("connection", one.connection_id or None),
            ("state", one.state + (f", against what rests on: {one.against}" if one.against else "")),
            ("sure", f"{bar(one.confidence)} {one.confidence:.2f}, rests on: {one.basis}"),
            (
                "holds",
                f"from {format_value(one.valid_from)}" + (f" to {format_value(one.valid_to)}" if one.valid_to else ""),
            ),
            ("model", one.model or "none: by rules"),
            ("policy", one.policy_hash),
        ]
    )
    heading(f"rests on ({len(found.sources):,})")
    for each in found.sources[:_SHOWN]:
        say(f"{format_value(each.at)}  {each.source}, {each.kind}, {each.channel}")
        if each.content:
            say(f"  “{single_line(each.content, 400)}”")
    _rest(found.sources)
    if found.others:
        heading(f"also stated ({len(found.others):,})")
        rows = [(each.valid_from, each.state, each.basis, each.id, each.text) for each in found.others[:_SHOWN]]
        table(("when", "state", "rests on", "id", "entry"), rows)
        _rest(found.others)


def _print(found: Explanation) -> None:
    row = found.memory
    if found.forgotten:
        say(f"Forgotten: {'an' if found.kind[0] in 'aeiou' else 'a'} {found.kind}, of which the words are gone.")
        pairs(
            [
                ("id", str(found.id)),
                ("subject", found.subject_id),
                ("forgotten", f"{format_value(row['forgotten_at'])}, {_REASONS.get(row['reason'], row['reason'])}"),
                ("importance", f"{bar(row['importance'])} {row['importance']:.2f} when it was last worked out"),
                ("forgotten by", _run_text(found)),
            ]
        )
    else:
        say(row["content"])
        pairs(
            [
                ("id", str(found.id)),
                ("subject", found.subject_id),
                ("kind", f"{found.kind}, {row['state']}"),
                ("tells", _turns(row)),
                ("happened", row["happened_at"]),
                ("last used", f"{format_value(row['accessed_at'])}, recalled {row['access_count']} times"),
                ("importance", _importance(row)),
                ("future", _future(found)),
                ("made by", f"{row['origin']}, in {_run_text(found)}"),
                ("policy", row["policy_hash"]),
                ("words", row["model"] or "the rules'"),
                ("speaks of", ", ".join(each.id for each in found.entities) or None),
            ]
        )
    if found.corrections:
        heading(f"asked for ({len(found.corrections):,})")
        table(("when", "what", "by", "state"), map(_asked, found.corrections))
    if found.turns:
        heading(f"comes from ({len(found.turns):,} turns)")
        for turn in found.turns[:_SHOWN]:
            way = "" if turn.direct else ", by way of another memory"
            way += f"; {turn.mark}, withheld from recall and contexts" if turn.mark else ""
            say(f"{format_value(turn.said_at)}  {turn.speaker or turn.role}, session {turn.session_id}{way}")
            say(f"  “{single_line(turn.text, 400)}”")
        _rest(found.turns)
    if found.observed:
        heading(f"comes from ({len(found.observed):,} observations)")
        for each in found.observed[:_SHOWN]:
            way = "" if each.direct else ", by way of another memory"
            say(f"{format_value(each.observed_at)}  {each.type}, {each.channel}{way}")
            say(f"  “{single_line(each.content, 400)}”")
        _rest(found.observed)
    for title, relatives in (("made of", found.parents), ("went into", found.children)):
        if relatives:
            heading(f"{title} ({len(relatives):,} memories)")
            table(
                ("when", "how", "similarity", "id", "memory"), map(_relative, relatives[:_SHOWN]), right=("similarity",)
            )
            _rest(relatives)
    if found.outcomes:
        heading(f"outcomes ({len(found.outcomes):,})")
        rows = [
            (each.observed_at, each.metric, f"{each.value:g}", "good" if each.positive else "bad")
            for each in found.outcomes
        ]
        table(("when", "metric", "value", "was"), rows, right=("value",))


def _turns(row: dict[str, Any]) -> str | None:
    return f"turns {row['turn_start']}-{row['turn_end']} of session {row['session_id']}" if row["turn_start"] else None


def _importance(row: dict[str, Any]) -> str:
    now = row["importance"]
    before = f"{row['base']:.2f} when new, {row['peak']:.2f} when last used"
    return f"{bar(now)} {now:.2f} as of {format_value(row['decayed_at'])}; {before}"


def _future(found: Explanation) -> str:
    row, pins = found.memory, [each.kind for each in found.corrections if each.kind in ("pin", "unpin")]
    if pins and pins[-1] == "pin":
        return "kept until it is unpinned"
    if row["into_id"] is not None:
        hint = "; reverie undo parts them" if any(each.similarity is not None for each in found.children) else ""
        return f"kept as long as {format_value(row['into_id'])}, which stands for it{hint}"
    if row["forget_at"] is None:
        return "kept for good"
    return f"forgotten after {format_value(row['forget_at'])} unless it is said again or recalled"


def _run_text(found: Explanation) -> str:
    if found.run is None:
        return "a run that is no longer in the ledger"
    return f"{found.run['stage']} as of {format_value(found.run['as_of'])} (policy {found.run['policy']})"


def _asked(each: CorrectionSeen) -> tuple[Any, ...]:
    state = "worked in" if each.worked_in else "waits for a worker"
    return (each.corrected_at, each.kind, each.actor or "unknown", state)


def _relative(each: Relative) -> tuple[Any, ...]:
    content = "(forgotten)" if each.content is None else each.content
    return (each.as_of, each.relation, each.similarity, each.id, content)


def _rest(rows: Sequence[Any]) -> None:
    if len(rows) > _SHOWN:
        say(f"and {len(rows) - _SHOWN:,} more: --json")
