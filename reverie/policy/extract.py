"""The rule table as a policy writes it: the `[extract]` and `[salience]` headings, checked when they are read.

Patterns keep to what Rust regex and Python re read alike, so that one table drives both engines: no lookaround, no
back-references, none of `\\s \\d \\w` (their Unicode classes differ), a plain space for white space, named groups
`(?P<x>...)` and `(?P<y>...)`. `<name>` stands for the alternatives of `[extract.words] name`. Matching ignores case.
"""

import re
from collections import Counter
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from reverie.model import Phase
from reverie.policy.defaults import language_defaults
from reverie.policy.relations import FactCategory, Relation, RuleKind
from reverie.policy.table import Share, Table, common

_TEMPLATE = re.compile(r"[^{}]*\{x\}(?:[^{}]*\{y\})?[^{}]*")

Pattern = Annotated[str, AfterValidator(common)]


class Rule(Table):
    """One way in which people say something worth keeping."""

    #: unique in its policy; recorded with what it makes
    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$")]
    #: by default that of its relation
    kind: RuleKind | None = None
    #: lower-case literals, one of which every match contains; the rule is tried only on clauses that contain one
    cues: Annotated[tuple[str, ...], Field(min_length=1)]
    #: for both engines
    pattern: Pattern
    #: the memory in the third person, `{x}` and then `{y}` being the groups: "Has {x} named {y}"; by default the
    #: wording of its relation
    template: Annotated[str, Field(min_length=1)] | None = None
    #: what it states, by a name of `[extract.relations]`
    relation: str | None = None
    #: what stands in that relation
    object: Annotated[str, Field(min_length=1)] = "{x}"
    #: which of several, and of whom if not of the author
    topic: Annotated[str, Field(min_length=1)] | None = None
    who: Annotated[str, Field(min_length=1)] | None = None
    #: how it stands to what held before
    phase: Phase = "holds"
    #: whether it is read even where something else is stated: "my sister Ann lives in Leeds"
    beside: bool = False
    polarity: Literal[-1, 0, 1] = 0
    #: typed id with a group as slug: "pet:{y}"
    entity: Annotated[str, Field(pattern=r"^[a-z]+:\{[xy]\}$")] | None = None
    #: instead of the importance of the kind
    importance: Share | None = None
    #: structured fact that it also is; `{x}` and `{y}` stand in the key as slugs, a colon before one allows for several
    category: FactCategory | None = None
    key: Annotated[str, Field(pattern=r"^[a-z][a-z_]*(?::?\{[xy]\})?$")] | None = None
    #: the structured fact's value
    value: Annotated[str, Field(pattern=r"^[^{}]*\{[xy]\}[^{}]*(?:\{[xy]\}[^{}]*)?$")] = "{x}"
    #: how sure the rule is of it, instead of `[structured_facts] rule_confidence`
    confidence: Share | None = None
    #: whether it is also tried on questions ("Can we talk about {x}?")
    question: bool = False

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        groups = set(re.findall(r"\(\?P<(\w+)>", self.pattern))
        if self.template is not None and not _TEMPLATE.fullmatch(self.template):
            raise ValueError(f"rule {self.name}: a template has {{x}}, and {{y}} after it")
        if self.kind is None and self.relation is None:
            raise ValueError(f"rule {self.name}: needs a kind, or a relation that has one")
        if self.template is None and self.relation is None:
            raise ValueError(f"rule {self.name}: needs a template, or a relation that has a wording")
        if self.template is not None and self.relation is None and self._named(self.template, self.entity) != groups:
            raise ValueError(f"rule {self.name}: template and entity use groups that the pattern lacks")
        stated = (self.template, self.entity, self.key, self.topic, self.who)
        if not self._named(*stated, self.object if self.relation else self.value) <= groups:
            raise ValueError(f"rule {self.name}: value and key use a group that the pattern lacks")
        if any(cue != cue.lower() or not cue.isascii() for cue in self.cues):
            raise ValueError(f"rule {self.name}: cues must be lower-case ASCII")
        if self.beside and self.relation is None:
            raise ValueError(f"rule {self.name}: beside = true needs a relation")
        if (self.category is None) != (self.key is None):
            raise ValueError(f"rule {self.name}: category and key must be set together")
        return self

    @property
    def template_parts(self) -> tuple[str, str, str]:
        """The template before `{x}`, between the groups, and after the last."""
        before, rest = (self.template or "{x}").split("{x}")
        between, _, after = rest.partition("{y}")
        return before, between, after

    @staticmethod
    def _named(*templates: str | None) -> set[str]:
        """The groups that templates name."""
        return set(re.findall(r"\{(\w)\}", "".join(template or "" for template in templates)))


