"""The `[extract]` and `[salience]` headings, with the rule table; patterns are validated when a policy is read.

One table drives two engines, so patterns use only what Rust's regex and Python's re treat alike: no lookaround, no
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
    """A rule for one way in which people say something worth keeping."""

    #: Name, unique in the policy; recorded with each memory that the rule makes.
    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$")]
    #: Kind of the memory; by default that of its relation.
    kind: RuleKind | None = None
    #: Lower-case literals; every match contains one, and the rule is tried only on clauses that contain one.
    cues: Annotated[tuple[str, ...], Field(min_length=1)]
    #: Regular expression for both engines.
    pattern: Pattern
    #: Text of the memory in the third person, with the groups `{x}` and, after it, `{y}`: "Has {x} named {y}"; by
    #: default the wording of its relation.
    template: Annotated[str, Field(min_length=1)] | None = None
    #: Relation that it states, from `[extract.relations]`.
    relation: str | None = None
    #: Object of the relation.
    object: Annotated[str, Field(min_length=1)] = "{x}"
    #: Topic, which tells several objects apart.
    topic: Annotated[str, Field(min_length=1)] | None = None
    #: Person that it is about, if not the author.
    who: Annotated[str, Field(min_length=1)] | None = None
    #: How it relates to earlier statements.
    phase: Phase = "holds"
    #: Whether it applies even if the clause states something else: "my sister Ann lives in Leeds".
    beside: bool = False
    #: 1: liked, -1: disliked, 0: neither.
    polarity: Literal[-1, 0, 1] = 0
    #: Typed id of the entity, with a group as slug: "pet:{y}".
    entity: Annotated[str, Field(pattern=r"^[a-z]+:\{[xy]\}$")] | None = None
    #: Importance, in place of that of the kind.
    importance: Share | None = None
    #: Category of the structured fact that it also becomes.
    category: FactCategory | None = None
    #: Key of that structured fact; `{x}` and `{y}` in it become slugs, and a colon before one allows several.
    key: Annotated[str, Field(pattern=r"^[a-z][a-z_]*(?::?\{[xy]\})?$")] | None = None
    #: Value of the structured fact.
    value: Annotated[str, Field(pattern=r"^[^{}]*\{[xy]\}[^{}]*(?:\{[xy]\}[^{}]*)?$")] = "{x}"
    #: Confidence of the structured fact, in place of `[structured_facts] rule_confidence`.
    confidence: Share | None = None
    #: Whether it is also tried on questions ("Can we talk about {x}?").
    question: bool = False

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        groups = set(re.findall(r"\(\?P<(\w+)>", self.pattern))
        if self.template is not None and not _TEMPLATE.fullmatch(self.template):
            raise ValueError(f"rule {self.name}: a template must have {{x}} once, then {{y}} at most once")
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
        """The parts of the template: before `{x}`, between the groups, and after the last."""
        before, rest = (self.template or "{x}").split("{x}")
        between, _, after = rest.partition("{y}")
        return before, between, after

    @staticmethod
    def _named(*templates: str | None) -> set[str]:
        """Return the groups that templates name."""
        return set(re.findall(r"\{(\w)\}", "".join(template or "" for template in templates)))


class ImportanceByKind(Table):
    """Importance of a new memory by kind."""

    fact: Share = 0.7
    preference: Share = 0.8
    instruction: Share = 0.8
    episode: Share = 0.5


class WorthPolicy(Table):
    """Sentences that are kept as they are, by the classifier of `language.cues.worth`."""

    #: Probability from which a sentence in which no rule finds a relation is kept as a plain fact; above 1: none is.
    keep: Annotated[float, Field(ge=0, le=2)] = 2.0
    #: Probability from which a sentence about an event is kept in an episode.
    episode: Share = 0.0


class ReaderPolicy(Table):
    """The reader, a small model that comes with Reverie and finds statements in turns."""

    #: Whether the reader is used.
    read: bool = False
    #: Minimum confidence in a statement to remember it; see also `keep`.
    confidence: Share = 0.5
    #: Minimum confidence in all parts of a statement, with its phase, holder and topic, for it to be worded anew; below
    #: it, the words of the message are kept: the clause if the reader is sure enough of it (`clause`), or the sentence.
    whole: Share = 0.0
    #: Minimum confidence in the clause of a statement for it to be kept in place of the sentence.
    clause: Share = 0.7
    #: Probability from which a statement below `confidence` is kept in the words of the message, as its clause or
    #: sentence (the reader gives none below .05); above 1: none is kept.
    keep: Annotated[float, Field(ge=0, le=2)] = 2.0
    #: Minimum probability that the person wants a statement kept, for it to be kept in the words of the message.
    wanted: Share = 0.0
    #: The same for such a statement to last as its relation says; below it, the memory fades unless it is accessed.
    wanted_for_good: Share = 0.0
    #: Maximum number of characters of a sentence that is kept in the words of the message.
    keep_characters: Annotated[int, Field(ge=1, le=10_000)] = 300
    #: Codes of the languages that the reader reads.
    languages: tuple[str, ...] = ("en", "pcm")
    #: Probability of another language from which a message is not read.
    other_language: Share = 0.6
    #: Maximum number of characters of a message that is read together with what somebody else said before it.
    reply_characters: Annotated[int, Field(ge=0, le=1000)] = 160


class ModelPolicy(Table):
    """Claims about turns by a language model, if one is configured (Chat flow 2)."""

    #: Turns about which the model is asked. `always`: all turns with content; `unsure`: those with a statement below
    #: the confidence `sure`, or with none although the message states something with a probability over 1 - `sure`.
    when: Literal["always", "unsure"] = "always"
    #: Confidence of the reader from which the model is not asked, if `when` is `unsure`.
    sure: Share = 0.8

    #: Maximum number of claims from one turn; 0: the model is not asked about turns.
    notes: Annotated[int, Field(ge=0, le=50)] = 0
    #: Maximum number of characters of a claim.
    note_characters: Annotated[int, Field(ge=20, le=2000)] = 300
    #: Maximum number of characters of a turn; a longer turn is left to the rules.
    turn_characters: Annotated[int, Field(ge=1, le=100_000)] = 4000
    #: Number of earlier turns that the model is shown with a turn.
    context_turns: Annotated[int, Field(ge=0, le=50)] = 0
    #: Maximum number of characters of each of these turns.
    context_characters: Annotated[int, Field(ge=1, le=10_000)] = 300
    #: Confidence of a claim if the model gives none.
    confidence: Share = 0.7
    #: Maximum confidence of a statement that both the reader and the model find in a turn.
    agreed_confidence: Share = 0.98
    #: Minimum number of kept replies from which the reader can learn (`reverie reader distill`).
    distill_replies: Annotated[int, Field(ge=100, le=10_000_000)] = 1000


class ExtractPolicy(Table):
    """The extraction of candidates from turns and events (Brain 4.2, Contact 3.1)."""

    #: Roles whose turns are read.
    roles: tuple[str, ...] = ("user",)
    #: Source of episodes: `none`, `all` turns except those without content, or `eventful` sentences only.
    episodes: Literal["none", "all", "eventful"] = "none"
    #: Whether such a turn, or chunk of one, is a fact instead if one or two sentences state it (Logic 1.6).
    episode_facts: bool = False
    #: Whether the names in a turn become entities even if the turn gives no memory (Brain 4.3).
    turn_entities: bool = False
    #: Whether each tool call becomes an episode, with the action and its reason.
    tool_episodes: bool = False
    #: Maximum number of characters of a turn; a longer turn is refused, or becomes a dead letter of an import.
    turn_characters: Annotated[int, Field(ge=1, le=1 << 20)] = 100_000
    #: Maximum number of candidates that the rules make from one turn, in order; the rest are counted.
    turn_candidates: Annotated[int, Field(ge=1, le=10_000)] = 200
    #: Days after which a statement of an expiring relation ends if it names no time; 0: it fades like others.
    plan_days: Annotated[float, Field(ge=0, le=36_500)] = 0.0
    #: Days after which something passing ends, such as a broken wrist or a visit; 0: it fades like others.
    passing_days: Annotated[float, Field(ge=0, le=36_500)] = 0.0
    importance: ImportanceByKind = ImportanceByKind()
    reader: ReaderPolicy = ReaderPolicy()
    model: ModelPolicy = ModelPolicy()
    worth: WorthPolicy = WorthPolicy()
    #: Relations of statements, by name.
    relations: dict[str, Relation] = Field(default_factory=dict)
    #: Alternatives that patterns use as `<name>`.
    words: dict[str, tuple[Pattern, ...]] = Field(default_factory=dict)
    #: Clauses that never state anything, whatever rule matches: suppositions, other people's words.
    guard: Pattern | None = None
    #: Values that say nothing by themselves ("it", "that"), as one pattern for the whole value.
    empty: Pattern | None = None
    #: Signs of a correction ("actually", "no longer").
    corrects: Pattern | None = None
    #: Messages without content, as patterns of single words ("lol+", "ok").
    low_content: tuple[Pattern, ...] = ()
    #: Verbs and other signs of an event in a turn.
    event: Pattern | None = None
    #: Rules in order of priority: the first that matches a clause makes its memory.
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

    @model_validator(mode="after")
    def _worded(self) -> Self:
        patterns = {name: getattr(self, name) for name in ("guard", "empty", "corrects", "event")}
        patterns |= {f"rule {rule.name}": rule.pattern for rule in self.rules}
        for name, pattern in patterns.items():
            try:
                self.expand(pattern or "")
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from error
        return self

    @property
    def asked_characters(self) -> int:
        """The most characters of a reply that is read with the turn before it; 0 without the reader."""
        return self.reader.reply_characters if self.reader.read else 0

    def expand(self, pattern: str) -> str:
        """Return the pattern with each `<name>` replaced by its alternatives; `ValueError` for an unknown name."""
        for name in re.findall(r"(?<!\?P)<([a-z_]+)>", pattern):
            if name not in self.words:
                raise ValueError(f"the pattern names <{name}>, which is not in [extract.words]")
            pattern = pattern.replace(f"<{name}>", f"(?:{'|'.join(self.words[name])})")
        return pattern


class SaliencePolicy(Table):
    """Signals in a text itself that make it worth keeping (Logic 1.5)."""

    named_entity: Share = 0.3
    number_or_date: Share = 0.2
    preference: Share = 0.4
    technical: Share = 0.1
    maximum: Share = 1.0
    #: Mean length of the words of four letters or more, from which a text counts as technical.
    technical_letters: Annotated[float, Field(gt=0)] = 7.0
    #: Words and phrases that express a preference.
    signals: Annotated[tuple[str, ...], Field(min_length=1)] = tuple(language_defaults("extract")["signals"])
