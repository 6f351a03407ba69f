"""Agreement of the learned profiles with true ones, if these are known (spec F6, Agent 8.1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple

from reverie.errors import InputError
from reverie.evaluate.lines import json_lines
from reverie.language.objects import read_object, same
from reverie.policy import Policy
from reverie.recall.profile import Profile, load_profile
from reverie.store.database import Store
from reverie.store.session import perform

EntryVerdict = Literal["correct", "wrong", "missing"]


class ProfileValue(NamedTuple):
    """One value of a profile, with its path of keys."""

    path: tuple[str, ...]
    value: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Agreement:
    """The number of true entries that the learned profiles have or lack."""

    subjects: int
    #: Number of entries whose value was learned.
    correct: int
    #: Number of entries with another value learned under a key that shares a word.
    wrong: int
    #: Number of entries of which nothing was learned.
    missing: int

    @property
    def accuracy(self) -> float | None:
        """The share of correct entries among those of which something was learned; None: nothing was learned."""
        return self.correct / (self.correct + self.wrong) if self.correct + self.wrong else None

    @property
    def coverage(self) -> float | None:
        """The share of correct entries among all; None: there are no entries."""
        total = self.correct + self.wrong + self.missing
        return self.correct / total if total else None


def read_truths(path: Path) -> dict[str, list[ProfileValue]]:
    """Return the true entries by subject, from lines of `{"subject_id": ..., "profile": {...}}` with any nesting.

    Raises:
        InputError: the file cannot be read, or a line is not a profile; the message names the line.
    """
    truths: dict[str, list[ProfileValue]] = {}
    for number, line in json_lines(path):
        subject, profile = line.get("subject_id"), line.get("profile")
        if not (isinstance(subject, str) and subject and isinstance(profile, Mapping) and profile):
            raise InputError(f"{path.name}, line {number}: a true profile has `subject_id` and an object `profile`.")
        truths.setdefault(subject, []).extend(leaves(profile))
    return truths


def leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[ProfileValue]:
    """Yield the values of a nested object with their keys: each value of a list, and nothing for null."""
    if isinstance(value, Mapping):
        for key, below in value.items():
            yield from leaves(below, (*path, str(key)))
    elif isinstance(value, list | tuple):
        for each in value:
            yield from leaves(each, path)
    elif value is not None and str(value).strip():
        yield ProfileValue(path, str(value))


def learned_entries(profile: Profile) -> list[ProfileValue]:
    """Return the values in force of a subject: scaffold entries and structured facts, without connections."""
    entries = [
        leaf for each in profile.active if not each.connection_id for leaf in leaves(each.value, tuple(each.path))
    ]
    return [*entries, *(ProfileValue((fact.key,), fact.value) for fact in profile.facts if not fact.speaker)]


def verdict(true: ProfileValue, learned: Sequence[ProfileValue]) -> EntryVerdict:
    """Return whether a true entry was learned.

    Keys are invented, so an equal value counts under any key. A value that only contains the true one counts if the
    true one is a name, or under a key that shares a word.
    """
    needed, of_key = read_object(true.value), _key_words(true)
    near = [each for each in learned if of_key & _key_words(each)]
    for each in learned:
        contains = bool(needed.words) and set(needed.words) <= set(read_object(each.value).words)
        if same(each.value, true.value) or (contains and (needed.is_proper or each in near)):
            return "correct"
    return "wrong" if near else "missing"


def agreement(truths: Mapping[str, Sequence[ProfileValue]], learned: Mapping[str, Sequence[ProfileValue]]) -> Agreement:
    """Return the agreement over all subjects with a true profile."""
    verdicts = [
        verdict(true, learned.get(subject_id, ())) for subject_id, entries in truths.items() for true in entries
    ]
    return Agreement(
        subjects=len(truths),
        correct=verdicts.count("correct"),
        wrong=verdicts.count("wrong"),
        missing=verdicts.count("missing"),
    )


def measure_agreement(store: Store, tenant_id: str, path: Path, *, policy: Policy, as_of: datetime) -> Agreement:
    """Return the agreement of a tenant's profiles with those of a file. Raises InputError as `read_truths` does."""
    truths = read_truths(path)
    return agreement(truths, _learned(store, tenant_id, truths, policy, as_of))


def _learned(
    store: Store, tenant_id: str, subjects: Iterable[str], policy: Policy, as_of: datetime
) -> dict[str, list[ProfileValue]]:
    session = store.session(tenant_id)
    return {
        subject_id: learned_entries(perform(load_profile(session, subject_id=subject_id, policy=policy, as_of=as_of)))
        for subject_id in subjects
    }


def _key_words(entry: ProfileValue) -> set[str]:
    words = " ".join(entry.path).replace("_", " ").replace(":", " ").replace("-", " ")
    return set(read_object(words.lower()).words)
