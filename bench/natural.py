"""Is natural writing remembered? Figures over `bench/sets/natural*.jsonl`.

    python -m bench.natural [--policy reverie] [--set natural.second] [--replies FILE]
                            [--verbose] [--show] [--verdicts FILE]

The authors of the sets had not seen the rules, their labels or the training data; `bench/README.md` says more.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from psycopg import Connection

from bench.memory_histories import History, Running, end_of, running, turns_of
from bench.memory_scoring import STATING
from bench.report import print_table
from reverie.recall.contexts.context import assemble_context
from reverie.recall.query import RecallQuery
from reverie.store.session import perform

SETS = Path(__file__).resolve().parent / "sets"
TENANT = "natural"
VERDICTS = ("right", "wrong", "beside")
#: A message that needs nothing in particular: the context of its answer says what an agent is told unasked.
GREETING = "Hi, good morning!"
#: Lists of words; a text matches if it has all words of one list.
Words = Sequence[Sequence[str]]


class Memory(NamedTuple):
    """A memory after the last turn."""

    kind: str
    content: str
    state: str
    phase: str | None
    valid_to: datetime | None
    lasting: bool
    #: it is a whole turn, kept word for word
    verbatim: bool
    #: it is told with a later message that may have ended it
    doubted: bool = False

    @property
    def stating(self) -> bool:
        """Return whether the memory is of a kind that states something."""
        return self.kind in STATING

    @property
    def standing(self) -> bool:
        """Return whether nothing has ended the memory."""
        return self.state == "active" and self.valid_to is None

    @property
    def in_force(self) -> bool:
        """Return whether the memory states something as true at the end."""
        return self.stating and self.standing and self.phase not in ("past", "ends")


def plain(text: str) -> str:
    """Return a text in lower case, without accents and commas inside numbers."""
    letters = unicodedata.normalize("NFKD", text.lower().replace("’", "'"))
    bare = "".join(letter for letter in letters if not unicodedata.combining(letter))
    return re.sub(r"(?<=\d),(?=\d{3})", "", bare)


def has(text: str, word: str) -> bool:
    """Return whether a plain text has a word or phrase; words may have an ending (taught's), numbers may not."""
    end = r"(?!\d|\.\d)" if word[-1].isdigit() else ""
    return re.search(r"(?<![^\W_])(?<!\d\.)" + re.escape(plain(word)) + end, text) is not None


def says(text: str, lists: Words) -> bool:
    """Return whether a text has all words of one of the lists."""
    text = plain(text)
    return any(all(has(text, word) for word in words) for words in lists)


class Told(NamedTuple):
    """The memory of something that a person told."""

    id: str
    what: str
    lasting: bool
    now: bool
    #: a statement in any state says it: it was read and is not forgotten
    read: bool
    #: a statement that nothing has ended says it
    stated: bool
    #: such a statement does not fade
    kept: bool
    #: it is stated, or a memory of another kind says it that is not the whole turn
    remembered: bool
    #: it is remembered, or the whole turn is kept
    verbatim: bool
    #: each statement that says it is told with a doubt
    doubted: bool


def judge_told(told: Mapping[str, Any], memories: Iterable[Memory]) -> Told:
    """Judge the memories of something that a person told."""
    saying = [memory for memory in memories if says(memory.content, told["any"])]
    standing = [memory for memory in saying if memory.standing]
    stated = any(memory.stating for memory in standing)
    return Told(
        id=told["id"],
        what=told["what"],
        lasting=told["lasting"],
        now=told["now"],
        read=any(memory.stating for memory in saying),
        stated=stated,
        kept=any(memory.stating and memory.lasting for memory in standing),
        remembered=stated or any(not memory.verbatim for memory in standing),
        verbatim=bool(standing),
        doubted=stated and all(memory.doubted for memory in standing if memory.stating),
    )


def still_in_force(ended: Mapping[str, Any], memories: Iterable[Memory]) -> list[Memory]:
    """Return the memories that state an ended value as still true."""
    saying = [memory for memory in memories if memory.in_force and says(memory.content, ended["old"])]
    return [memory for memory in saying if not says(memory.content, ended["unless"])]


def told_unasked(run: Running, history: History) -> list[str]:
    """Return the lines of a person's context for a greeting, without those that say that they may be over."""
    query = RecallQuery(text=GREETING, subject_id=history["id"], as_of=end_of(history))
    session = run.store.session(TENANT)
    context = perform(assemble_context(session, query, policy=run.policy, embedder=run.embedder))
    return [line for line in context.text.splitlines() if "(may be over" not in line]


def memories_of(conn: Connection[Any], history: History) -> list[Memory]:
    """Return the memories of a person; what has expired at the end of the history is over, as recall has it."""
    found = conn.execute(
        "select kind, content, state, phase, least(valid_to, case when expires_at <= %s then expires_at end), lasting,"
        " content = any(%s), doubted_by is not null from memory.memories"
        " where tenant_id = %s and subject_id = %s order by happened_at, kind, content",
        [end_of(history), [turn["text"] for turn in history["turns"]], TENANT, history["id"]],
    )
    return [Memory(*row) for row in found]


class Remembered(NamedTuple):
    """What is remembered of the people of a set."""

    histories: list[dict[str, Any]]
    #: By person.
    memories: dict[str, list[Memory]]
    #: By person, the lines that an agent is told unasked.
    unasked: dict[str, list[str]]


def run(policy: str, name: str, replies: Path | None = None) -> Remembered:
    """Import all histories of a set, run every stage and return what is remembered of each person."""
    histories = [json.loads(line) for line in (SETS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
    with running(policy, replies) as running_:
        running_.bring(TENANT, [turn for one in histories for turn in turns_of(one)], max(map(end_of, histories)))
        with running_.store.transaction(TENANT) as conn:
            memories = {one["id"]: memories_of(conn, one) for one in histories}
        return Remembered(histories, memories, {one["id"]: told_unasked(running_, one) for one in histories})


def share(flags: Iterable[bool]) -> str:
    """Return the share of true flags, with the counts."""
    flags = list(flags)
    return f"{sum(flags) / max(len(flags), 1):.3f} ({sum(flags)}/{len(flags)})"


def print_figures(remembered: Remembered, verbose: bool) -> None:
    """Print how much of what people told is remembered, and which ended values are still in force."""
    histories, memories, unasked = remembered
    told = [judge_told(one, memories[history["id"]]) for history in histories for one in history["told"]]
    ended = [(one, memories[history["id"]]) for history in histories for one in history["ended"]]
    stale = [(one, still_in_force(one, of)) for one, of in ended]
    read = [
        bool(still_in_force(one, of))
        for one, of in ended
        if any(memory.stating and says(memory.content, one["old"]) for memory in of)
    ]
    current = [one for one in told if one.now]
    lines = {
        what: [
            any(says(line, one[words]) and not says(line, one.get("unless", ())) for line in unasked[history["id"]])
            for history in histories for one in history[what]
            if what == "ended" or (one["lasting"] and one["now"])
        ]
        for what, words in (("told", "any"), ("ended", "old"))
    }  # fmt: skip
    lasting, passing = ([one for one in current if one.lasting is wanted] for wanted in (True, False))
    messages = sum(turn["role"] == "user" for history in histories for turn in history["turns"])
    print_table(
        f"Natural: {len(histories)} people, {messages} messages, {len(told)} told, {len(ended)} ended",
        ("", "figure"),
        [
            ("told: as a statement, active", share(one.stated for one in told)),
            ("told and true at the end: as a statement, active", share(one.stated for one in current)),
            ("... or in another memory than the whole turn", share(one.remembered for one in current)),
            ("... or the whole turn is kept", share(one.verbatim for one in current)),
            ("told, lasting and true at the end: as a lasting statement", share(one.kept for one in lasting)),
            ("told, not lasting and true at the end: as a statement", share(one.stated for one in passing)),
            ("told and ended later: a statement, in force or not", share(one.read for one in told if not one.now)),
            ("ended values still in force (goal 0)", share(bool(found) for _, found in stale)),
            ("... of those that were read", share(read)),
            ("... and told without a doubt", share(not all(memory.doubted for memory in found) for _, found in stale)),
            (
                "told and true at the end, as a statement: with a doubt",
                share(one.doubted for one in current if one.stated),
            ),
            ("told, lasting and true at the end: told to an agent unasked", share(lines["told"])),
            ("ended values told to an agent unasked, without a doubt", share(lines["ended"])),
        ],
    )
    by_person = (
        (
            history["id"],
            history["who"],
            share(one.stated for one in current if one.id.startswith(history["id"])),
            sum(bool(found) for one, found in stale if one["id"].startswith(history["id"])),
            sum(memory.stating and memory.state == "active" for memory in memories[history["id"]]),
        )
        for history in histories
    )
    columns = ("", "who", "told and true: as a statement", "ended in force", "active statements")
    print_table("By person", columns, by_person)
    if verbose:
        for one in told:
            if not (one.stated if one.now else one.read):
                print(f"not read: {one.id} {one.what}{'' if one.now else ' (ended later)'}")
        for value, found in stale:
            for memory in found:
                print(f"still in force: {value['id']} {value['what']}: {memory.content}")


def active_statements(memories: Mapping[str, Sequence[Memory]]) -> list[tuple[str, Memory]]:
    """Return every active statement with its person."""
    return [(name, one) for name, of in memories.items() for one in of if one.stating and one.state == "active"]


def print_memories(memories: Mapping[str, Sequence[Memory]]) -> None:
    """Print every active statement in columns, the third of which is for a reader's verdict."""
    for name, memory in active_statements(memories):
        until = f"until {memory.valid_to:%Y-%m-%d}" if memory.valid_to else "in force"
        lasts = "lasting" if memory.lasting else "fading"
        print("\t".join((name, memory.content, "?", memory.kind, memory.phase or "", until, lasts)))


def print_verdicts(memories: Mapping[str, Sequence[Memory]], path: Path) -> None:
    """Print how many active statements are wrong or beside the point, and those without a verdict."""
    with path.open(encoding="utf-8", newline="") as file:
        verdicts = {(row[0], row[1]): row[2] for row in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE) if row}
    unknown = set(verdicts.values()) - set(VERDICTS)
    if unknown:
        raise SystemExit(f"verdicts are {', '.join(VERDICTS)}, not {', '.join(sorted(unknown))}")
    given = [(name, memory, verdicts.get((name, memory.content))) for name, memory in active_statements(memories)]
    counts = Counter(verdict for *_, verdict in given if verdict)
    judged = max(sum(counts.values()), 1)
    rows: list[tuple[str, str]] = [(one, f"{counts[one] / judged:.3f} ({counts[one]}/{judged})") for one in VERDICTS]
    off = counts["wrong"] + counts["beside"]
    rows += [("wrong or beside the point", f"{off / judged:.3f} ({off}/{judged})")]
    print_table("Verdicts on active statements", ("", "share"), rows)
    for name, memory, verdict in given:
        if verdict is None:
            print(f"no verdict: {name}\t{memory.content}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--policy", default="reverie")
    parser.add_argument("--set", default="natural", choices=sorted(file.stem for file in SETS.glob("natural*.jsonl")))
    parser.add_argument(
        "--replies", type=Path, help="replies of a language model that were recorded: what messages end"
    )
    parser.add_argument("--verbose", action="store_true", help="list what was not read and what is still in force")
    parser.add_argument("--show", action="store_true", help="list every active statement")
    parser.add_argument("--verdicts", type=Path, help="verdicts on statements: history, content, verdict, tabs between")
    given = parser.parse_args()
    found = run(given.policy, given.set, given.replies)
    print_figures(found, given.verbose)
    if given.show:
        print_memories(found.memories)
    if given.verdicts:
        print_verdicts(found.memories, given.verdicts)


if __name__ == "__main__":
    main()
