"""A policy written out in full as TOML, each value with its origin."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from reverie.policy.files import PolicyFile, origin, read_files
from reverie.policy.policy import load_policy

Files = Sequence[PolicyFile]

#: The heading that is written last, because its rules are long.
_LAST = "extract"


def policy_text(name_or_path: str) -> str:
    """Return the policy as a file that needs no base; a comment after each value names its origin, or `default`.

    Raises:
        PolicyError: as in `load_policy`.
    """
    policy, chain = load_policy(name_or_path), read_files(name_or_path)
    tables = policy.model_dump(exclude_none=True)
    tables[_LAST] = tables.pop(_LAST)
    lines = _table(tables, (), chain)
    return "\n".join([f"# Policy {policy.name} in full, hash {policy.hash}.", *lines])


def _table(table: dict[str, Any], path: tuple[str, ...], chain: Files) -> Iterator[str]:
    """Yield the lines of a heading: its own keys, then the headings below it."""
    below = {key: value for key, value in table.items() if _is_heading(value)}
    own = {key: value for key, value in table.items() if key not in below}
    if path and own:
        yield f"\n[{'.'.join(path)}]"
    for key, value in own.items():
        yield f"{key} = {_value(value)}  # {_origin((*path, key), chain)}"
    for key, value in below.items():
        if isinstance(value, dict):
            yield from _table(value, (*path, key), chain)
        else:
            yield from _array(value, (*path, key), chain)


def _array(items: Sequence[dict[str, Any]], path: tuple[str, ...], chain: Files) -> Iterator[str]:
    for item in items:
        named = (file.label for file in chain if path == ("extract", "rules") and file.rule(item["name"]) is not None)
        yield f"\n[[{'.'.join(path)}]]  # {next(named, None) or _origin(path, chain)}"
        yield from (f"{key} = {_value(value)}" for key, value in item.items())


def _is_heading(value: Any) -> bool:
    return isinstance(value, dict) or (isinstance(value, tuple) and bool(value) and isinstance(value[0], dict))


def _origin(path: Sequence[str], chain: Files) -> str:
    file = origin(chain, path)
    return file.label if file else "default"


def _value(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, str):
        return _string(value)
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _string(text: str) -> str:
    """Return a TOML string: a literal one if it has backslashes or quotes, as patterns do."""
    if text.isprintable() and "'''" not in text and ("\\" in text or '"' in text):
        return f"'''{text}'''" if "'" in text else f"'{text}'"
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
