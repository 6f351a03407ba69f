"""Labelled sets: conversations, with queries and the turns or sessions that each needs.

They are public data sets in a data folder (`bench/README.md`); none is part of Reverie. Statements of PrefEval and
LoCoMo-Plus are planted in LoCoMo conversations, the haystacks; their messages need these statements.
"""

from __future__ import annotations

import gzip
import json
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from reverie.errors import InputError

TurnRecord = dict[str, Any]
#: Unit of a query's needs: turns by the caller's ids, turns and other items by our ids, or sessions.
Unit = Literal["turn", "item", "session"]

#: Maximum number of statements planted in one haystack; more would be each other's haystack.
PLANTED = 100
#: Number of LongMemEval_S questions; each has its own haystack of about 490 turns.
LONGMEMEVAL = 48
_SEED = 15


@dataclass(frozen=True, kw_only=True, slots=True)
class LabelledQuery:
    """A question or message with the items that it needs."""

    subject_id: str
    text: str
    #: Time as of which it is asked; None: right after the last turn.
    asked_at: datetime | None = None
    needs: frozenset[str]
    unit: Unit = "turn"
    #: The conversation; no conversation is in two folds.
    group: str
    #: Category in the set, such as `multi-hop`.
    category: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class LabelledSet:
    """A set of conversations with queries; `records` are turns as `reverie import` reads them."""

    name: str
    records: tuple[TurnRecord, ...]
    queries: tuple[LabelledQuery, ...]


def read_set(name: str, data: Path) -> LabelledSet:
    """Return a set of the data folder.

    Raises:
        InputError: there is no such set, or the folder lacks its files.
    """
    if name not in _READERS:
        raise InputError(f"There is no labelled set {name}. The sets are {', '.join(SETS)}.")
    try:
        return _READERS[name](data)
    except FileNotFoundError as error:
        raise InputError(f"The labelled set {name} needs the file {error.filename}.") from None


def _conversations(name: str) -> Callable[[Path], LabelledSet]:
    def read(data: Path) -> LabelledSet:
        turns = _lines(data / f"retrieval/{name}.turns.jsonl.gz")
        asked = (one for one in _lines(data / f"retrieval/{name}.questions.jsonl.gz") if one["retrieval_ok"])
        records = tuple(_turn(turn) for turn in turns)
        return LabelledSet(name=name, records=records, queries=_questions(asked, records))

    return read


