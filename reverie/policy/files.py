"""Policy files and their bases: reading, merging, and the place where each key is stated.

A file may name a `base`: a shipped policy, a language pack (`english`), or a path from the folder of the file. Tables
merge key by key, the file's own value first; a list replaces the base's. Rules merge by name: one with the name of a
base's rule replaces it, the others are tried before the base's. `without_rules` leaves out some of the base's rules
(`"*"`: all), `only_rules` all others.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from reverie.errors import PolicyError

#: Keys about the base of a file; a resolved policy does not have them.
BASE, WITHOUT, ONLY = "base", "without_rules", "only_rules"
#: The same keys by heading.
EXTRA: dict[tuple[str | int, ...], tuple[str, ...]] = {(): (BASE,), ("extract",): (WITHOUT, ONLY)}
#: Files of a language pack: its relations, for `[extract] relations`, and its policy, which may be a base.
RELATIONS, PACK = "relations.toml", "policy.toml"
#: Keys of earlier versions, which are ignored, each with the key that has its number now, if one does. Keys of a rule
#: are none of them: without one, the rule would read other text.
RETIRED: dict[str, str | None] = {
    "assist.inbox.person": "assist.inbox.named",
    "assist.tools.sharpness": None,
    "extract.objections": None,
    "extract.replies": None,
    "extract.reply_characters": "extract.reader.reply_characters",
    "profile.preference_confidence": "extract.reader.confidence",
    "structured_facts.judge_similarity": None,
    "working_memory.keep_verbatim": "context.keep_verbatim",
}
#: Keys that a file does not inherit from its base.
_OF_ITS_OWN = ("name", "description")

_HEADING = re.compile(r"\s*(?P<array>\[)?\[\s*(?P<path>[\w.-]+)\s*\]")
_KEY = re.compile(r"\s*(?P<path>[\w.-]+)\s*=")


@dataclass(frozen=True)
class PolicyFile:
    """A policy file as written."""

    #: Name of a shipped policy, else the path.
    label: str
    #: Absolute path, or name: a file has one identity, however it is named.
    identity: str
    text: str
    #: What it states, without retired keys.
    tables: dict[str, Any]
    #: Retired keys that it states.
    retired: tuple[str, ...] = ()

    @cached_property
    def lines(self) -> dict[tuple[str | int, ...], int]:
        """The line of each heading and key."""
        found: dict[tuple[str | int, ...], int] = {}
        heading: tuple[str | int, ...] = ()
        seen: Counter[tuple[str | int, ...]] = Counter()
        for number, line in enumerate(self.text.splitlines(), 1):
            if match := _HEADING.match(line):
                heading = tuple(match["path"].split("."))
                if match["array"]:
                    seen[heading] += 1
                    heading = (*heading, seen[heading] - 1)
                found.setdefault(heading, number)
            elif match := _KEY.match(line):
                found.setdefault((*heading, *match["path"].split(".")), number)
        return found

    def line(self, path: Sequence[str | int]) -> int | None:
        """Return the line of a key, or of the nearest heading above it."""
        parents = (tuple(path[:length]) for length in range(len(path), 0, -1))
        return next((self.lines[parent] for parent in parents if parent in self.lines), None)

    def states(self, path: Sequence[str | int]) -> bool:
        """Return whether the file itself states a key."""
        value: Any = self.tables
        for part in path:
            if isinstance(part, int) or not isinstance(value, dict) or part not in value:
                return False
            value = value[part]
        return True

    def rule(self, name: Any) -> int | None:
        """Return the index of a rule among those of the file."""
        return next((place for place, rule in enumerate(rules_of(self.tables)) if rule_name(rule) == name), None)

    def error(self, path: Sequence[str | int], message: str, **more: Any) -> PolicyError:
        """Return an error about one key of the file."""
        return PolicyError(f"Policy {self.label}: {self.place(path)}: {message}.", **more)

    def place(self, path: Sequence[str | int], checked: PolicyFile | None = None) -> str:
        """Return the key with its line, if known: `recall.top_k (line 7)`, or `(line 7 of brain)` of another file."""
        line, of = self.line(path), f" of {self.label}" if checked not in (None, self) else ""
        return ".".join(map(str, path)) + (f" (line {line}{of})" if line else "")


def policy_label(policy: str) -> str:
    """Return the label of a policy in tables: its name, or the name of its file without folders."""
    return Path(policy).name if policy.endswith(".toml") else policy


def policy_reference(name_or_path: str) -> str:
    """Return how a policy is stored with a tenant: a shipped one by name, a file by its full path."""
    path = Path(name_or_path)
    return str(path.resolve()) if path.suffix == ".toml" else name_or_path


def shipped_policies() -> list[str]:
    """Return the names of the policies that come with Reverie."""
    return sorted(item.name.removesuffix(".toml") for item in (files("reverie") / "policies").iterdir())


def read_files(name_or_path: str) -> list[PolicyFile]:
    """Return a policy's file, its base, the base's base and so on.

    Raises:
        PolicyError: there is no such policy or base, it is a language pack, it is not TOML, or the bases form a cycle.
    """
    if not _shipped(name_or_path).is_file() and _pack(name_or_path).is_file():
        raise PolicyError(
            f"{name_or_path!r} is a language pack, not a policy: it may be the base of one. "
            f"Give one of {', '.join(shipped_policies())} or the path of a .toml file."
        )
    found = [_read(name_or_path, Path())]
    while BASE in (last := found[-1]).tables:
        base = last.tables[BASE]
        if not isinstance(base, str):
            raise last.error([BASE], f"is the name of a shipped policy or the path of a .toml file, found {base!r}")
        try:
            found.append(_read(base, Path(last.identity).parent))
        except PolicyError as error:
            if error.unknown:
                raise last.error(
                    [BASE], f"{error.within[0].lower()}{error.within[1:]}", unknown=error.unknown
                ) from error
            raise
        if found[-1].identity in (each.identity for each in found[:-1]):
            raise last.error([BASE], f"forms a cycle: {' → '.join(each.label for each in found)}")
    return found


def _shipped(name: str) -> Traversable:
    return files("reverie") / "policies" / f"{name}.toml"


def _pack(language: str) -> Traversable:
    return files("reverie") / "language" / language / PACK


def _read(name_or_path: str, folder: Path) -> PolicyFile:
    path, shipped = folder / name_or_path, _shipped(name_or_path)
    if not shipped.is_file():
        shipped = _pack(name_or_path)
    if path.suffix != ".toml" and shipped.is_file():
        label, identity, content = name_or_path, name_or_path, shipped.read_bytes()
    elif path.is_file():
        label, identity, content = str(path), str(path.resolve()), path.read_bytes()
    else:
        raise PolicyError(
            f"There is no policy {name_or_path!r}: give one of {', '.join(shipped_policies())} "
            "or the path of a .toml file.",
            unknown=("policy", name_or_path),
        )
    try:
        text = content.decode()
        tables = tomllib.loads(text)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise PolicyError(f"Policy {label} is not valid TOML: {error}.") from error
    file = PolicyFile(label, identity, text, tables, tuple(key for key in RETIRED if _take_out(tables, key)))
    _put_relations(file)
    return file


def _take_out(tables: dict[str, Any], key: str) -> bool:
    """Remove a key such as `recall.top_k` from a file's tables; return whether it was there."""
    *headings, last = key.split(".")
    table: Any = tables
    for heading in headings:
        table = table.get(heading) if isinstance(table, dict) else None
    if not isinstance(table, dict) or last not in table:
        return False
    del table[last]
    return True


