"""Playbooks: an application's templates (Jinja2, sandboxed), filled from a profile (spec F4).

    filled = fill_playbook("Write to {{ name }} about {{ work.employer }}.", memory.read_profile("ana"))
    filled.text, filled.used, filled.missing

Needs the extra `playbooks`. Templates are the application's own: the sandbox denies them access to Python, but does not
prevent long loops.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import total_ordering, wraps
from typing import Any
from uuid import UUID

from jinja2 import StrictUndefined, TemplateError, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from reverie_client.errors import ReverieClientError
from reverie_client.routes.facts import Profile

#: Filters of text that would take a value of the profile for a list.
_TEXT_FILTERS = ("indent", "truncate")


class PlaybookError(ReverieClientError):
    """The template cannot be filled: it is invalid, fails on a value, or does something that the sandbox forbids."""


@dataclass(frozen=True, kw_only=True)
class UsedValue:
    """A value in the text, with its sources."""

    #: Dotted path, such as `work.employer`.
    path: str
    value: Any
    #: Turns, events and memories behind it.
    sources: list[UUID]


@dataclass(frozen=True, kw_only=True)
class FilledPlaybook:
    """The text, in which a missing value is `[path?]`. Use it only if nothing is missing."""

    text: str
    used: list[UsedValue]
    #: Dotted paths that the profile does not have, in the order of the text.
    missing: list[str]


@dataclass
class _Record:
    used: dict[str, Any] = field(default_factory=dict)
    missing: dict[str, None] = field(default_factory=dict)


class _Branch(Mapping[str, Any]):
    """An object of the profile that knows its path."""

    def __init__(self, values: Mapping[str, Any], path: str, record: _Record) -> None:
        self.values_by_name, self.path, self.record = values, path, record

    def __getitem__(self, name: str) -> Any:
        return _node(self.values_by_name[name], f"{self.path}.{name}", self.record)

    def __iter__(self) -> Any:
        return iter(self.values_by_name)

    def __len__(self) -> int:
        return len(self.values_by_name)


@total_ordering
class _Leaf:
    """A value with its path; writing, comparing or adding it counts as using it. A single value is a list of one."""

    def __init__(self, value: Any, path: str, record: _Record) -> None:
        self.value, self.path, self.record = value, path, record

    def read(self) -> Any:
        """Return the value, which is used."""
        self.record.used.setdefault(self.path, self.value)
        return self.value

    def __str__(self) -> str:
        return _line(self.read())

    def __int__(self) -> int:
        return int(self.read())

    def __float__(self) -> float:
        return float(self.read())

    def __iter__(self) -> Any:
        value = self.read()
        each = value if isinstance(value, list) else [value]
        return iter([_Leaf(value, self.path, self.record) for value in each])

    def __len__(self) -> int:
        value = self.read()
        return len(value) if isinstance(value, list) else 1

    def __bool__(self) -> bool:
        return bool(self.value)

    def __eq__(self, other: object) -> bool:
        return bool(self.read() == _value(other))

    def __lt__(self, other: object) -> bool:
        return bool(self.read() < _value(other))

    def __hash__(self) -> int:
        return hash(self.path)

    def __add__(self, other: object) -> _Leaf:
        return self._with(self.read() + _value(other))

    def __radd__(self, other: object) -> _Leaf:
        return self._with(_value(other) + self.read())

    def __sub__(self, other: object) -> _Leaf:
        return self._with(self.read() - _value(other))

    def __rsub__(self, other: object) -> _Leaf:
        return self._with(_value(other) - self.read())

    def _with(self, value: Any) -> _Leaf:
        """Return the result of a computation, whose parts are a person's words too."""
        return _Leaf(value, self.path, self.record)


def _value(given: Any) -> Any:
    return given.read() if isinstance(given, _Leaf) else given


def _node(value: Any, path: str, record: _Record) -> _Branch | _Leaf:
    return _Branch(value, path, record) if isinstance(value, Mapping) else _Leaf(value, path, record)


class _Sandbox(ImmutableSandboxedEnvironment):
    """A sandbox that reads profiles by path: only the names of an object, never Python attributes."""

    def getattr(self, obj: Any, attribute: str) -> Any:
        return self.getitem(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        match obj:
            case _Branch() if argument in obj:
                return obj[argument]
            case _Branch() | _Leaf():
                return self.undefined(name=f"{obj.path}.{argument}")
            case Undefined():
                return self.undefined(name=f"{obj._undefined_name}.{argument}")
            case _:
                return super().getitem(obj, argument)


def _of_text(text_filter: Callable[..., str]) -> Callable[..., str]:
    """Return a filter of text that reads a value of the profile as the text that would be written."""

    @wraps(text_filter)  # keeps the mark of a filter that takes the environment
    def on_text(*args: Any, **options: Any) -> str:
        return text_filter(*(str(each) if isinstance(each, _Leaf) else each for each in args), **options)

    return on_text


class _Missing(StrictUndefined):
    """A path that the profile does not have; it is allowed in `{{ }}`, and false in `{% if %}`."""

    __slots__ = ()

    def __bool__(self) -> bool:  # type: ignore[override]
        return False

    def __iter__(self) -> Any:
        return iter(())

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)


def fill_playbook(template: str, profile: Profile, **given: Any) -> FilledPlaybook:
    """Fill a template from the scaffold of a profile; `given` are the application's own values.

    Raises PlaybookError: the template is not valid Jinja2, fails on a value (such as a text compared with a number), or
    does something that the sandbox forbids.
    """
    record = _Record()

    def write(value: Any) -> str:
        if isinstance(value, Undefined):
            name = str(value._undefined_name)
            record.missing[name] = None
            return f"[{name}?]"
        if isinstance(value, _Branch):
            record.used[value.path] = dict(value.values_by_name)
            return _line(", ".join(f"{name}: {_line(each)}" for name, each in value.values_by_name.items()))
        return str(value)

    environment = _Sandbox(undefined=_Missing, finalize=write, autoescape=False)
    environment.filters |= {name: _of_text(environment.filters[name]) for name in _TEXT_FILTERS}
    known = {name: _node(value, name, record) for name, value in profile.scaffold.items()}
    try:
        text = environment.from_string(template).render({**known, **given})
    except (TemplateError, AttributeError, TypeError, ValueError, ArithmeticError) as error:
        raise PlaybookError(f"The template cannot be filled: {error}.") from error
    used = [UsedValue(path=path, value=value, sources=_sources(profile, path)) for path, value in record.used.items()]
    return FilledPlaybook(text=text, used=used, missing=list(record.missing))


def _line(value: Any) -> str:
    """Return a value on one line, so that a person's words cannot begin a section of the text."""
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return " ".join(text.split())


def _sources(profile: Profile, path: str) -> list[UUID]:
    """Return the ids behind a path: the sources of its entries, and the turn (or memory) of its facts."""
    entries = [
        source
        for each in profile.entries
        if f"{'.'.join(each.path)}.".startswith(f"{path}.")
        for source in each.sources
    ]
    facts = [
        fact.turn_id or fact.memory_id
        for fact in profile.facts
        if path in (fact.category, f"{fact.category}.{fact.key.rpartition('.')[2]}", f"{fact.category}.{fact.key}")
    ]
    return list(dict.fromkeys([*entries, *facts]))