def _longmemeval(data: Path) -> LabelledSet:
    usable = [one for one in _lines(data / "retrieval/lme_s.questions.jsonl.gz") if one["retrieval_ok"]]
    asked = usable[:: max(1, len(usable) // LONGMEMEVAL)][:LONGMEMEVAL]
    sessions = {one["session_id"]: one["turns"] for one in _lines(data / "retrieval/lme_s.sessions.jsonl.gz")}
    records = [
        _record(one["conversation_id"], session, number, turn, _utc(time))
        for one in asked
        for session, time in one["haystack"]
        for number, turn in enumerate(sessions[session])
    ]
    return LabelledSet(name="lme_s", records=tuple(records), queries=_questions(asked, records))


def _preferences(data: Path) -> LabelledSet:
    pairs = [
        (one["preference"], one["question"], one["topic"])
        for one in _lines(data / "preferences/prefeval-explicit.dev.jsonl.gz")
    ]
    return _planted("prefeval", data, pairs)


def _cues(data: Path) -> LabelledSet:
    pairs = [
        ("\n".join(one["cue"]), one["trigger"], one["relation"])
        for one in _lines(data / "messages/locomo-plus.dev.jsonl.gz")
    ]
    return _planted("locomo_plus", data, pairs)


def _memaware(data: Path) -> LabelledSet:
    records = [
        _record("memaware", one["session_id"], number, turn, time + timedelta(seconds=number))
        for one in _lines(data / "messages/memaware.sessions.jsonl.gz")
        for time in [datetime.fromisoformat(one["date"]).replace(tzinfo=UTC)]
        for number, turn in enumerate(one["turns"])
    ]
    queries = [
        LabelledQuery(
            subject_id="memaware",
            text=one["question"],
            needs=frozenset(one["answer_session_ids"]),
            unit="session",
            group=min(one["answer_session_ids"]),
            category=one["difficulty"],
        )
        for one in _lines(data / "messages/memaware.requests.dev.jsonl.gz")
    ]
    return LabelledSet(name="memaware", records=tuple(records), queries=tuple(queries))


_READERS: dict[str, Callable[[Path], LabelledSet]] = {
    "locomo": _conversations("locomo"),
    "realtalk": _conversations("realtalk"),
    "lme_s": _longmemeval,
    "prefeval": _preferences,
    "locomo_plus": _cues,
    "memaware": _memaware,
}
#: The names of the sets.
SETS = tuple(_READERS)


def _planted(name: str, data: Path, pairs: Sequence[tuple[str, str, str]]) -> LabelledSet:
    """Plant statements in each LoCoMo conversation; each of (statement, message, label) is a query there.

    Lines of a statement after the first are the other speaker's reply.
    """
    haystacks: dict[str, list[TurnRecord]] = defaultdict(list)
    for turn in _lines(data / "retrieval/locomo.turns.jsonl.gz"):
        haystacks[turn["conversation_id"]].append(_turn(turn))
    records: list[TurnRecord] = []
    queries: list[LabelledQuery] = []
    for number, (conversation, turns) in enumerate(sorted(haystacks.items())):
        subject = f"{name}:{conversation}"
        # the sets are sorted by topic: each haystack gets some of every topic, different ones if there are enough
        step = max(1, len(pairs) // PLANTED)
        chosen = range(number % step, len(pairs), step)[:PLANTED]
        statements = [(f"planted-{place}", pairs[place][0].split("\n")) for place in chosen]
        records += plant([turn | {"subject_id": subject} for turn in turns], statements)
        queries += [
            LabelledQuery(
                subject_id=subject,
                text=pairs[place][1],
                needs=frozenset({f"planted-{place}"}),
                group=conversation,
                category=pairs[place][2],
            )
            for place in chosen
        ]
    return LabelledSet(name=name, records=tuple(records), queries=tuple(queries))


def plant(turns: Sequence[TurnRecord], statements: Iterable[tuple[str, Sequence[str]]]) -> list[TurnRecord]:
    """Return the turns of a conversation with planted statements, each of (source id, lines).

    A statement follows a turn drawn with a fixed seed, in its session and at its time. The first speaker of the
    conversation says the first line, another speaker the lines after it.
    """
    speakers = list(dict.fromkeys(turn["speaker"] for turn in turns))
    draw = random.Random(_SEED)
    after: dict[int, list[TurnRecord]] = defaultdict(list)
    for source, lines in statements:
        place = draw.randrange(len(turns))
        for number, line in enumerate(lines):
            after[place].append(
                turns[place]
                | {
                    "source_id": source if number == 0 else f"{source}-{number}",
                    "speaker": speakers[min(number, len(speakers) - 1)],
                    "text": line,
                }
            )
    planted = [record for place, turn in enumerate(turns) for record in (turn, *after[place])]
    return _renumbered(planted)


def _renumbered(turns: Iterable[TurnRecord]) -> list[TurnRecord]:
    counts: dict[str, int] = defaultdict(int)
    numbered = []
    for turn in turns:
        numbered.append(turn | {"turn_index": counts[turn["session_id"]]})
        counts[turn["session_id"]] += 1
    return numbered


def _turn(turn: TurnRecord) -> TurnRecord:
    """Return a turn of LoCoMo or REALTALK as a record; both speakers are people."""
    time = _utc(turn["timestamp"])
    record = _record(turn["conversation_id"], turn["session_id"], turn["turn_index"], turn, time)
    caption = f" [shares {turn['caption']}]" if turn.get("caption") else ""
    return record | {
        "source_id": turn["turn_id"], "role": "user", "speaker": turn["speaker"], "text": turn["text"] + caption
    }  # fmt: skip


def _record(subject: str, session: str, number: int, turn: TurnRecord, time: datetime) -> TurnRecord:
    return {
        "subject_id": subject,
        "session_id": session,
        "source_id": f"{session}#{number}",
        "turn_index": number,
        "role": turn["role"],
        "speaker": None,
        "said_at": time.isoformat(),
        "text": turn["text"],
    }


def _questions(asked: Iterable[TurnRecord], records: Sequence[TurnRecord]) -> tuple[LabelledQuery, ...]:
    """Return questions as queries, asked after the last turn: LongMemEval's dates can lie before the evidence."""
    last: dict[str, str] = {}
    for record in records:
        last[record["subject_id"]] = max(record["said_at"], last.get(record["subject_id"], ""))
    return tuple(
        LabelledQuery(
            subject_id=one["conversation_id"],
            text=one["question"],
            asked_at=_after(one["question_date"], last[one["conversation_id"]]),
            needs=frozenset(one["evidence_turn_ids"]),
            group=one["conversation_id"],
            category=one["category"],
        )
        for one in asked
    )


def _after(date: str | None, last: str) -> datetime | None:
    return None if date is None else max(_utc(date), datetime.fromisoformat(last) + timedelta(seconds=1))


def _utc(time: str) -> datetime:
    return datetime.fromisoformat(f"{time}+00:00")


def _lines(path: Path) -> Iterator[TurnRecord]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)