def _put_relations(file: PolicyFile) -> None:
    """Replace the name of a language pack (`relations = "english"`) by its table of relations."""
    extract = file.tables.get("extract")
    name = extract.get("relations") if isinstance(extract, dict) else None
    if not isinstance(extract, dict) or not isinstance(name, str):
        return
    packs = files("reverie") / "language"
    known = sorted(item.name for item in packs.iterdir() if (item / RELATIONS).is_file())
    if name not in known:
        raise file.error(["extract", "relations"], f"is a table or one of {', '.join(known)}, found {name!r}")
    extract["relations"] = tomllib.loads((packs / name / RELATIONS).read_text("utf-8"))


def merged(chain: Sequence[PolicyFile]) -> tuple[dict[str, Any], list[str]]:
    """Return the merged tables of a file and its bases, and what is wrong with the names of left out rules.

    The file is first in the chain. A wrong name is described with its key and line, and ignored, so that the mistakes
    in other keys are found as well.
    """
    tables: dict[str, Any] = {}
    problems: list[str] = []
    for file in reversed(chain):
        own = {key: value for key, value in file.tables.items() if key != BASE}
        inherited = {key: value for key, value in tables.items() if key not in _OF_ITS_OWN}
        found: list[tuple[str, str]] = []
        rules = _joined(file, rules_of(tables), found)
        problems += [f"{file.place(['extract', key], chain[0])}: {problem}" for key, problem in found]
        tables = {"name": Path(file.identity).stem} | _overlaid(inherited, own)
        if rules is not None and isinstance(extract := tables.get("extract", {}), dict):
            tables["extract"] = {key: value for key, value in extract.items() if key not in (WITHOUT, ONLY)} | {
                "rules": rules
            }
    return tables, problems


