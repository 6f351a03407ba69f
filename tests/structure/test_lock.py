"""The lock pins what every environment installs: the demo's and Prefect's take their versions from it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
LOCK: dict[str, list[Requirement]] = {}
for _line in (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines():
    _pin = Requirement(_line)
    LOCK.setdefault(canonicalize_name(_pin.name), []).append(_pin)
ENGINE = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CLIENT = tomllib.loads((ROOT / "clients" / "python" / "pyproject.toml").read_text(encoding="utf-8"))
#: Left out of the lock: it brings torch.
UNLOCKED = {"sentence-transformers"}


def declared() -> Iterator[Requirement]:
    """What the two projects ask for themselves."""
    yield from map(Requirement, ENGINE["project"]["dependencies"])
    yield from map(Requirement, CLIENT["project"]["dependencies"])
    for extra, names in ENGINE["project"]["optional-dependencies"].items():
        if extra not in UNLOCKED:
            yield from map(Requirement, names)
    yield from (Requirement(name) for name in ENGINE["dependency-groups"]["dev"] if not name.startswith("reverie["))


def test_every_requirement_is_pinned_to_a_version_that_it_allows() -> None:
    for wanted in declared():
        pins = LOCK.get(canonicalize_name(wanted.name), [])
        assert pins, f"{wanted.name} is not locked; CONTRIBUTING.md has the command"
        for pin in pins:
            (version,) = (each.version for each in pin.specifier)
            assert wanted.specifier.contains(version, prereleases=True), f"{wanted} against {pin}"


def test_everything_they_need_in_turn_is_pinned() -> None:
    """A package that the lock lacks would be installed in whichever version is newest."""
    waiting, seen, missing = list(declared()), set[tuple[str, str]](), set[str]()
    while waiting:
        wanted = waiting.pop()
        name = canonicalize_name(wanted.name)
        for extra in ("", *wanted.extras):
            if (name, extra) in seen:
                continue
            seen.add((name, extra))
            try:
                needs = map(Requirement, requires(name) or ())
            except PackageNotFoundError:  # of another platform
                continue
            waiting += [each for each in needs if each.marker is None or each.marker.evaluate({"extra": extra})]
        if name not in LOCK and (wanted.marker is None or wanted.marker.evaluate({"extra": ""})):
            missing.add(name)
    assert missing == set()
