"""The kind of a query (question, message or request) and its references: dates, speakers, the assistant's words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import islice

from reverie.language.pack import language_table
from reverie.policy import QueryKind, RecallPolicy

TimeSpan = tuple[datetime, datetime]

_PACK = language_table("question")
_MONTHS = _PACK.places("months")
#: Explicit dates, the fullest form first; each form is taken out of the question before the next is tried.
_DATES = _PACK.patterns("dates", re.IGNORECASE)
#: Every text with such a date has one of these. Most questions have none, and one pattern takes as long as the rest.
_HINTS = ("-", *sorted({name[:3] for name in _MONTHS}))
_NUMBERS = _PACK.places("numbers")
_AGO, _LAST = _PACK.pattern("ago", re.IGNORECASE), _PACK.pattern("last", re.IGNORECASE)
_AGO_CUE, _LAST_CUE = _PACK.text("ago_cue"), _PACK.text("last_cue")
_WORD = re.compile(r"\w+")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”’)]*\s+")
_GREETING = _PACK.pattern("greeting")
#: Most speakers that are looked for, of those whose words are all in a text: a question names fewer, and each takes a
#: millisecond of a long text.
_MOST_NAMED = 50
#: Fewest words that must remain of a text without its greeting.
_LEFT = 3
_UNIT_DAYS: dict[str, int] = _PACK.mapping("unit_days")


@dataclass(frozen=True, kw_only=True, slots=True)
class ParsedQuestion:
    """A parsed question."""

    text: str
    #: The speakers of the subject's conversations.
    speakers: tuple[str, ...]
    #: The speakers it names; none if it names all, as that tells nothing.
    mentioned: tuple[str, ...]
    asks_assistant: bool
    #: Whether it asks about the past: by its words, or by a time that it names.
    asks_former: bool
    #: Whether it asks about the present.
    asks_present: bool
    #: Whether it asks for an overview; summaries then need not come last.
    asks_overview: bool
    kind: QueryKind
    #: Times that it names, as half-open spans.
    spans: tuple[TimeSpan, ...]
    #: The text to embed: without a greeting, and with "I" and "my" in place of the speakers' names.
    spoken: str


def read_question(text: str, *, policy: RecallPolicy, speakers: Iterable[str], asked_at: datetime) -> ParsedQuestion:
    """Return the parsed question; `speakers` are those of the subject's conversations."""
    speakers = tuple(speakers)
    words = _words(text)
    nearly = islice((name for name in speakers if _words(name) <= words), _MOST_NAMED)
    mentioned = tuple(name for name in nearly if _named(name, possessive=False).search(text))
    times = tuple(spans(text, asked_at))
    asks_former = bool(times) or re.search(policy.asks_former, text) is not None
    return ParsedQuestion(
        text=text,
        speakers=speakers,
        mentioned=mentioned if len(mentioned) < len(speakers) else (),
        asks_assistant=re.search(policy.asks_assistant, text) is not None,
        asks_former=asks_former,
        asks_present=not asks_former and re.search(policy.asks_present, text) is not None,
        asks_overview=re.search(policy.asks_overview, text) is not None,
        kind=query_kind(text, policy=policy, about_speaker=bool(mentioned)),
        spans=times,
        spoken=as_spoken(without_greeting(text), speakers),
    )


def query_kind(text: str, *, policy: RecallPolicy, about_speaker: bool) -> QueryKind:
    """Return the kind of a text: a question asks what was said, a request wants action or advice, a message tells.

    Of several sentences the last question decides. One about a speaker by name, or about the past, is a question.
    """
    sentences = [part for part in _SENTENCE_END.split(text.strip()) if part]
    asked = [part for part in sentences if part.rstrip("\"'”’)").endswith("?")]
    last = (asked or sentences or [""])[-1]
    if not asked and not re.search(policy.interrogative, last):
        if re.search(policy.requests, text):
            return "request"
        return "message" if len(text.split()) >= policy.message_words else "question"
    if about_speaker or re.search(policy.about_past, last):
        return "question"
    return "request" if re.search(policy.requests, text) or re.search(policy.seeks_advice, last) else "question"


def as_spoken(text: str, speakers: Iterable[str]) -> str:
    """Replace speakers' names with "I" and "my": turns are in the first person, questions about them in the third."""
    words, tried = _words(text), 0
    for speaker in speakers:
        if tried < _MOST_NAMED and _words(speaker) <= words:
            tried += 1
            before, text = text, _named(speaker, possessive=True).sub("my", text)
            text = _named(speaker, possessive=False).sub("I", text)
            words = words if text == before else _words(text)
    return text


def without_greeting(text: str) -> str:
    """Remove a leading greeting: it would bring the text nearer to other greetings than to its own meaning."""
    rest = _GREETING.sub("", text, count=1)
    return rest if len(rest.split()) >= _LEFT else text


def _words(text: str) -> frozenset[str]:
    """Return the words of a text, alike if a pattern that ignores case takes them for the same ("İ" as "i").

    A subject may have thousands of speakers: comparing words takes a thousandth of the time of their patterns.
    """
    return frozenset(word.replace("İ", "i").lower().upper() for word in _WORD.findall(text))


@lru_cache(maxsize=4096)
def _named(speaker: str, *, possessive: bool) -> re.Pattern[str]:
    tail = r"['’]s?\b" if possessive else r"\b"
    return re.compile(rf"\b{re.escape(speaker)}{tail}", re.IGNORECASE)


def spans(text: str, asked_at: datetime) -> Iterator[TimeSpan]:
    """Yield the days and months that the text names; without a year, the last such time before `asked_at`."""
    lower = text.lower()
    for form in _DATES if any(hint in lower for hint in _HINTS) else ():
        for found in form.finditer(text):
            if span := _span(found.groupdict(), asked_at):
                yield span
        text = form.sub(" ", text)
    for found in _AGO.finditer(text) if _AGO_CUE in lower else ():
        days = _UNIT_DAYS[found["unit"].lower()]
        number = _NUMBERS.get(found["n"].lower()) or int(found["n"])
        if number * days < 36_500:
            middle, margin = asked_at - timedelta(days=number * days), timedelta(days=max(1.0, days / 4))
            yield middle - margin, middle + margin
    for found in _LAST.finditer(text) if _LAST_CUE in lower else ():
        yield asked_at - timedelta(days=2 * _UNIT_DAYS[found["unit"].lower()]), asked_at


def _span(parts: dict[str, str | None], asked_at: datetime) -> TimeSpan | None:
    month = int(parts["number"] or 0) if parts.get("number") else _MONTHS[str(parts["month"]).lower()]
    day = int(parts.get("day") or 0)
    # without a year the last such time: the 31st is later than all days of a month whose day is not named
    latest = (asked_at.month, asked_at.day if day else 31)
    year = int(parts["year"] or 0) if parts.get("year") else asked_at.year - ((month, day) > latest)
    try:
        if day:
            since = datetime(year, month, day, tzinfo=UTC)
            return since, since + timedelta(days=1)
        return datetime(year, month, 1, tzinfo=UTC), datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC)
    except (ValueError, OverflowError):  # the 31st of February, the year 0, the last day of 9999
        return None
