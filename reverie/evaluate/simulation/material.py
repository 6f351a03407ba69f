"""The texts and values that simulated people use, from `facts.toml` and `talk.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

_Texts = Annotated[tuple[str, ...], Field(min_length=1)]


class FactPlan(BaseModel):
    """A fact that people tell about themselves: its values, wordings and questions."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    #: Maximum number of changes of its value within a year; 0: it lasts.
    changes: Annotated[int, Field(ge=0, le=12)]
    #: Whether it is told in the first weeks.
    early: bool = False
    values: _Texts
    #: For each value, the words that an answer must have; without keys, the whole value.
    keys: tuple[str, ...] = ()
    #: Wordings of the first statement, of a change (`{o}` is the old value) and of later mentions (`{k}` is the key).
    first: _Texts
    change: tuple[str, ...] = ()
    again: tuple[str, ...] = ()
    questions: _Texts

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if self.keys and len(self.keys) != len(self.values):
            raise ValueError(f"{self.name}: each value needs a key")
        if self.changes and not self.change:
            raise ValueError(f"{self.name}: it changes and has no wording of a change")
        return self

    def key_of(self, value: str) -> str:
        """Return the words that an answer with this value must have."""
        return self.keys[self.values.index(value)] if self.keys else value


@cache
def fact_plans() -> tuple[FactPlan, ...]:
    """Return the facts that can be planted, in the order of the file."""
    return tuple(FactPlan.model_validate(each) for each in _read("facts.toml")["facts"])


@cache
def talk() -> Mapping[str, Sequence[str]]:
    """Return the texts of everyday talk and the words for their slots, by kind."""
    return {kind: tuple(texts) for kind, texts in _read("talk.toml").items()}


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath(name).read_text(encoding="utf-8"))
