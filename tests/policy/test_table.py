"""Every key has a default, a shipped policy states only what differs, and a file of the version before still loads."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from reverie.model import KINDS
from reverie.policy import ChunkPolicy, Policy, load_policy, shipped_policies

#: Whole files, as they were when every key was needed and no file had a base.
PREVIOUS = Path(__file__).parent / "previous"
DEFAULTS = Policy(name="x")


def stated(tables: dict[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every key of a file with its value."""
    for key, value in tables.items():
        if isinstance(value, dict):
            yield from stated(value, (*path, key))
        else:
            yield (*path, key), value


def held(tables: dict[str, Any], path: tuple[str, ...]) -> Any:
    """What stands under a key; None for nothing."""
    found: Any = tables
    for part in path:
        found = found.get(part) if isinstance(found, dict) else None
    return found


def test_an_empty_file_is_a_policy(tmp_path: Path) -> None:
    path = tmp_path / "none.toml"
    path.write_text("")
    policy = load_policy(str(path))
    assert policy == Policy(name="none")
    assert policy.decay.rates == dict.fromkeys(KINDS, 0.0)
    assert policy.extract.rules == ()


def test_a_file_with_one_heading_is_a_policy(tmp_path: Path) -> None:
    path = tmp_path / "short.toml"
    path.write_text("[recall]\ntop_k = 3\nweights = { lexical = 1.0 }\n")
    policy = load_policy(str(path))
    assert (policy.recall.top_k, policy.recall.weights) == (3, {"lexical": 1.0})
    assert policy.recall.candidates == DEFAULTS.recall.candidates


@pytest.mark.parametrize("heading", [name for name in Policy.model_fields if name != "name"])
def test_every_key_has_a_default(heading: str) -> None:
    assert not Policy.model_fields[heading].is_required()
    default = Policy.model_fields[heading].default
    if not isinstance(default, str):
        assert [name for name, field in type(default).model_fields.items() if field.is_required()] == []


def test_a_default_is_checked_like_a_given_value() -> None:
    class Wrong(ChunkPolicy):
        min_tokens: int = "many"  # type: ignore[assignment]

    with pytest.raises(ValueError, match="min_tokens"):
        Wrong()


@pytest.mark.parametrize("name", shipped_policies())
def test_a_shipped_policy_states_what_differs(name: str, tmp_path: Path) -> None:
    tables = tomllib.loads((files("reverie") / "policies" / f"{name}.toml").read_text(encoding="utf-8"))
    below = DEFAULTS
    if "base" in tables:  # a language pack is no policy: one that has nothing else
        bare = tmp_path / "bare.toml"
        bare.write_text(f'name = "bare"\ndescription = "Its base."\nbase = "{tables["base"]}"\n', encoding="utf-8")
        below = load_policy(str(bare))
    values = below.model_dump(mode="json")
    assert [path for path, given in stated(tables) if held(values, path) == given] == []


@pytest.mark.parametrize("path", sorted(PREVIOUS.glob("*.toml")), ids=lambda path: path.stem)
def test_a_file_of_the_version_before_means_what_it_meant(path: Path) -> None:
    """It states every key of its time; so does, by its defaults, the seed's policy that is shipped under its name."""
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    rules = tables["extract"].pop("rules")
    for policy in (load_policy(str(path)), load_policy(path.stem)):
        dumped = policy.model_dump(mode="json")
        assert {key: held(dumped, key) for key, _ in stated(tables)} == dict(stated(tables))
        assert [
            {key: rule[key] for key in was} for rule, was in zip(dumped["extract"]["rules"], rules, strict=True)
        ] == rules
