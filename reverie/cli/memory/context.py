"""`reverie context`: the context about a subject for a language model, with its budget table."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reverie.cli.memory.recall import embedder_or_none, log_answer
from reverie.cli.options import as_of_option, json_option, names_in, policy_option, tenant_option
from reverie.cli.output import heading, note, print_json, say, single_line, table
from reverie.cli.session import CommandSession

if TYPE_CHECKING:
    from reverie.recall.contexts.context import Context
    from reverie.recall.contexts.request import Given

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
#: Maximum number of dropped items listed for people. JSON has them all.
_LISTED = 10


@click.command("context", short_help="Assemble the context about a subject for a language model.")
@click.argument("subject")
@click.argument("question", required=False)
@tenant_option
@as_of_option("Assemble the context as of this time.")
@click.option("--system", "system", type=_FILE, metavar="FILE", help="Text file with your own instructions.")
@click.option("--data", type=_FILE, metavar="FILE", help="JSON object: fields by service.")
@click.option("--tools", type=_FILE, metavar="FILE", help="JSON array of tools.")
@click.option("--history", type=_FILE, metavar="FILE", help='JSON array of turns: [{"role": ..., "content": ...}].')
@click.option(
    "--session",
    "session_id",
    metavar="NAME",
    help="The session of --history: its summaries replace older turns.",
)
@click.option("--account", type=_FILE, metavar="FILE", help="JSON object: plan, remaining quota, counts, engines.")
@click.option("--preference", "preferences", multiple=True, metavar="TEXT", help="A preference in this conversation.")
@click.option("--connections", metavar="NAME,...", help="The active connections: leave out information about others.")
@click.option(
    "--mode", type=click.Choice(["active", "off"]), default="active", help="off: leave out facts and memories."
)
@click.option("--mood", metavar="MOOD", help="The subject's mood. [default: the latest in the log]")
@click.option("--energy", metavar="ENERGY", help="high, medium or low.")
@click.option("--model", metavar="NAME", help="The chat model that reads the context, for its tokenizer.")
@click.option("--why", is_flag=True, help="Print each line with the ids of the items behind it.")
@click.option("--text", "only_text", is_flag=True, help="Print only the text.")
@policy_option
@json_option
def command(
    subject: str,
    question: str | None,
    tenant: str | None,
    as_of: datetime | None,
    why: bool,
    only_text: bool,
    policy: str | None,
    as_json: bool,
    **parts: Any,
) -> None:
    """Assemble the context about SUBJECT for a model that answers QUESTION: profile, memories, mood, your own data and
    the conversation, in the form and within the budgets of the policy. Without QUESTION, the context has the most
    important memories.

    The output lists what was left out. Each context is logged by ids and counts, and its recall counts as an access.

    \b
    Examples:
      reverie context ana "what should I cook tonight?"
      reverie context mumbai-bakery "why did traffic drop?" --tenant demo --data analytics.json --policy brain
      reverie context ana --mood sad --energy low --policy contact --text
    """
    from reverie.recall.contexts.context import assemble_context
    from reverie.recall.filters import Filters
    from reverie.recall.query import RecallQuery
    from reverie.store.session import perform

    filters = Filters(connections=names_in(parts.pop("connections")))
    given = _given(**parts)
    with CommandSession(tenant, policy) as session:
        session.require_tenant()
        embedder = embedder_or_none(session)
        age = session.asking_notes(embedder)
        assembled = assemble_context(
            session.asking(embedder).session(session.tenant_id),
            RecallQuery(text=question or "", subject_id=subject, as_of=session.time(as_of), filters=filters),
            policy=session.policy,
            embedder=embedder,
            reranker=session.reranker,
            given=given,
        )
        context = perform(assembled)
        context = replace(context, notes=(*context.notes, *age))
        (_print_json if as_json else _print_text if only_text else _print)(context)
        if why and not as_json:
            _print_lines(context)
        _log(session, context)  # last, so that the answer does not wait for it


def _log(session: CommandSession, context: Context) -> None:
    from reverie.recall.contexts.context import context_entries
    from reverie.store.entries import write_entries

    log_answer(session, lambda there: write_entries(there, context_entries(context)))


def _given(
    *,
    system: Path | None,
    data: Path | None,
    tools: Path | None,
    history: Path | None,
    account: Path | None,
    **others: Any,
) -> Given:
    """Return the caller's part, read from its files; `others` are passed to `Given` unchanged."""
    from reverie.recall.contexts.request import Given, Message

    turns = _read(history, list, "--history") or []
    if wrong := [turn for turn in turns if not isinstance(turn, dict) or {"role", "content"} - turn.keys()]:
        raise click.BadParameter(f"a turn needs role and content, not {str(wrong[0])[:80]}.", param_hint="--history")
    return Given(
        system=_read_text(system, "--system") if system else "",
        service_data=_read(data, dict, "--data") or {},
        tools=_read(tools, list, "--tools") or (),
        history=[Message(role=str(turn["role"]), content=str(turn["content"])) for turn in turns],
        account=_read(account, dict, "--account") or {},
        **others,
    )