class ImportanceByKind(Table):
    """Importance of a new memory by kind."""

    fact: Share = 0.7
    preference: Share = 0.8
    instruction: Share = 0.8
    episode: Share = 0.5


class WorthPolicy(Table):
    """`[extract.worth]`: what is kept as it was said, by the classifier of `language.cues.worth`."""

    #: probability from which a sentence in which no rule finds a relation is kept as a plain fact; above 1: none is
    keep: Annotated[float, Field(ge=0, le=2)] = 2.0
    #: probability from which a sentence that tells of an event is kept in an episode
    episode: Share = 0.0


class ReaderPolicy(Table):
    """`[extract.reader]`: what the reader, the small model that comes with Reverie, finds in turns."""

    #: whether it reads them
    read: bool = False
    #: how sure it must be of a statement
    confidence: Share = 0.5
    #: how sure it must be of all that a statement says, its phase, holder and topic too, for it to be worded; below, it
    #: is remembered in the words of the message: its clause, if it is as sure of that as `clause` says, or its sentence
    whole: Share = 0.0
    clause: Share = 0.7
    #: from which chance of a statement that is less sure than `confidence` its clause or sentence is kept in the words
    #: of the message (the reader gives none below .05); above 1: none is kept
    keep: Annotated[float, Field(ge=0, le=2)] = 2.0
    #: how likely the person must want it to be kept for it to be kept in the words of the message, and how likely for
    #: it to last as its relation says; below, it fades unless somebody asks for it
    wanted: Share = 0.0
    wanted_for_good: Share = 0.0
    #: characters that a sentence kept in its own words may have
    keep_characters: Annotated[int, Field(ge=1, le=10_000)] = 300
    #: codes of the languages that it reads
    languages: tuple[str, ...] = ("en", "pcm")
    #: probability from which a message counts as written in another language, which it does not read
    other_language: Share = 0.6
    #: characters of a reply that may be short enough to be read with the question before it
    reply_characters: Annotated[int, Field(ge=0, le=1000)] = 160


class ModelPolicy(Table):
    """`[extract.model]`: what a language model, where one is set, may note of turns (Chat flow 2)."""

    #: which turns it is asked about: all in which somebody says something, or those of which the reader is unsure: a
    #: statement of less than `sure`, or nothing found where the message may state something by more than 1 - `sure`
    when: Literal["always", "unsure"] = "always"
    sure: Share = 0.8

    #: notes of one turn; 0: it is not asked about turns
    notes: Annotated[int, Field(ge=0, le=50)] = 0
    #: letters of a note
    note_characters: Annotated[int, Field(ge=20, le=2000)] = 300
    #: letters of a turn; a longer one is left to the rules
    turn_characters: Annotated[int, Field(ge=1, le=100_000)] = 4000
    #: turns before it that it is shown with, and letters of each
    context_turns: Annotated[int, Field(ge=0, le=50)] = 0
    context_characters: Annotated[int, Field(ge=1, le=10_000)] = 300
    #: how sure a note is whose model does not say
    confidence: Share = 0.7
    #: how sure a statement is at most that the reader and the model find in one turn
    agreed_confidence: Share = 0.98
    #: kept replies from which the reader can learn (`reverie reader distill`)
    distill_replies: Annotated[int, Field(ge=100, le=10_000_000)] = 1000


