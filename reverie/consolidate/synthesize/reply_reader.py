"""Entries and facts from a language model's reply, as far as the observations support them. Pure.

A reply may be wrong, so it is checked against the texts that the model was shown. A value with an invented name or
number is discarded, and so is an invented key, and a change that no observation supports. The basis of an entry follows
from the observations that contain its words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any
from uuid import NAMESPACE_OID, UUID, uuid5

import orjson
from pydantic import Field

from reverie.consolidate.synthesize.observations import Observation, ProfileFindings, SynthesizedFact
from reverie.inference.replies import Reply
from reverie.language.grounding import ungrounded
from reverie.language.headings import ungrounded_keys
from reverie.language.text import sentences
from reverie.model import stable_id
from reverie.model.scaffold import (
    BASES,
    Basis,
    EntryRecord,
    KeyPath,
    ProfileEntry,
    entry_text,
    folded_key,
    opened_json,
    scaffold_leaves,
)
from reverie.policy import Policy

_WORD = re.compile(r"[^\W_]{3,}|\d+")
#: Words of any length.
_ANY_WORD = re.compile(r"[^\W_]+")
#: Share of a value's words that an observation must contain to be a source of the value.
_SHARED = 0.5


class Synthesis(Reply):
    """What a model replies, named as in the seed (Agent 3.B)."""

    # the docstring is part of the prompt, by its schema: if it changes, no kept reply can be used

    #: Entries that are new or changed; null ends one. An object of `value` and `confidence` says how sure it is.
    updated_scaffold: dict[str, Any]
    #: The subject in prose.
    updated_working_memory: Annotated[str, Field(max_length=20_000)]
    #: Facts worth finding again.
    facts_to_embed: Annotated[tuple[Annotated[str, Field(max_length=500)], ...], Field(max_length=100)]


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownReply:
    """A reply with its input."""

    reply: Synthesis
    #: All texts that the model was shown.
    shown: Sequence[str]
    model: str
    input_hash: bytes


class ReplyReader:
    """Reads the reply about one subject; `findings` returns the parts that the observations support."""

    def __init__(
        self,
        tenant_id: str,
        subject_id: str,
        answered: ShownReply,
        observations: Sequence[Observation],
        records: Sequence[EntryRecord],
        policy: Policy,
    ) -> None:
        self._tenant_id, self._subject_id = tenant_id, subject_id
        self._answered, self._shown = answered, answered.shown
        self._observations, self._policy = observations, policy
        letters = policy.profile.excerpt_letters
        excerpts = [(each, each.excerpt(letters)) for each in observations]
        #: Observations, each with its words that the model was shown.
        self._words = [(each, _words(text) | _all_words(text)) for each, text in excerpts]
        self._active = [record.entry for record in records if record.state == "active"]
        self._outweighed = [record.entry for record in records if record.state == "outweighed"]
        self._findings = ProfileFindings()

    def findings(self) -> ProfileFindings:
        """Return narrative, entries and facts. Call this only once."""
        reply, numbers = self._answered.reply, self._policy.profile
        self._findings.narrative = grounded_narrative(
            reply.updated_working_memory, numbers.narrative_words, self._shown
        )
        known = {entry.place: entry for entry in self._active}
        for path, value, confidence in scaffold_leaves(reply.updated_scaffold, depth=numbers.depth):
            before = known.get(("", *map(folded_key, path)))
            below = self._below(path)
            unchanged = before is not None and opened_json(before.value) == value
            if not unchanged and (value is not None or below):
                self._add_entry(path, value, confidence, below)
        self._findings.facts = list(self._facts())
        return self._findings

    def _below(self, path: KeyPath) -> list[ProfileEntry]:
        """Return the entries in force at a path or below it."""
        place = ("", *map(folded_key, path))
        return [entry for entry in self._active if entry.place[: len(place)] == place]

    def _add_entry(self, path: KeyPath, value: Any, confidence: float | None, below: Sequence[ProfileEntry]) -> None:
        numbers, findings = self._policy.profile, self._findings
        text = entry_text((), value) if value is not None else " ".join(entry_text(e.path, e.value) for e in below)
        sources = self._supporting(text) or (self._supporting(" ".join(path)) if value is None else [])
        if value is not None and (
            ungrounded(text, self._shown) or ungrounded_keys(path, self._shown, self._policy.language)
        ):
            findings.discard("ungrounded")
        elif len(entry_text(path, value)) > numbers.excerpt_letters:
            findings.discard("too_long")
        elif below and not sources:
            findings.discard("unfounded")
        else:
            entry = self._entry(path, value, confidence, text, sources)
            repeated = [lost for lost in self._outweighed if (lost.place, lost.value) == (entry.place, value)]
            if not any(lost.weight >= entry.weight for lost in repeated):
                findings.entries.append(entry)

    def _entry(
        self, path: KeyPath, value: Any, confidence: float | None, text: str, sources: Sequence[Observation]
    ) -> ProfileEntry:
        basis: Basis = max((source.basis for source in sources), key=BASES.index, default="inferred")
        at = max(source.at for source in sources or self._observations)
        return ProfileEntry(
            id=self._entry_id(at, path),
            connection_id="",
            path=path,
            value=value,
            confidence=getattr(self._policy.profile.confidence, basis) if confidence is None else confidence,
            basis=basis,
            valid_from=at,
            sources=tuple(each.id for each in self._with_names(text, path, sources) or self._observations),
            model=self._answered.model,
        )

    def _entry_id(self, at: datetime, path: KeyPath) -> UUID:
        return stable_id(at, "scaffold", self._tenant_id, self._subject_id, self._answered.input_hash.hex(), *path)

    def _facts(self) -> Iterator[SynthesizedFact]:
        """Yield the facts that the shown texts support and that no single observation states."""
        known = {_statement(each.content) for each in self._observations}
        number = 0
        for text in self._answered.reply.facts_to_embed:
            content = " ".join(text.split())
            if not content or _statement(content) in known:
                continue
            known.add(_statement(content))
            if ungrounded(content, self._shown):
                self._findings.discard("ungrounded")
            elif not _shares(_words(content), _words(" ".join(self._shown))):
                self._findings.discard("unfounded")
            elif number == self._policy.profile.facts:
                self._findings.discard("surplus")
            else:
                number += 1
                sources = self._with_names(content, (), self._supporting(content)) or self._observations
                yield SynthesizedFact(content=content, sources=tuple(sources))

    def _supporting(self, text: str) -> list[Observation]:
        """Return the observations that contain enough of a text's words; of a text of short words only, as written."""
        wanted = _words(text) or _all_words(text)
        return [each for each, words in self._words if _shares(wanted, words)]

    def _with_names(self, text: str, path: KeyPath, supporting: Sequence[Observation]) -> list[Observation]:
        """Add the observations that have the other names, numbers and keys of the text; return all in event order."""
        if not supporting:
            return []
        contents = [each.content for each in supporting]
        unnamed = [*ungrounded(text, contents), *ungrounded_keys(path, contents, self._policy.language)]
        missing = _words(" ".join(unnamed))
        return [each for each, words in self._words if each in supporting or missing & words]


