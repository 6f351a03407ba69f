"""Longer histories for `bench.worth`: conversations of several people joined into the history of one subject.

The haystack of factor 1 is a conversation of LoCoMo, about 590 turns. Factor 4: the conversations of LoCoMo and
REALTALK in two subjects. Factor 16: all of them in one, interleaved with the turns of MemAware's user. Each
conversation is moved in time so that it begins a day after the previous one ended; the questions stay unchanged.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import zip_longest
from pathlib import Path

from reverie.evaluate.ranking.sets import LabelledQuery, LabelledSet, TurnRecord, read_set

FACTORS = (1, 4, 16)
#: Turns in a part of MemAware: as many as in a conversation of LoCoMo.
PART = 592
#: Parts of MemAware that, with the conversations, make sixteen.
PARTS = 8
_BETWEEN = timedelta(days=1)

Conversation = list[TurnRecord]


def haystack(sets: Sequence[str], factor: int, data: Path) -> LabelledSet:
    """Return the questions of these sets over histories as long as 1, 4 or 16 conversations of LoCoMo (`factor`)."""
    name = f"haystack_{factor}"
    read = [read_set(each, data) for each in sets]
    queries = [replace(query, category=f"{each.name} {query.category}") for each in read for query in each.queries]
    by_set = [list(conversations(each.records)) for each in read]
    mixed = [one for several in zip_longest(*by_set) for one in several if one]
    if factor == 1:
        histories = [[one] for one in mixed]
    elif factor == 4:
        histories = [mixed[: -(-len(mixed) // 2)], mixed[-(-len(mixed) // 2) :]]
    else:
        between = list(parts(read_set("memaware", data).records))
        histories = [[one for pair in zip_longest(between, mixed) for one in pair if one]]
    subject_of = {
        turns[0]["subject_id"]: f"history-{number}" for number, several in enumerate(histories) for turns in several
    }
    records = [record for number, several in enumerate(histories) for record in joined(f"history-{number}", several)]
    return LabelledSet(name=name, records=tuple(records), queries=tuple(moved(query, subject_of) for query in queries))


def conversations(records: Sequence[TurnRecord]) -> Iterator[Conversation]:
    """Yield the turns of each subject."""
    by_subject: dict[str, Conversation] = defaultdict(list)
    for record in records:
        by_subject[record["subject_id"]].append(record)
    yield from by_subject.values()


def parts(records: Sequence[TurnRecord]) -> Iterator[Conversation]:
    """Yield a user's messages to an assistant over time, in conversations of equal length."""
    said = sorted((one for one in records if one["role"] == "user"), key=lambda one: str(one["said_at"]))
    for number in range(PARTS):
        yield [one | {"subject_id": f"memaware-{number}"} for one in said[number * PART : (number + 1) * PART]]


def joined(subject: str, several: Sequence[Conversation]) -> Iterator[TurnRecord]:
    """Yield the turns of conversations that follow one another, as turns of one subject."""
    ended: datetime | None = None
    for turns in several:
        said = [datetime.fromisoformat(turn["said_at"]) for turn in turns]
        shift = timedelta() if ended is None else ended + _BETWEEN - min(said)
        ended = max(said) + shift
        for turn, at in zip(turns, said, strict=True):
            conversation = turn["subject_id"]
            yield turn | {
                "subject_id": subject,
                "session_id": f"{conversation}/{turn['session_id']}",
                "source_id": f"{conversation}/{turn['source_id']}",
                "said_at": (at + shift).isoformat(),
            }


def moved(query: LabelledQuery, subject_of: dict[str, str]) -> LabelledQuery:
    """Return a question about the joined history, asked after its end."""
    needs = frozenset(f"{query.subject_id}/{source}" for source in query.needs)
    return replace(query, subject_id=subject_of[query.subject_id], asked_at=None, needs=needs)