def _read_text(path: Path, option: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise click.BadParameter(f"{path.name} is not a text file in UTF-8.", param_hint=option) from None


def _read(path: Path | None, shape: type, option: str) -> Any:
    """Return the content of a JSON file. Raises click.BadParameter if it is not JSON of this shape."""
    import orjson

    if path is None:
        return None
    try:
        value = orjson.loads(path.read_bytes())
    except orjson.JSONDecodeError as error:
        raise click.BadParameter(f"{path.name} is not JSON: {error}.", param_hint=option) from None
    if not isinstance(value, shape):
        raise click.BadParameter(
            f"{path.name} is not a JSON {'object' if shape is dict else 'array'}.", param_hint=option
        )
    return value


def _flat(context: Context) -> dict[str, Any]:
    """Return the context as one object: text, budget table, ids by section and line, dropped items, notes."""
    from reverie.recall.contexts.explained import explain_lines

    names = ("id", "tenant_id", "subject_id", "question", "assembled_at", "policy", "policy_hash", "form", "tokenizer")
    return {name: getattr(context, name) for name in names} | {
        "text": context.text,
        "total_tokens": context.total_tokens,
        "token_budget": context.token_budget,
        "relationship": context.relationship,
        "budget": context.budget_table(),
        "sections": [
            {"name": section.name, "text": section.text, "items": [id_ for line in section.lines for id_ in line.ids]}
            for section in context.sections
        ],
        "lines": list(explain_lines(context)),
        "dropped": list(context.dropped),
        "notes": list(context.notes),
    }


def _print_json(context: Context) -> None:
    print_json(_flat(context))


def _print_text(context: Context) -> None:
    say(context.text)


def _print_lines(context: Context) -> None:
    from reverie.recall.contexts.explained import explain_lines

    heading(f"lines of context {context.id}")
    rows = [
        (line.section, single_line(line.text, 60), " ".join(str(id_)[:18] for id_ in line.ids) or "yours")
        for line in explain_lines(context)
    ]
    table(("section", "line", "ids"), rows)
    say("Details: reverie explain ID, also for the id of this context later.")


def _print(context: Context) -> None:
    for sentence in context.notes:
        note(f"Note: {sentence}")
    say(context.text)
    heading(f"budget (tokens of {context.tokenizer})")
    rows = [
        (row["section"], row["tokens"], row["budget"], row["items"] or "", row["dropped"] or "")
        for row in context.budget_table()
    ]
    table(("section", "tokens", "budget", "items", "left out"), rows, right=("tokens", "budget", "items", "left out"))
    if context.dropped:
        heading(f"left out ({len(context.dropped):,})")
        drops = [(drop.section, drop.reason, drop.label, drop.id) for drop in context.dropped[:_LISTED]]
        table(("section", "why", "what", "id"), drops, ids=("id",))
    bond = context.relationship
    say(f"Relationship: {bond.stage}, {bond.sessions:,} sessions over {bond.days:,} days, streak {bond.streak:,}.")