def fact_id(tenant_id: str, subject_id: str, fact: SynthesizedFact) -> UUID:
    """Return the id of a fact: its event time, followed by the UUID5 of its content and metadata.

    Ids of memories begin with their event time because recall reads them by time.
    Source: docs/design-sources.md, Agent 4.3.
    """
    metadata = {
        "context_type": "user_profile", "org_id": tenant_id, "source": "system_learned", "user_id": subject_id,
    }  # fmt: skip
    name = orjson.dumps([fact.content, metadata], option=orjson.OPT_SORT_KEYS).decode()
    return stable_id(fact.happened_at, str(uuid5(NAMESPACE_OID, name)))


def grounded_narrative(narrative: str, words: int, shown: Sequence[str]) -> str:
    """Return the sentences of a narrative that the shown texts support, up to a number of words."""
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


def _statement(text: str) -> str:
    return text.casefold().rstrip(".")


def _shares(wanted: frozenset[str], words: frozenset[str]) -> bool:
    """Return whether `words` contain enough of the wanted words."""
    return bool(wanted) and len(wanted & words) >= _SHARED * len(wanted)


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))


def _all_words(text: str) -> frozenset[str]:
    """Return words of any length, as they are written: "IT" is not "it"."""
    return frozenset(_ANY_WORD.findall(text))
