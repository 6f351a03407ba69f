"""`reverie context`: what a model would be told about a subject, with its budget table."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reverie.cli.memory.recall import embedder_or_none
from reverie.cli.options import as_of_option, json_option, policy_option, tenant_option
from reverie.cli.output import heading, note, print_json, say, table
from reverie.cli.session import Session

if TYPE_CHECKING:
    from reverie.recall.contexts.context import Context
    from reverie.recall.contexts.given import Given

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
#: Of what was left out, as many are named to people; JSON has them all.
_NAMED = 10


@click.command("context", short_help="Assemble what a model is told about a subject, within its budgets.")
@click.argument("subject")
@click.argument("question", required=False)
@tenant_option
@as_of_option("Assemble it as if it were then.")
@click.option("--system", "system", type=_FILE, metavar="FILE", help="Text of your own instructions.")
@click.option("--data", type=_FILE, metavar="FILE", help="JSON object: fields by service.")
@click.option("--tools", type=_FILE, metavar="FILE", help="JSON array of tools.")
@click.option("--history", type=_FILE, metavar="FILE", help='JSON array of turns: [{"role": ..., "content": ...}].')
@click.option(
    "--session",
    "session_id",
    metavar="NAME",
    help="The session that --history is of: its summaries stand for older turns.",
)
@click.option("--mood", metavar="MOOD", help="How the subject feels. [default: the latest in the log]")
@click.option("--energy", metavar="ENERGY", help="high, medium or low.")
@click.option("--model", metavar="NAME", help="Chat model that will read it, for its tokenizer.")
@click.option("--text", "only_text", is_flag=True, help="The text alone.")
@policy_option
@json_option
def command(
    subject: str,
    question: str | None,
    tenant: str | None,
    as_of: datetime | None,
    system: Path | None,
    data: Path | None,
    tools: Path | None,
    history: Path | None,
    session_id: str | None,
    mood: str | None,
    energy: str | None,
    model: str | None,
    only_text: bool,
    policy: str | None,
    as_json: bool,
) -> None:
    """Assemble what a model is told about SUBJECT before it answers QUESTION: profile, memories, mood, your own data
    and the conversation, in the form and within the budgets of the policy. Without QUESTION the most important memories
    are given.

    What was left out is named. Each context is logged by ids and counts, its recall counts as an access.

    \b
    Examples:
      reverie context ana "what should I cook tonight?"
      reverie context mumbai-bakery "why did traffic drop?" --tenant demo --data analytics.json --policy brain
      reverie context ana --mood sad --energy low --policy contact --text
    """
    from reverie.recall.contexts.context import assemble_context, context_entries
    from reverie.store.entries import write_entries
    from reverie.store.session import perform

    given = _given(system, data, tools, history, session_id, mood, energy, model)
    with Session(tenant, policy) as session:
        session.require_tenant()
        as_of = session.time(as_of)
        embedder = embedder_or_none(session)
        assembled = assemble_context(
            session.asking(embedder).session(session.tenant_id),
            question,
            subject_id=subject,
            policy=session.policy,
            as_of=as_of,
            embedder=embedder,
            reranker=session.reranker,
            given=given,
        )
        found = perform(assembled)
        if as_json:
            print_json(flat(found))
        elif only_text:
            say(found.text)
        else:
            _print(found)
        # last, so that nobody waits for it
        perform(write_entries(session.reader.session(session.tenant_id), context_entries(found)))


def _given(
    system: Path | None,
    data: Path | None,
    tools: Path | None,
    history: Path | None,
    session_id: str | None,
    mood: str | None,
    energy: str | None,
    model: str | None,
) -> Given:
    from reverie.recall.contexts.given import Given, Message

    turns = _read(history, list, "--history") or []
    if wrong := [turn for turn in turns if not isinstance(turn, dict) or {"role", "content"} - turn.keys()]:
        raise click.BadParameter(f"a turn needs role and content, found {str(wrong[0])[:80]}.", param_hint="--history")
    return Given(
        system=system.read_text(encoding="utf-8") if system else "",
        service_data=_read(data, dict, "--data") or {},
        tools=_read(tools, list, "--tools") or (),
        history=[Message(role=str(turn["role"]), content=str(turn["content"])) for turn in turns],
        session_id=session_id,
        mood=mood,
        energy=energy,
        model=model,
    )


def _read(path: Path | None, shape: type, option: str) -> Any:
    """What a JSON file holds, if it has the shape."""
    import orjson

    if path is None:
        return None
    try:
        found = orjson.loads(path.read_bytes())
    except orjson.JSONDecodeError as error:
        raise click.BadParameter(f"{path.name} is not JSON: {error}.", param_hint=option) from None
    if not isinstance(found, shape):
        raise click.BadParameter(
            f"{path.name} holds no JSON {'object' if shape is dict else 'array'}.", param_hint=option
        )
    return found


def flat(found: Context) -> dict[str, Any]:
    """The context as one object: text, budget table, ids by section, what was left out, notes."""
    told = ("id", "tenant_id", "subject_id", "question", "assembled_at", "policy", "policy_hash", "form", "tokenizer")
    return {name: getattr(found, name) for name in told} | {
        "text": found.text,
        "total_tokens": found.total_tokens,
        "token_budget": found.token_budget,
        "relationship": found.relationship,
        "budget": found.budget_table(),
        "sections": [
            {"name": one.name, "text": one.text, "items": [line.id for line in one.lines if line.id]}
            for one in found.sections
        ],
        "dropped": list(found.dropped),
        "notes": list(found.notes),
    }


def _print(found: Context) -> None:
    for sentence in found.notes:
        note(f"Note: {sentence}")
    say(found.text)
    heading(f"budget (tokens of {found.tokenizer})")
    rows = [
        (row["section"], row["tokens"], row["budget"], row["items"] or "", row["dropped"] or "")
        for row in found.budget_table()
    ]
    table(("section", "tokens", "budget", "items", "left out"), rows, right=("tokens", "budget", "items", "left out"))
    if found.dropped:
        heading(f"left out ({len(found.dropped):,})")
        gone = [(one.section, one.reason, one.label, one.id) for one in found.dropped[:_NAMED]]
        table(("section", "why", "what", "id"), gone, ids=("id",))
    known = found.relationship
    say(f"Relationship: {known.stage}, {known.sessions:,} sessions over {known.days:,} days, streak {known.streak:,}.")
