"""A policy: the numbers and choices by which memory is made, read from a TOML file and checked."""

from __future__ import annotations

import hashlib
import tomllib
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from reverie.errors import PolicyError
from reverie.policy.extract import Extract, Salience
from reverie.policy.live import Context, Crisis, Mood, Profile, Relationship, WorkingMemory
from reverie.policy.memory import Chunking, Compress, Cycle, Decay, Importance, Merge, Prune, Queue
from reverie.policy.recall import Recall, StructuredFacts
from reverie.policy.table import Table


class Policy(Table):
    """One policy. `hash` identifies its numbers and goes on every run and memory."""

    name: Annotated[str, Field(min_length=1, max_length=100)]
    description: str = ""
    #: Postgres text-search configuration that stems the terms.
    language: Literal["english", "simple", "german", "french", "spanish", "italian", "portuguese", "dutch"] = "english"
    cycle: Cycle = Cycle()
    extract: Extract = Extract()
    salience: Salience = Salience()
    chunk: Chunking = Chunking()
    importance: Importance = Importance()
    merge: Merge = Merge()
    decay: Decay = Decay()
    compress: Compress = Compress()
    prune: Prune = Prune()
    recall: Recall = Recall()
    queue: Queue = Queue()
    working_memory: WorkingMemory = WorkingMemory()
    context: Context = Context()
    relationship: Relationship = Relationship()
    mood: Mood = Mood()
    crisis: Crisis = Crisis()
    structured_facts: StructuredFacts = StructuredFacts()
    profile: Profile = Profile()

    @cached_property
    def hash(self) -> str:
        """First 16 hex digits of the sha256 over all numbers; comments and layout do not count."""
        canonical = self.model_dump_json(exclude={"description"})
        return hashlib.sha256(canonical.encode()).hexdigest()[:16]

    def __hash__(self) -> int:
        return hash(self.hash)


@cache
def load_policy(name_or_path: str) -> Policy:
    """Return a shipped policy by name, or the policy file at a path.

    Raises:
        PolicyError: no such policy, not TOML, or a key is unknown, missing or out of range; the message names the key
            and what is allowed.
    """
    shipped = files("reverie") / "policies" / f"{name_or_path}.toml"
    path = Path(name_or_path)
    if path.suffix != ".toml" and shipped.is_file():
        text = shipped.read_text(encoding="utf-8")
    elif path.is_file():
        text = path.read_text(encoding="utf-8")
    else:
        raise PolicyError(
            f"There is no policy {name_or_path!r}: give one of {', '.join(shipped_policies())} "
            "or the path of a .toml file.",
            unknown=("policy", name_or_path),
        )
    try:
        return Policy.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise PolicyError(f"Policy {name_or_path} is not valid TOML: {error}.") from error
    except ValidationError as error:
        raise PolicyError(f"Policy {name_or_path}: {_sentences(error)}.") from error


def shipped_policies() -> list[str]:
    """Return the names of the policies that come with Reverie."""
    return sorted(item.name.removesuffix(".toml") for item in (files("reverie") / "policies").iterdir())


def _sentences(error: ValidationError) -> str:
    return "; ".join(
        f"{'.'.join(str(part) for part in problem['loc']) or 'the file'}: "
        + problem["msg"].removeprefix("Value error, ")
        + (f", found {problem['input']!r}" if isinstance(problem["input"], (str, int, float, bool)) else "")
        for problem in error.errors()
    )
