"""What observations state of a subject, by rule and in a language model's reply (spec B7; Agent 5.1).

The reply may be wrong, so it is held against what was shown: a value with a name or number that nobody gave is left
out, with a key of which nobody spoke as well, a change that no observation speaks of is none, and what an entry rests
on follows from the observations that have its words. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any
from uuid import NAMESPACE_OID, UUID, uuid5

import orjson
from pydantic import Field

from reverie.inference.replies import Reply
from reverie.language.grounding import ungrounded
from reverie.language.headings import unfiled
from reverie.language.text import sentences, written_day
from reverie.llm.answers import InvalidReply
from reverie.llm.inputs import PromptInput
from reverie.model import stable_id
from reverie.model.scaffold import BASES, Basis, Entry, Held, Path, folded, leaves, nested, opened, text_of
from reverie.policy import Policy

#: Words in which a profile is told and that name nobody.
_OWN_WORDS = "User Role Goals Projects Preferences Has Is Was Works Lives Likes Prefers Wants Needs Uses Owns Plans"
_WORD = re.compile(r"[^\W_]{3,}|\d+")
#: Share of a value's words that an observation must have to be what the value rests on.
_SPEAKS = 0.5


class Synthesis(Reply):
    """What a model replies, named as in the seed (Agent 3.B)."""

    #: Entries that are new or changed; null ends one. An object of `value` and `confidence` says how sure it is.
    updated_scaffold: dict[str, Any]
    #: The subject in prose.
    updated_working_memory: Annotated[str, Field(max_length=20_000)]
    #: Facts worth finding again.
    facts_to_embed: Annotated[tuple[Annotated[str, Field(max_length=500)], ...], Field(max_length=100)]


@dataclass(frozen=True, slots=True)
class Observation:
    """One thing that waits to be worked in."""

    item: str
    id: UUID
    at: datetime
    #: Type of the event, or kind of the memory.
    type: str
    channel: str
    connection_id: str | None
    key: str | None
    content: str

    @property
    def basis(self) -> Basis:
        """What follows from it rests on this; a document is no statement of anybody's."""
        if self.type == "correction":
            return "correction"
        return {"interactive": "said", "autonomous": "autonomous"}.get(self.channel, "inferred")  # type: ignore[return-value]

    def shown(self, letters: int) -> str:
        """Return it as one line of at most so many letters."""
        whose = (self.connection_id if self.type == "connection_context" else None, self.key)
        line = " ".join(": ".join(part for part in (*whose, self.content) if part).split())
        return line if len(line) <= letters else f"{line[: letters - 1].rstrip()}…"


@dataclass(frozen=True, kw_only=True, slots=True)
class Fact:
    """Something that a model wants to be found again."""

    content: str
    sources: tuple[Observation, ...]


@dataclass(kw_only=True, slots=True)
class Stated:
    """What came of observations."""

    entries: list[Entry] = field(default_factory=list)
    narrative: str = ""
    facts: list[Fact] = field(default_factory=list)
    #: What was left out, by reason.
    discarded: dict[str, int] = field(default_factory=dict)

    def discard(self, reason: str) -> None:
        """Count one."""
        self.discarded[reason] = self.discarded.get(reason, 0) + 1


def item_of(
    subject_id: str, narrative: str, active: Sequence[Entry], observations: Sequence[Observation], letters: int
) -> PromptInput:
    """Return what the model is shown: the profile as it is, and the new observations with their types (Agent 5.1)."""
    content = {
        "date": written_day(max(one.at for one in observations)),
        "current_working_memory": narrative,
        "current_scaffold": nested((one.path, one.value) for one in active if not one.connection_id),
        "new_observations": [{"type": one.type, "text": one.shown(letters)} for one in observations],
    }
    return PromptInput(subject_id=subject_id, content=content, source_ids=[one.id for one in observations])


