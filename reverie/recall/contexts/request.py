"""The caller's part of a context: instructions, data, the conversation (Brain 6, Contact 4.3, Agent 3.C)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal

import orjson

from reverie.language.stemming import stem_of
from reverie.language.text import CountTokens, one_line
from reverie.recall.contexts.sections import Block, Dropped, Line, Section, fit, whole

_WORD = re.compile(r"[^\W_]+")
#: Fewest letters of a word: shorter ones are too common to tell the topic of a field.
_FEW_LETTERS = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """One turn of the conversation so far."""

    #: user, assistant, system or tool.
    role: str
    content: str
    #: The speaker's name, if there is one.
    speaker: str | None = None
    #: Turns of the session just before this one that the conversation leaves out.
    left_out: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Given:
    """The caller's data. Every part is optional; an absent part leaves no trace in the context."""

    #: The application's own instructions; never cut.
    system: str = ""
    #: Fields by service: {"blog": {"views": {"total": 315}}}.
    service_data: Mapping[str, Any] = field(default_factory=dict)
    #: Tools as their names, or as objects with a name.
    tools: Sequence[Mapping[str, Any] | str] = ()
    #: The conversation so far, oldest first.
    history: Sequence[Message] = ()
    #: The session of the conversation, for the summaries of its older turns.
    session_id: str | None = None
    #: The subject's mood and energy, now and usually (those of Contact 4.1); None: those of the log.
    mood: str | None = None
    energy: str | None = None
    usual_mood: str | None = None
    usual_energy: str | None = None
    #: The agent's identity: its name and its constitution.
    agent_name: str = ""
    constitution: str = ""
    #: Caution, tone, framing: one line each.
    directives: Sequence[str] = ()
    #: Titles of the agent's artifacts.
    artifacts: Sequence[str] = ()
    #: Learned information about connections, by connection name.
    learned: Mapping[str, Any] = field(default_factory=dict)
    #: The subject's account with the caller's services: plan, remaining quota, counts, connected engines.
    account: Mapping[str, Any] = field(default_factory=dict)
    #: Preferences in force in the running session.
    preferences: Sequence[str] = ()
    #: `off`: nothing from memory is given (Chat flow 3).
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
    """Return the data of the services relevant to the question; if that is too much, only relevant fields (Brain 6).

    A field is relevant if its service, path or value shares a stem with the question, and a service if one of its
    fields is. If none is, as much as fits is kept in the order given.
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
    """Return the tools, one on each line, in the order given."""
    lines = [
        Line(
            text=f"- {one_line(tool if isinstance(tool, str) else orjson.dumps(tool, default=str).decode())}",
            label=tool if isinstance(tool, str) else tool_name(tool),
        )
        for tool in tools
    ]
    return fit("tools", [Block(head=head, lines=lines)], budget, count)


def tool_name(tool: Mapping[str, Any]) -> str:
    """Return the name of a tool, which may have the form of chat APIs."""
    inner = tool.get("function")
    name = tool.get("name") or (inner.get("name") if isinstance(inner, Mapping) else None)
    return str(name or "tool")


def stems(text: str, language: str) -> frozenset[str]:
    """Return the stems of a text's words."""
    words = {word for word in _WORD.findall(text.casefold()) if len(word) >= _FEW_LETTERS}
    return frozenset(_stem(word, language) for word in words)


@lru_cache(maxsize=20_000)
def _stem(word: str, language: str) -> str:
    """Return the stem of a word; cached, since fields have the same names from request to request."""
    return word if language == "simple" else stem_of(word, language)