class ExtractPolicy(Table):
    """`[extract]`: what the immediate tier keeps, by rule (Brain 4.2, Contact 3.1)."""

    #: roles whose turns the rules read
    roles: tuple[str, ...] = ("user",)
    #: what becomes an episode: nothing, each turn but low-content ones, or the sentences that tell of an event
    episodes: Literal["none", "all", "eventful"] = "none"
    #: whether such a turn, or chunk of one, is a fact instead where one or two sentences state it (Logic 1.6)
    episode_facts: bool = False
    #: whether what a turn names becomes an entity even where the turn gives no memory (Brain 4.3)
    turn_entities: bool = False
    #: whether each tool call becomes an episode of what was done and why
    tool_episodes: bool = False
    #: characters that the text of a turn may have; a longer turn is refused, or a dead letter of an import
    turn_characters: Annotated[int, Field(ge=1, le=1 << 20)] = 100_000
    #: candidates that the rules take from one turn, in their order; those left out are counted
    turn_candidates: Annotated[int, Field(ge=1, le=10_000)] = 200
    #: days after which a statement of an expiring relation ends if it names no time; 0: it fades like others
    plan_days: Annotated[float, Field(ge=0, le=36_500)] = 0.0
    #: days after which what is passing ends: a broken wrist, a visitor; 0: it fades like others
    passing_days: Annotated[float, Field(ge=0, le=36_500)] = 0.0
    importance: ImportanceByKind = ImportanceByKind()
    reader: ReaderPolicy = ReaderPolicy()
    model: ModelPolicy = ModelPolicy()
    worth: WorthPolicy = WorthPolicy()
    #: what people state of themselves, by name
    relations: dict[str, Relation] = Field(default_factory=dict)
    #: alternatives that patterns name as `<name>`
    words: dict[str, tuple[Pattern, ...]] = Field(default_factory=dict)
    #: clauses that never state anything, whatever rule matches: suppositions, other people's words
    guard: Pattern | None = None
    #: values that say nothing by themselves ("it", "that"), as one pattern for the whole value
    empty: Pattern | None = None
    #: marks of a correction ("actually", "no longer")
    corrects: Pattern | None = None
    #: messages without content, as patterns of single words ("lol+", "ok")
    low_content: tuple[Pattern, ...] = ()
    #: verbs and other marks of an event in a turn
    event: Pattern | None = None
    #: in order of priority: the first that matches a clause makes its hit
    rules: tuple[Rule, ...] = ()

    @model_validator(mode="after")
    def _unique(self) -> Self:
        names = Counter(rule.name for rule in self.rules)
        if repeated := [name for name, times in names.items() if times > 1]:
            raise ValueError(f"rule names repeat: {', '.join(repeated)}")
        if self.model.when == "unsure" and not self.reader.read:
            raise ValueError('[extract.model] when = "unsure" needs [extract.reader] read = true')
        for rule in self.rules:
            if rule.relation is not None and rule.relation not in self.relations:
                raise ValueError(f"rule {rule.name}: there is no relation {rule.relation!r}")
        return self

    @property
    def asked_characters(self) -> int:
        """Characters of a reply up to which the turn before it is read."""
        return self.reader.reply_characters if self.reader.read else 0

    def expand(self, pattern: str) -> str:
        """The pattern with each `<name>` replaced by its alternatives; `ValueError` for an unknown name."""
        for name in re.findall(r"(?<!\?P)<([a-z_]+)>", pattern):
            if name not in self.words:
                raise ValueError(f"pattern {pattern!r} names unknown words <{name}>")
            pattern = pattern.replace(f"<{name}>", f"(?:{'|'.join(self.words[name])})")
        return pattern


class SaliencePolicy(Table):
    """`[salience]`: what makes a text worth keeping before anything is known about it (Logic 1.5)."""

    named_entity: Share = 0.3
    number_or_date: Share = 0.2
    preference: Share = 0.4
    technical: Share = 0.1
    maximum: Share = 1.0
    #: mean letters of the words of four letters and more, from which a text counts as technical
    technical_letters: Annotated[float, Field(gt=0)] = 7.0
    #: preference signals
    signals: Annotated[tuple[str, ...], Field(min_length=1)] = tuple(language_defaults("extract")["signals"])