class Judge:
    """Sends back the first reply whose narrative is too long or says what nobody did; the second is cut (`stated`)."""

    def __init__(self, words: int) -> None:
        self._words = words
        self._sent_back: set[str] = set()

    def __call__(self, item: PromptInput, reply: Synthesis) -> InvalidReply | None:
        """Return why the reply is to be given anew, once an item."""
        if item.subject_id in self._sent_back:
            return None
        self._sent_back.add(item.subject_id)
        length = len(reply.updated_working_memory.split())
        if length > self._words:
            hint = f"updated_working_memory had {length} words; {self._words} are allowed"
            return InvalidReply(reason="too_long", hint=hint)
        if invented := ungrounded(reply.updated_working_memory, _shown(item)):
            hint = f"the data does not say {', '.join(invented[:10])}"
            return InvalidReply(reason="ungrounded", hint=hint)
        return None


def by_rules(subject: tuple[str, str], observations: Sequence[Observation], policy: Policy) -> Stated:
    """Return what stands in so many words: scaffold updates, and what was learned about connections.

    `subject` is (tenant_id, subject_id). What else was observed is a memory, or is for a model.
    """
    stated, numbers = Stated(), policy.profile
    for one in observations:
        if one.key is None or one.type not in ("scaffold_update", "connection_context"):
            continue
        of_connection = one.type == "connection_context"
        for path, value, sure in leaves({one.key: one.content}, depth=1 if of_connection else numbers.depth):
            entry = Entry(
                id=_entry_id(one.at, subject, str(one.id), path),
                connection_id=one.connection_id or "" if of_connection else "",
                path=path,
                value=value,
                confidence=getattr(numbers.confidence, one.basis) if sure is None else sure,
                basis=one.basis,
                valid_from=one.at,
                sources=(one.id,),
            )
            if len(text_of(path, value)) > numbers.excerpt_letters:
                stated.discard("too_long")
            else:
                stated.entries.append(entry)
    return stated


def by_model(
    subject: tuple[str, str],
    reply: Synthesis,
    item: PromptInput,
    observations: Sequence[Observation],
    held: Sequence[Held],
    policy: Policy,
    *,
    model: str,
    input_hash: bytes,
) -> Stated:
    """Return what a reply states, as far as it stands on what was shown; `held` are the entries that there are."""
    stated, numbers, shown = Stated(), policy.profile, _shown(item)
    active = [one.entry for one in held if one.state == "active"]
    lost = [one.entry for one in held if one.state == "outweighed"]
    stated.narrative = cut(reply.updated_working_memory, numbers.narrative_words, shown)
    words = [(one, _words(one.shown(numbers.excerpt_letters))) for one in observations]
    known = {one.place: one for one in active}
    for path, value, sure in leaves(reply.updated_scaffold, depth=numbers.depth):
        place = ("", *map(folded, path))
        before = known.get(place)
        below = [one for one in active if one.place[: len(place)] == place]
        if (before is not None and opened(before.value) == value) or (value is None and not below):
            continue  # as it is
        told = text_of((), value) if value is not None else " ".join(text_of(one.path, one.value) for one in below)
        sources = _speaking(told, words) or (_speaking(" ".join(path), words) if value is None else [])
        if value is not None and (ungrounded(told, shown) or unfiled(path, shown, policy.language)):
            stated.discard("ungrounded")
        elif len(text_of(path, value)) > numbers.excerpt_letters:
            stated.discard("too_long")
        elif below and not sources:
            stated.discard("unfounded")
        else:
            basis: Basis = max((one.basis for one in sources), key=BASES.index, default="inferred")
            at = max(one.at for one in sources or observations)
            entry = Entry(
                id=_entry_id(at, subject, input_hash.hex(), path),
                connection_id="",
                path=path,
                value=value,
                confidence=getattr(numbers.confidence, basis) if sure is None else sure,
                basis=basis,
                valid_from=at,
                sources=tuple(one.id for one in _naming(told, path, sources, words, policy) or observations),
                model=model,
            )
            if not any(one.weight >= entry.weight for one in lost if (one.place, one.value) == (place, value)):
                stated.entries.append(entry)
    stated.facts = list(_facts(reply, shown, words, observations, policy, stated))
    return stated