def _overlaid(base: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    below = {key: value for key, value in own.items() if isinstance(value, dict) and isinstance(base.get(key), dict)}
    return base | own | {key: _overlaid(base[key], value) for key, value in below.items()}


def _joined(file: PolicyFile, base: list[Any], problems: list[tuple[str, str]]) -> list[Any] | None:
    """Return the rules of a file merged with those of its base; None if its rules are not a list.

    Adds what is wrong to `problems`, each with the key that has it.
    """
    extract = file.tables.get("extract", {})
    own = extract.get("rules", []) if isinstance(extract, dict) else None
    if not isinstance(own, list):
        return None
    known = [str(rule_name(rule)) for rule in base]
    left_out = _named(extract.get(WITHOUT, []), known, WITHOUT, problems)
    kept = [] if "*" in left_out else [rule for rule in base if rule_name(rule) not in left_out]
    if ONLY in extract:
        only = _named(extract[ONLY], known, ONLY, problems)
        kept = [rule for rule in kept if rule_name(rule) in only]
    instead = {rule_name(rule): rule for rule in own}
    if len(instead) < len(own):
        return own  # a name is repeated or missing: validation refuses it, whatever the base has
    left = {rule_name(rule) for rule in kept}
    return [
        *(rule for rule in own if rule_name(rule) not in left),
        *(instead.get(rule_name(rule), rule) for rule in kept),
    ]


def _named(names: Any, known: Sequence[str], key: str, problems: list[tuple[str, str]]) -> list[str]:
    """Return the names of the base's rules that a file lists under a key; `*` may be one of them."""
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        problems.append((key, f"is a list of names of rules, found {names!r}"))
        return []
    unknown = [name for name in names if name not in ("*", *known)]
    problems += [(key, f"the base has no rule {name!r}{nearest(name, known)}") for name in unknown]
    return names


def rules_of(tables: dict[str, Any]) -> list[Any]:
    """Return the rules of a file, or of a file merged with its bases."""
    extract = tables.get("extract", {})
    rules = extract.get("rules", []) if isinstance(extract, dict) else []
    return rules if isinstance(rules, list) else []


def rule_name(rule: Any) -> str | None:
    """Return the name of a rule, if it has one."""
    name = rule.get("name") if isinstance(rule, dict) else None
    return name if isinstance(name, str) else None


def nearest(name: str, known: Iterable[str]) -> str:
    """Return `, the nearest is 'x'`, or an empty string if no known name is near."""
    close = get_close_matches(name, list(known), n=1)
    return f", the nearest is {close[0]!r}" if close else ""


def origin(chain: Sequence[PolicyFile], path: Sequence[str | int]) -> PolicyFile | None:
    """Return the file that states a key of the merged policy; None: it has its default."""
    able = chain[:1] if path[0] in _OF_ITS_OWN else chain
    return next((file for file in able if file.states(path)), None)
