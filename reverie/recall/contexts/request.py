"""The caller's part of a context: instructions, data, the conversation (Brain 6, Contact 4.3, Agent 3.C)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from typing import Any, Literal

import orjson
import snowballstemmer  # type: ignore[import-untyped]

from reverie.language.text import CountTokens
from reverie.recall.contexts.sections import Block, Dropped, Line, Section, fit, whole
from reverie.recall.profile import one_line

_WORD = re.compile(r"[^\W_]+")
#: Words too short or too common to tell what a field is about.
_FEW_LETTERS = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """One turn of the conversation so far."""

    #: user, assistant, system or tool.
    role: str
    content: str
    #: The speaker's name, where there is one.
    speaker: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Given:
    """Every part is optional; an absent part leaves no trace in the context."""

    #: The application's own instructions; never cut.
    system: str = ""
    #: Fields by service: {"blog": {"views": {"total": 315}}}.
    service_data: Mapping[str, Any] = field(default_factory=dict)
    #: Tools as their names, or as objects with a name.
    tools: Sequence[Mapping[str, Any] | str] = ()
    #: The conversation so far, oldest first.
    history: Sequence[Message] = ()
    #: The session that it is, for the summaries of its older turns.
    session_id: str | None = None
    #: How the subject feels now, and how it usually does (moods and energies of Contact 4.1); absent, the log is asked.
    mood: str | None = None
    energy: str | None = None
    usual_mood: str | None = None
    usual_energy: str | None = None
    #: Who the agent is: its name and its constitution.
    agent_name: str = ""
    constitution: str = ""
    #: Caution, tone, framing: one line each.
    directives: Sequence[str] = ()
    #: Titles of artifacts that there are.
    artifacts: Sequence[str] = ()
    #: What was learned about a connection, by its name.
    learned: Mapping[str, Any] = field(default_factory=dict)
    #: The subject's account with the caller's services: plan, what is left of it, counts, connected engines.
    account: Mapping[str, Any] = field(default_factory=dict)
    #: Preferences in force in the running session.
    preferences: Sequence[str] = ()
    #: `off`: nothing that is remembered is given (Chat flow 3).
    mode: Literal["active", "off"] = "active"
    #: The caller's id of the request, for the log.
    request_id: str | None = None
    #: The chat model that will read it, for its tokenizer.
    model: str | None = None


def fields(data: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield each leaf of nested data with its path: ("views.total", "315"); lists of plain values are one leaf."""
    if isinstance(data, Mapping):
        for name, value in data.items():
            yield from fields(value, f"{path}.{name}" if path else str(name))
    elif isinstance(data, (list, tuple)) and any(isinstance(one, (Mapping, list, tuple)) for one in data):
        for place, value in enumerate(data, start=1):
            yield from fields(value, f"{path}.{place}" if path else str(place))
    else:
        told = ", ".join(map(str, data)) if isinstance(data, (list, tuple)) else data
        yield path, told if isinstance(told, str) else orjson.dumps(told, default=str).decode()


def service_section(
    given: Mapping[str, Any],
    question: str,
    head: str,
    *,
    budget: int,
    count: CountTokens,
    language: str,
    escape: Callable[[str], str],
) -> Section:
    """Return the data of the services that the question is about, and when it is too much only such fields (Brain 6).

    A field is about the question when its service, path or value shares a stem with it, and a service when one of its
    fields is; when none is, as much as fits is kept in the order given.
    """
    blocks = [
        Block(
            head=head.format(service=escape(one_line(service))),
            lines=[
                Line(
                    text=escape(f"- {one_line(path)}: {one_line(value)}" if path else f"- {one_line(value)}"),
                    label=f"{service}.{path}" if path else service,
                )
                for path, value in fields(data)
            ],
        )
        for service, data in given.items()
    ]
    asked = stems(question, language)
    services, relevant = [], []
    for block in blocks:
        shared = [(line, len(asked & stems(f"{line.label} {line.text}", language))) for line in block.lines]
        about = [replace(line, worth=float(number)) for line, number in shared if number]
        if about:
            services.append(block)
            relevant.append(Block(head=block.head, lines=about))
    if not relevant:
        return fit("service_data", blocks, budget, count)
    fitted = whole("service_data", services, budget, count)
    if fitted.tokens > budget:
        fitted = fit("service_data", relevant, budget, count)
    considered = {line.label for line in fitted.lines} | {one.label for one in fitted.dropped}
    left_out = [
        Dropped(section="service_data", id=None, label=line.label, reason="irrelevant")
        for block in blocks
        for line in block.lines
        if line.label not in considered
    ]
    return replace(fitted, dropped=(*fitted.dropped, *left_out))


def account_lines(given: Given) -> list[Line]:
    """Return the lines about the subject's account, and the preferences in force in the session (Brain 5.1, 6)."""
    lines = []
    for name, value in given.account.items():
        parts = [" ".join(filter(None, (one_line(path), one_line(leaf)))) for path, leaf in fields(value)]
        lines.append(Line(text=f"- {one_line(name)}: {', '.join(parts)}", label=name, worth=3.0))
    return lines + [
        Line(text=f"- in this conversation: {one_line(text)}", label="active preference", worth=3.0)
        for text in given.preferences
    ]


def tools_section(tools: Sequence[Mapping[str, Any] | str], head: str, *, budget: int, count: CountTokens) -> Section:
    """Return the tools, one a line, those given first before the others."""
    lines = [
        Line(
            text=f"- {one_line(tool if isinstance(tool, str) else orjson.dumps(tool, default=str).decode())}",
            label=tool if isinstance(tool, str) else tool_name(tool),
        )
        for tool in tools
    ]
    return fit("tools", [Block(head=head, lines=lines)], budget, count)


def tool_name(tool: Mapping[str, Any]) -> str:
    """Return the name of a tool, also of one in the form of chat APIs."""
    inner = tool.get("function")
    name = tool.get("name") or (inner.get("name") if isinstance(inner, Mapping) else None)
    return str(name or "tool")


def stems(text: str, language: str) -> frozenset[str]:
    """Return the stems of a text's words."""
    words = {word for word in _WORD.findall(text.casefold()) if len(word) >= _FEW_LETTERS}
    return frozenset(_stem(word, language) for word in words)


@lru_cache(maxsize=20_000)
def _stem(word: str, language: str) -> str:
    """The stem of a word; kept, since fields have the same names from request to request."""
    return word if language == "simple" else str(_stemmer(language).stemWord(word))


@cache
def _stemmer(language: str) -> Any:
    return snowballstemmer.stemmer(language)
