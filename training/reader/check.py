"""Check the labelled messages: `python -m training.reader.check [FILE ...]` prints each mistake with its file and line, and counts."""

from __future__ import annotations

import json
import sys
import tomllib
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent
RELATIONS = tomllib.loads((HERE / "relations.toml").read_text(encoding="utf-8"))
PHASES = {"holds", "begins", "adds", "ends", "past", "planned", "wished"}
KEYS = {"r", "o", "h", "tp", "x", "p", "n", "d", "u", "c"}
HEAD = {"voice", "who", "style", "part"}


def mistakes(line: dict) -> list[str]:
    """Name what is wrong with one message: unknown keys, relations and phases, and spans that do not stand in it."""
    found = [f"unknown key {key!r}" for key in line.keys() - {"t", "q", "s", "day"}]
    text, question = line.get("t"), line.get("q", "")
    if not isinstance(text, str) or not text.strip():
        return [*found, "no text"]
    if not isinstance(line.get("s"), list):
        return [*found, "no list s"]
    for statement in line["s"]:
        found += [f"unknown key {key!r} in a statement" for key in statement.keys() - KEYS]
        if statement.get("r") not in RELATIONS:
            found.append(f"unknown relation {statement.get('r')!r}")
        if statement.get("p", "holds") not in PHASES:
            found.append(f"unknown phase {statement['p']!r}")
        if statement.get("n", 0) not in (-1, 0, 1):
            found.append(f"polarity {statement['n']!r}")
        if statement.get("d", "lasting") not in ("lasting", "passing", "until"):
            found.append(f"duration {statement['d']!r}")
        if statement.get("d") == "until" and "u" not in statement:
            found.append("until without u")
        clause = statement.get("c", text)
        if clause not in text:
            found.append(f"clause not in the text: {clause!r}")
        if not statement.get("o"):
            found.append("no object")
        for key in ("o", "h", "tp", "x", "u"):
            span = statement.get(key)
            if not span:
                continue
            if span not in text and span not in question:
                found.append(f"{key} not in the text: {span!r}")
            elif key == "o" and span in text and span not in clause:
                found.append(f"o not in its clause: {span!r}")
    return found


def main() -> int:
    """Check the files that are named, or all voices; exit 1 if anything is wrong."""
    files = [Path(name) for name in sys.argv[1:]] or sorted((HERE / "voices").glob("*.jsonl"))
    wrong, relations, messages, empty, parts = 0, Counter(), 0, 0, Counter()
    for file in files:
        seen = 0
        for number, raw in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            if not raw.strip():
                continue
            try:
                line = json.loads(raw)
            except ValueError as error:
                problems = [f"no JSON: {error}"]
            else:
                if number == 1:
                    problems = [] if line.keys() == HEAD else [f"the first line needs exactly {sorted(HEAD)}"]
                    parts[line.get("part")] += 1
                else:
                    problems = mistakes(line)
                    seen += 1
                    messages += 1
                    empty += not line.get("s")
                    relations.update(one.get("r") for one in line.get("s") or [] if isinstance(one, dict))
            for problem in problems:
                wrong += 1
                print(f"{file.name}:{number}: {problem}")
        print(f"{file.name}: {seen} messages")
    print(f"{len(files)} voices {dict(parts)}, {messages} messages, {empty} without a statement, {sum(relations.values())} statements, {wrong} mistakes")
    print("fewest:", ", ".join(f"{name} {relations[name]}" for name in sorted(RELATIONS, key=relations.__getitem__)[:12]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