def fact_id(tenant_id: str, subject_id: str, fact: Fact) -> UUID:
    """Return the id of a fact: the UUID5 of its content and metadata (Agent 4.3), behind its event time.

    Ids of memories begin with their event time, and recall reads them by it.
    """
    metadata = {
        "context_type": "user_profile", "org_id": tenant_id, "source": "system_learned", "user_id": subject_id,
    }  # fmt: skip
    name = orjson.dumps([fact.content, metadata], option=orjson.OPT_SORT_KEYS).decode()
    return stable_id(max(one.at for one in fact.sources), str(uuid5(NAMESPACE_OID, name)))


def cut(narrative: str, words: int, shown: Sequence[str]) -> str:
    """Return the sentences of a narrative that say nothing that was not shown, as many as fit into so many words."""
    kept: list[str] = []
    for sentence in sentences(narrative):
        length = len(sentence.split())
        if ungrounded(sentence, shown):
            continue
        if length > words:
            kept += [" ".join(sentence.split()[:words])] if not kept else []
            break
        kept.append(sentence.strip())
        words -= length
    return " ".join(kept)


def _facts(
    reply: Synthesis,
    shown: Sequence[str],
    words: Sequence[tuple[Observation, frozenset[str]]],
    observations: Sequence[Observation],
    policy: Policy,
    stated: Stated,
) -> Iterator[Fact]:
    known = {one.content.casefold().rstrip(".") for one in observations}
    number = 0
    for text in reply.facts_to_embed:
        content = " ".join(text.split())
        if not content or content.casefold().rstrip(".") in known:
            continue
        known.add(content.casefold().rstrip("."))
        if ungrounded(content, shown):
            stated.discard("ungrounded")
        elif not _shares(_words(content), _words(" ".join(shown))):
            stated.discard("unfounded")
        elif number == policy.profile.facts:
            stated.discard("surplus")
        else:
            number += 1
            yield Fact(
                content=content,
                sources=tuple(_naming(content, (), _speaking(content, words), words, policy) or observations),
            )


def _shown(item: PromptInput) -> list[str]:
    """All that the model has seen, as texts."""
    content: Mapping[str, Any] = item.content
    scaffold = " ".join(
        text_of(path, value) for path, value, _ in leaves(content["current_scaffold"], depth=len(BASES) * 2)
    )
    told = [f"{one['type']}: {one['text']}" for one in content["new_observations"]]
    return [_OWN_WORDS, item.subject_id, content["date"], content["current_working_memory"], scaffold, *told]


def _speaking(text: str, words: Sequence[tuple[Observation, frozenset[str]]]) -> list[Observation]:
    """The observations that have enough of a text's words."""
    wanted = _words(text)
    return [one for one, said in words if _shares(wanted, said)]


def _naming(
    text: str,
    path: Path,
    speaking: Sequence[Observation],
    words: Sequence[tuple[Observation, frozenset[str]]],
    policy: Policy,
) -> list[Observation]:
    """Those that speak of it, and others from which it takes a name, a number or a key besides; in event order."""
    if not speaking:
        return []
    said = [one.content for one in speaking]
    missing = _words(" ".join([*ungrounded(text, said), *unfiled(path, said, policy.language)]))
    return [one for one, held in words if one in speaking or missing & held]


def _shares(wanted: frozenset[str], said: frozenset[str]) -> bool:
    """Whether enough of the words were said."""
    return bool(wanted) and len(wanted & said) >= _SPEAKS * len(wanted)


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))


def _entry_id(at: datetime, subject: tuple[str, str], source: str, path: Path) -> UUID:
    return stable_id(at, "scaffold", *subject, source, *path)
