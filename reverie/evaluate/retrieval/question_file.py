"""Labelled questions of a file, one JSON object per line, whose turns are in a tenant's log.

Two formats are read: `question, subject_id, asked_at, evidence: [[session_id, source_id], ...]`, and that of public
data sets: `question, conversation_id, question_date, evidence_turn_ids: [source_id, ...]`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from reverie.errors import InputError
from reverie.evaluate.lines import json_lines
from reverie.evaluate.retrieval.question import HeldQuestion
from reverie.store.database import Store
from reverie.store.queries import queries


def questions_of_file(store: Store, tenant_id: str, path: Path) -> tuple[list[HeldQuestion], int]:
    """Return the questions of a file, and how many were left out.

    A question is left out if the log lacks a turn that it needs, or if it names no session and several sessions have a
    turn of that id.

    A question without a time, or with one before its subject's last turn in the public format, is asked right after the
    last turn. Lines with `retrieval_ok: false` are left out without being counted.

    Raises:
        InputError: the file cannot be read, a line is not a question, or every question is left out.
    """
    lines = [(number, line) for number, line in json_lines(path) if line.get("retrieval_ok", True)]
    read = [_read(path, number, line) for number, line in lines]
    with store.transaction(tenant_id) as conn:
        params = {"tenant": tenant_id, "subjects": sorted({each["subject"] for each in read})}
        rows = conn.execute(queries("retrieval")["turn_ids"], params).fetchall()
    turns: dict[tuple[str, str | None, str], UUID | None] = {}
    last: dict[str, datetime] = {}
    for subject, session, source, id_, said_at in rows:
        turns[subject, session, source] = id_
        # several sessions may have the same id, and then it names no turn
        turns[subject, None, source] = None if (subject, None, source) in turns else id_
        last[subject] = said_at
    asked = [question for each in read if (question := _question(each, turns, last))]
    if read and not asked:
        raise InputError(
            f"The log of tenant {tenant_id} lacks the turns that the questions of {path.name} need, or several "
            "sessions have their ids: import its conversations first, with the same subjects and turn ids, or name "
            "each turn's session, in `evidence`."
        )
    return asked, len(read) - len(asked)


def _read(path: Path, number: int, line: Mapping[str, Any]) -> dict[str, Any]:
    """Return one line with the same names for both formats."""
    subject = line.get("subject_id") or line.get("conversation_id")
    text = line.get("question")
    pairs = line.get("evidence")
    if pairs is None:
        pairs = [(None, source) for source in line.get("evidence_turn_ids") or ()]
    is_pairs = isinstance(pairs, Sequence) and all(isinstance(one, (list, tuple)) and len(one) == 2 for one in pairs)
    if not (isinstance(subject, str) and isinstance(text, str) and text.strip() and pairs and is_pairs):
        raise InputError(
            f"{path.name}, line {number}: a question has `question`, `subject_id` and "
            "`evidence: [[session_id, source_id], ...]`, or `conversation_id` and `evidence_turn_ids`."
        )
    asked_at, is_exact = line.get("asked_at"), "asked_at" in line
    try:
        at = (
            datetime.fromisoformat(asked_at or line["question_date"]) if asked_at or line.get("question_date") else None
        )
    except (TypeError, ValueError):
        raise InputError(f"{path.name}, line {number}: `asked_at` is not a time such as 2026-06-30T18:00Z.") from None
    at = at if at is None or at.tzinfo else at.replace(tzinfo=UTC)
    return {"id": str(number), "subject": subject, "text": text, "at": at, "exact": is_exact, "pairs": pairs}


def _question(
    read: Mapping[str, Any], turns: Mapping[tuple[str, str | None, str], UUID | None], last: Mapping[str, datetime]
) -> HeldQuestion | None:
    subject = read["subject"]
    needs = [turns.get((subject, session, source)) for session, source in read["pairs"]]
    if subject not in last or None in needs:
        return None
    after = last[subject] + timedelta(seconds=1)
    at = after if read["at"] is None else read["at"] if read["exact"] else max(read["at"], after)
    return HeldQuestion(
        id=read["id"],
        source="file",
        subject_id=subject,
        text=read["text"],
        asked_at=at,
        needs=frozenset(id_ for id_ in needs if id_),
    )
