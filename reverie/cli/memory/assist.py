"""`reverie assist`: suggest tools, find lessons of other sessions, rank an inbox, poll states."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reverie.cli.memory.recall import embedder_or_none, log_answer
from reverie.cli.options import as_of_option, json_option, tenant_option
from reverie.cli.output import format_value, heading, note, print_json, say, single_line, table
from reverie.cli.session import CommandSession

if TYPE_CHECKING:
    from reverie.recall.assist.inbox import InboxItem
    from reverie.recall.assist.lessons import Lesson
    from reverie.recall.assist.tools import ToolSuggestion

subject_option = click.option("--subject", "-s", required=True, metavar="NAME", help="The person it is about.")


@click.group("assist", short_help="Suggest tools, find lessons, rank an inbox, poll states.")
def command() -> None:
    """Suggest tools, find lessons of other sessions, rank an inbox, poll states (docs/assisting.md).

    \b
    Examples:
      reverie assist tools "Until when is the post office open?" --subject ines
      reverie assist lessons "We're almost out of clay." --subject nora --session s9
      reverie assist inbox items.jsonl --subject ana
      reverie assist states --tenant demo
    """


@command.command("tools")
@click.argument("message")
@subject_option
@click.option(
    "--tool", "tools", multiple=True, metavar="NAME", help="A tool to choose from. [default: all that were used]"
)
@click.option("--limit", default=3, show_default=True, type=click.IntRange(1, 50), help="Maximum number of tools.")
@tenant_option
@as_of_option("Answer as of this time.")
@json_option
def suggest(
    message: str,
    subject: str,
    tools: tuple[str, ...],
    limit: int,
    tenant: str | None,
    as_of: datetime | None,
    as_json: bool,
) -> None:
    """Suggest tools that served the subject in situations like MESSAGE, and name those that served badly."""
    from reverie.recall.assist.tools import suggest_tools
    from reverie.recall.query import RecallQuery
    from reverie.store.session import perform

    with CommandSession(tenant) as session:
        session.require_tenant()
        embedder = embedder_or_none(session)
        age = session.asking_notes(embedder)
        found = perform(
            suggest_tools(
                session.asking(embedder).session(session.tenant_id),
                RecallQuery(text=message, subject_id=subject, as_of=session.time(as_of), top_k=limit),
                policy=session.policy,
                embedder=embedder,
                tools=tools or None,
            )
        )
    if as_json:
        print_json({"suggested": found.suggested, "discouraged": found.discouraged, "notes": [*found.notes, *age]})
        return
    _note_all([*found.notes, *age])
    for title, some in (("suggested", found.suggested), ("advised against", found.discouraged)):
        for each in some:
            _print_tool(title, each)


def _print_tool(title: str, each: ToolSuggestion) -> None:
    heading(f"{each.tool}: {title}, {each.score:+.2f}")
    rows = [
        (f"{use.said_at:%Y-%m-%d}", f"{use.similarity:.2f}", use.good, use.bad, single_line(use.text, 200), use.turn_id)
        for use in each.why
    ]
    columns = ("when", "similarity", "good", "bad", "message", "turn")
    table(columns, rows, right=("similarity", "good", "bad"), ids=("turn",))


@command.command("lessons")
@click.argument("message")
@subject_option
@click.option(
    "--session", "session_id", metavar="NAME", help="The running session; lessons from it alone are left out."
)
@click.option("--limit", default=5, show_default=True, type=click.IntRange(1, 50), help="Maximum number of lessons.")
@tenant_option
@as_of_option("Answer as of this time.")
@json_option
def lessons(
    message: str,
    subject: str,
    session_id: str | None,
    limit: int,
    tenant: str | None,
    as_of: datetime | None,
    as_json: bool,
) -> None:
    """Find lessons of other sessions about MESSAGE: decisions with outcomes, corrections, rules, facts."""
    from reverie.recall.assist.lessons import find_lessons
    from reverie.recall.query import RecallQuery
    from reverie.recall.recall import log_recall
    from reverie.store.session import perform

    with CommandSession(tenant) as session:
        session.require_tenant()
        embedder = embedder_or_none(session)
        age = session.asking_notes(embedder)
        found = perform(
            find_lessons(
                session.asking(embedder).session(session.tenant_id),
                RecallQuery(text=message, subject_id=subject, as_of=session.time(as_of), top_k=limit),
                session_id=session_id,
                policy=session.policy,
                embedder=embedder,
                reranker=session.reranker,
            )
        )
        if found.recall is not None:
            logged = found.recall
            log_answer(session, lambda there: log_recall(there, logged))
    if as_json:
        print_json({"lessons": found.lessons, "notes": [*found.notes, *age]})
        return
    _note_all([*found.notes, *age])
    if not found.lessons:
        say("No other session taught anything about this.")
        return
    _print_lessons(found.lessons)


def _print_lessons(lessons: Sequence[Lesson]) -> None:
    rows = [
        (
            each.kind,
            f"{each.similarity:.2f}",
            f"{each.learned_at:%Y-%m-%d}",
            ", ".join(each.sessions),
            _in_words(each),
            each.memory_id or each.turn_id,
        )
        for each in lessons
    ]
    table(("", "similarity", "learned", "in", "lesson", "id"), rows, right=("similarity",), ids=("id",))


def _in_words(lesson: Lesson) -> str:
    """Return a lesson on one line; for a decision, its situation, what was done, and its outcomes."""
    asked = f"{single_line(lesson.situation, 150)} → " if lesson.situation else ""
    return asked + single_line(lesson.content, 300) + _outcomes(lesson.outcomes)


def _outcomes(outcomes: Any) -> str:
    told = ", ".join(
        f"{each['metric']} {each['value']:g} ({'good' if each['positive'] else 'bad'})" for each in outcomes
    )
    return f" [{told}]" if told else ""


@command.command("inbox")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@subject_option
@click.option("--guidance", multiple=True, metavar="TEXT", help="What matters by your own rules.")
@tenant_option
@as_of_option("Rank as of this time.")
@json_option
def inbox(
    file: Path, subject: str, guidance: tuple[str, ...], tenant: str | None, as_of: datetime | None, as_json: bool
) -> None:
    """Rank the items of FILE by what matters to the subject.

    FILE has one JSON object per line: id, text and, if known, sender and received_at.
    """
    from reverie.recall.assist.inbox import rank_inbox
    from reverie.store.session import perform

    items = read_inbox(file)
    with CommandSession(tenant) as session:
        session.require_tenant()
        embedder = embedder_or_none(session)
        age = session.asking_notes(embedder)
        found = perform(
            rank_inbox(
                session.asking(embedder).session(session.tenant_id),
                subject_id=subject,
                items=items,
                guidance=guidance,
                as_of=session.time(as_of),
                policy=session.policy,
                embedder=embedder,
            )
        )
    if as_json:
        print_json({"items": found.items, "notes": [*found.notes, *age]})
        return
    _note_all([*found.notes, *age])
    texts = {item.id: item.read for item in items}
    rows = [
        (
            f"{each.score:+.2f}",
            each.id,
            single_line(texts[each.id], 100),
            "; ".join(f"{reason.kind}: {single_line(reason.content, 60)}" for reason in each.why[:2]),
        )
        for each in found.items
    ]
    table(("score", "id", "item", "why"), rows, right=("score",))


def read_inbox(file: Path) -> list[InboxItem]:
    """Return the items of a file of JSON Lines. Raises InputError, which names the line and what is wrong."""
    from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

    from reverie.errors import InputError
    from reverie.recall.assist.inbox import InboxItem

    class Line(BaseModel):
        model_config = ConfigDict(extra="forbid")
        id: str = Field(min_length=1)
        text: str = Field(min_length=1)
        sender: str | None = None
        received_at: AwareDatetime | None = None

    try:
        lines = file.read_text(encoding="utf-8").split("\n")  # a text may contain other line separators
    except (OSError, UnicodeDecodeError):
        raise InputError(f"{file} cannot be read as a text file.") from None
    adapter, items = TypeAdapter(Line), []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            read = adapter.validate_json(line)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            raise InputError(f"{file}, line {number}: {where + ': ' if where else ''}{first['msg']}.") from None
        items.append(InboxItem(**read.model_dump()))
    if not items:
        raise InputError(f"{file} has no items.")
    return items


@command.command("states")
@click.argument("subjects", nargs=-1)
@click.option(
    "--after",
    default=0,
    show_default=True,
    type=click.IntRange(min=0),
    help="Only changes after this position in the feed.",
)
@click.option("--limit", default=50, show_default=True, type=click.IntRange(min=1), help="Maximum number of states.")
@tenant_option
@json_option
def states(subjects: tuple[str, ...], after: int, limit: int, tenant: str | None, as_json: bool) -> None:
    """Print the latest states of SUBJECTS, or of all, that changed after a position in the feed."""
    from reverie.recall.assist.states import poll_states
    from reverie.store.session import perform

    with CommandSession(tenant) as session:
        session.require_tenant()
        found = perform(
            poll_states(
                session.worker.session(session.tenant_id),
                after=after,
                subjects=subjects or None,
                now=datetime.now(UTC),
                limit=limit,
                sensitivity=session.policy.sensitivity,
            )
        )
    last = found[-1].position if found else after
    if as_json:
        print_json({"states": found, "after": last})
        return
    rows = [
        (
            each.position,
            each.subject_id or "(erased)",
            each.version,
            format_value(each.changed_at),
            *(len(each.state[name]) if each.state else "" for name in ("facts", "aims", "rules", "scaffold")),
        )
        for each in found
    ]
    columns = ("place", "subject", "version", "changed", "facts", "aims", "rules", "scaffold")
    table(columns, rows, right=("place", "version", "facts", "aims", "rules", "scaffold"), ids=("subject",))
    say(f"\nNext changes: reverie assist states --after {last}")


def _note_all(notes: Any) -> None:
    for sentence in notes:
        note(f"Note: {sentence}")
