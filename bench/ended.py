"""Do ended statements still stand? Figures over the voices whose ends were labelled by hand.

    python -m bench.ended [--part dev,test] [--show N]

`training/reader/ended/*.tsv` names statements of the voices, each with the message that makes it untrue
(training/reader/GUIDE.md). The voices are imported as the reader reads them and go through every stage.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

from bench.memory_histories import running
from bench.report import print_table
from reverie.language.topics import telling_words

ROOT = Path(__file__).resolve().parent.parent / "training" / "reader"
VOICES, ENDED = ROOT / "voices", ROOT / "ended"
TENANT = "ended"
#: The shift of the voices' days, which are up to a year in the future; whole weeks, so that weekdays stay.
EARLIER = timedelta(days=371)
#: Share of the telling words of a labelled object that a memory of its message must have to state it.
LEAST = 0.5


class Memory(NamedTuple):
    """A memory of a message, with the line of the message that superseded it."""

    id: UUID
    content: str
    is_over: bool
    by_line: int | None


class Ended(NamedTuple):
    """A statement that a later message ends, and the memories that state it."""

    name: str
    what: str
    by: str
    by_line: int
    memories: Sequence[Memory]


def main() -> None:
    """Import the voices of some parts and print how many ended statements still stand."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", default="dev,test")
    parser.add_argument("--show", type=int, default=0)
    arguments = parser.parse_args()
    voices = {name: lines for name, lines in labelled() if lines[0]["part"] in arguments.part.split(",")}
    found = memories_of([turn for name, lines in voices.items() for turn in turns_of(name, lines)])
    ended = [one for name, lines in voices.items() for one in ended_in(name, lines, found)]
    read = [one for one in ended if one.memories]
    standing = [one for one in read if not all(memory.is_over for memory in one.memories)]
    right = [one for one in read if any(memory.by_line == one.by_line for memory in one.memories)]
    over = sum(memory.is_over for of in found.values() for memory in of)
    print_table(
        f"Ended: {len(voices)} voices of {arguments.part}",
        ("", "figure"),
        [
            ("labelled ends", str(len(ended))),
            ("... of which a memory states what ended", str(len(read))),
            ("... still in force (goal 0)", f"{len(standing) / max(len(read), 1):.3f} ({len(standing)}/{len(read)})"),
            ("... ended by the message that the label names", f"{len(right) / max(len(read), 1):.3f}"),
            ("memories that are over", str(over)),
        ],
    )
    for one in standing[: arguments.show]:
        print(f"still in force: {one.name} {one.what} | {one.by}")


def labelled() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield the lines of each voice whose ends are labelled, its description first."""
    for path in sorted(ENDED.glob("*.tsv")):
        text = (VOICES / f"{path.stem}.jsonl").read_text(encoding="utf-8")
        yield path.stem, [json.loads(line) for line in text.splitlines()]


def turns_of(name: str, lines: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the messages of a voice as records to import, a minute apart, each with its line in its id."""
    at, day = datetime.min.replace(tzinfo=UTC), ""
    for number, line in enumerate(lines[1:], 2):
        if line.get("day", day) != day:
            day = line["day"]
            at = max(datetime.fromisoformat(day).replace(hour=9, tzinfo=UTC) - EARLIER, at + timedelta(hours=3))
        said = [("assistant", line["q"])] if line.get("q") else []
        for role, text in [*said, ("user", line["t"])]:
            at += timedelta(minutes=1)
            yield {
                "subject_id": name,
                "session_id": f"{name}:{day}",
                "source_id": f"{name}:{number}:{role}",
                "role": role,
                "said_at": at.isoformat(),
                "text": text,
            }


def memories_of(turns: Sequence[dict[str, Any]]) -> dict[tuple[str, int], list[Memory]]:
    """Import the turns, run every stage, and return the memories by voice and line."""
    until = max(datetime.fromisoformat(turn["said_at"]) for turn in turns) + timedelta(days=1)
    found: dict[tuple[str, int], list[Memory]] = defaultdict(list)
    with running("reverie") as bench:
        bench.bring(TENANT, turns, until)
        with bench.store.transaction(TENANT) as conn:
            rows = conn.execute(
                "select m.subject_id, t.source_id, m.id, m.content, coalesce(r.valid_to, m.valid_to) is not null,"
                " b.source_id"
                " from memory.memories m join log.turns t on t.tenant_id = m.tenant_id and t.id = m.turn_id"
                " left join memory.memories r on r.tenant_id = m.tenant_id and r.id = m.into_id and m.state = 'merged'"
                " left join memory.memories s on s.tenant_id = m.tenant_id"
                " and s.id = coalesce(r.superseded_by, m.superseded_by)"
                " left join log.turns b on b.tenant_id = s.tenant_id and b.id = s.turn_id"
                " where m.tenant_id = %s and m.relation is not null order by m.happened_at, m.id",
                [TENANT],
            )
            for name, source, id_, content, is_over, by in rows:
                found[name, _line(source)].append(Memory(id_, content, is_over, _line(by) if by else None))
    return found


def _line(source_id: str) -> int:
    return int(source_id.split(":")[1])


def ended_in(
    name: str, lines: Sequence[Mapping[str, Any]], found: Mapping[tuple[str, int], Sequence[Memory]]
) -> Iterator[Ended]:
    """Yield the statements labelled as ended in a voice, each with the memories that share most words of its object."""
    for row in (ENDED / f"{name}.tsv").read_text(encoding="utf-8").splitlines():
        old, by, _ = row.split("\t")
        number, index = map(int, old.split("."))
        words = telling_words(lines[number - 1]["s"][index]["o"])
        shares = [
            (len(words & telling_words(memory.content)) / max(len(words), 1), memory)
            for memory in found.get((name, number), ())
        ]
        most = max((share for share, _ in shares), default=0.0)
        memories = [memory for share, memory in shares if share == most >= LEAST]
        yield Ended(name, lines[number - 1]["t"], lines[int(by) - 1]["t"], int(by), memories)


if __name__ == "__main__":
    main()
