"""Summaries of the turns of a conversation that are not given verbatim.

They are stored summaries, and those of a running session's oldest turns that no cycle has stored yet (Chat flow 1).
The latter are made for the context. The cycle uses the same ranges of the same turns, so the rules give the same words.
If a language model writes the summaries, the cycle stores its words later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from reverie.language.text import one_line
from reverie.model.session_part import SessionPart, SessionTurn, ranges
from reverie.policy import Policy
from reverie.recall.contexts.request import Given, Message
from reverie.recall.contexts.sections import Line
from reverie.store.queries import queries
from reverie.store.session import Statement, TenantSession

#: The placeholder in a conversation for a turn that is not to be relied on.
WITHDRAWN = "(Withdrawn: what was said here was corrected or taken back later.)"

#: The letters that `str.strip` removes; the last one is U+3000. Without them, `btrim` would remove spaces only.
_BLANKS = "".join(letter for letter in map(chr, range(0x3001)) if letter.isspace())

_Rows = Sequence[tuple[Any, ...]]


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnSummary:
    """A summary of turns of the session that a conversation belongs to."""

    #: None: no cycle has stored it yet.
    id: UUID | None = None
    #: Positions in the session, from 1.
    first_turn: int
    last_turn: int
    content: str
    #: The texts of its turns that are in the conversation.
    texts: frozenset[str]
    #: Whether it also covers turns that are not in the conversation, and is given for these.
    earlier: bool = False
    #: Of a summary that is not stored: the turns that it covers.
    turn_ids: tuple[UUID, ...] = ()

    @property
    def turns(self) -> str:
        """The turns in words."""
        return f"turns {self.first_turn}-{self.last_turn}"

    def line(self, escape: Callable[[str], str]) -> Line:
        """Return the summary as a line of the conversation."""
        text = f"(earlier, {self.turns}) {one_line(escape(self.content))}"
        return Line(text=text, id=self.id, label=f"summary of {self.turns}", made_of=self.turn_ids)


def earlier_statements(
    given: Given, tenant_id: str, subject_id: str, policy: Policy, as_of: datetime
) -> dict[str, Statement[Any]]:
    """Return the statements to read for a conversation, by name.

    `withdrawn`: its withdrawn turns. `told`: the stored summaries of its older turns, if the session is known. If the
    policy summarises running sessions, `told` also has those of turns before it, and `running` the turns that are due.
    """
    sql = queries("context")
    params: dict[str, Any] = {"tenant": tenant_id, "subject": subject_id}
    statements = {"withdrawn": Statement(sql["withdrawn"], params)} if given.history else {}
    if given.session_id is None:
        return statements
    summarises = bool(policy.compress.running_turns and given.mode == "active")
    params |= {"session": given.session_id, "as_of": as_of}
    if summarises or given.history[: -policy.context.keep_verbatim]:
        texts = {"texts": [one.content.strip() for one in given.history], "earlier": summarises}
        statements["told"] = Statement(sql["told"], params | texts | {"blanks": _BLANKS})
    if summarises:
        statements["running"] = Statement(sql["running"], params | {"running": policy.compress.running_turns})
    return statements


async def with_earlier(
    session: TenantSession, given: Given, rows: Mapping[str, _Rows], subject_id: str, policy: Policy
) -> tuple[Given, list[TurnSummary]]:
    """Return the request with withdrawn turns replaced, and the summaries of the conversation, from the rows."""
    said = frozenset(one.content.strip() for one in given.history)
    summaries = [
        TurnSummary(id=id_, first_turn=first, last_turn=last, content=content, texts=frozenset(texts), earlier=earlier)
        for id_, first, last, content, texts, earlier in rows.get("told", ())
    ]
    if parts := _due_ranges(rows.get("running", ()), subject_id, given.session_id or "", policy):
        summaries += await session.offload(lambda: list(_summarise(parts, policy, said)))
    history = _without_withdrawn(given, rows.get("withdrawn", ()), policy.recall.longest_reply)
    # of the turns that are left out, some are summarised
    covered = sum(one.last_turn - one.first_turn + 1 - len(one.texts) for one in summaries if one.earlier)
    history = [replace(one, left_out=max(one.left_out - covered, 0)) for one in history]
    return replace(given, history=history), summaries


def earlier_notes(lines: Sequence[Line], summaries: Sequence[TurnSummary]) -> list[str]:
    """Return notes on the turns that summaries replace in these lines of the conversation."""
    used = {line.ids for line in lines if line.ids}
    stored = [one.turns for one in summaries if one.id and (one.id,) in used]
    running = [one.turns for one in summaries if not one.id and one.turn_ids in used]
    notes = []
    if stored:
        notes.append(f"Of the conversation, {', '.join(stored)} are given as their remembered summaries.")
    if running:
        notes.append(f"Of the conversation, {', '.join(running)} are summarised for this context; the cycle stores it.")
    return notes


def _without_withdrawn(given: Given, rows: _Rows, longest_reply: int) -> list[Message]:
    """Return the conversation with a placeholder for each turn that a person corrected or asked to forget.

    A reply of at most `longest_reply` words counts in its own session only, if that is known: a "Yes." there says
    nothing about a "Yes." here.
    """
    texts = {
        text.strip()
        for text, session_id in rows
        if given.session_id in (None, session_id) or len(text.split()) > longest_reply
    }
    return [replace(one, content=WITHDRAWN) if one.content.strip() in texts else one for one in given.history]


def _due_ranges(rows: _Rows, subject_id: str, session_id: str, policy: Policy) -> list[SessionPart]:
    if not rows:
        return []
    numbers, turns = policy.compress, [SessionTurn(*row[1:]) for row in rows]
    sizes = {"before": rows[0][0], "size": numbers.range_turns, "keep": numbers.running_keep}
    return list(ranges((subject_id, session_id), turns, **sizes))


def _summarise(parts: Sequence[SessionPart], policy: Policy, said: frozenset[str]) -> Iterator[TurnSummary]:
    # the rules import polars, which a context without such ranges does not need
    from reverie.language.cues.summarise import spoken_turns, summarise_all

    numbers = policy.compress
    contents = summarise_all(
        [spoken_turns(part.turns) for part in parts],
        number=numbers.summary_sentences,
        weights=numbers.summary,
        salience=policy.salience,
    )
    for part, content in zip(parts, contents, strict=True):
        if content is not None:
            texts = frozenset(turn.text.strip() for turn in part.turns) - {""}
            yield TurnSummary(
                first_turn=part.start,
                last_turn=part.end,
                content=content,
                texts=texts & said,
                earlier=bool(texts - said),
                turn_ids=tuple(turn.id for turn in part.turns),
            )
