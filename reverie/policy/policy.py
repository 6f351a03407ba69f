"""A policy: the numbers and choices by which memory is made, read from a TOML file and checked."""

from __future__ import annotations

import hashlib
from functools import cache, cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin

from pydantic import BaseModel, Field, ValidationError

from reverie.errors import PolicyError
from reverie.model import Phase
from reverie.policy.assist import AssistPolicy
from reverie.policy.evaluation import EvaluationPolicy
from reverie.policy.extract import ExtractPolicy, SaliencePolicy
from reverie.policy.fading import Fading
from reverie.policy.files import EXTRA, PolicyFile, merged, nearest, origin, read_files, rule_name, rules_of
from reverie.policy.insights import InsightsPolicy
from reverie.policy.life_events import LifeEventsPolicy
from reverie.policy.live import (
    ContextPolicy,
    CrisisPolicy,
    MoodPolicy,
    ProfilePolicy,
    RelationshipPolicy,
    StylePolicy,
    WorkingMemoryPolicy,
)
from reverie.policy.memory import (
    ChunkPolicy,
    CompressPolicy,
    CyclePolicy,
    DecayPolicy,
    ImportancePolicy,
    MergePolicy,
    PrunePolicy,
    QueuePolicy,
)
from reverie.policy.publish import PublishPolicy
from reverie.policy.recall import RecallPolicy, StructuredFactsPolicy
from reverie.policy.sensitivity import SensitivityPolicy
from reverie.policy.signals import SignalsPolicy
from reverie.policy.table import Table

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails


class Policy(Table):
    """A policy. Its `hash` identifies its numbers and is recorded with every run and memory."""

    name: Annotated[str, Field(min_length=1, max_length=100)]
    description: str = ""
    #: Postgres text-search configuration that stems the terms.
    language: Literal["english", "simple", "german", "french", "spanish", "italian", "portuguese", "dutch"] = "english"
    cycle: CyclePolicy = CyclePolicy()
    extract: ExtractPolicy = ExtractPolicy()
    salience: SaliencePolicy = SaliencePolicy()
    chunk: ChunkPolicy = ChunkPolicy()
    importance: ImportancePolicy = ImportancePolicy()
    merge: MergePolicy = MergePolicy()
    decay: DecayPolicy = DecayPolicy()
    compress: CompressPolicy = CompressPolicy()
    prune: PrunePolicy = PrunePolicy()
    recall: RecallPolicy = RecallPolicy()
    queue: QueuePolicy = QueuePolicy()
    working_memory: WorkingMemoryPolicy = WorkingMemoryPolicy()
    context: ContextPolicy = ContextPolicy()
    relationship: RelationshipPolicy = RelationshipPolicy()
    style: StylePolicy = StylePolicy()
    mood: MoodPolicy = MoodPolicy()
    signals: SignalsPolicy = SignalsPolicy()
    insights: InsightsPolicy = InsightsPolicy()
    life_events: LifeEventsPolicy = LifeEventsPolicy()
    crisis: CrisisPolicy = CrisisPolicy()
    structured_facts: StructuredFactsPolicy = StructuredFactsPolicy()
    profile: ProfilePolicy = ProfilePolicy()
    evaluation: EvaluationPolicy = EvaluationPolicy()
    publish: PublishPolicy = PublishPolicy()
    sensitivity: SensitivityPolicy = SensitivityPolicy()
    assist: AssistPolicy = AssistPolicy()

    @cached_property
    def hash(self) -> str:
        """The first 16 hex digits of the sha256 over all numbers, regardless of comments and layout."""
        canonical = self.model_dump_json(exclude={"description"})
        return hashlib.sha256(canonical.encode()).hexdigest()[:16]

    @cached_property
    def fading(self) -> Fading:
        """The numbers by which importance fades and memories are forgotten."""
        return Fading(
            rates=self.decay.rates,
            grace_days=self.decay.grace_days,
            below=self.prune.below,
            unaccessed_days=self.prune.unaccessed_days,
            expired_days=self.prune.expired_days,
            history_days=self.prune.history_days,
        )

    def lasts(self, relation: str | None, phase: Phase) -> bool:
        """Return whether a statement of a relation is in force and durable: its memory does not fade."""
        known = self.extract.relations.get(relation) if relation else None
        return known is not None and known.is_lasting(phase)

    def __hash__(self) -> int:
        return hash(self.hash)


@cache
def load_policy(name_or_path: str) -> Policy:
    """Return a shipped policy by name, or the policy file at a path, merged with its `base`.

    A key that neither states has its default.

    Raises:
        PolicyError: there is no such policy or base, it is not TOML, or a key is unknown or out of range; the message
            names each such key, its line and the allowed values.
    """
    chain = read_files(name_or_path)
    tables, problems = merged(chain)
    policy, wrong = None, None
    try:
        policy = Policy.model_validate(tables)
    except ValidationError as error:
        wrong, problems = error, problems + [_sentence(problem, tables, chain) for problem in error.errors()]
    if policy is None or problems:
        raise PolicyError(f"Policy {name_or_path}: {'; '.join(problems)}.") from wrong
    return policy


def _sentence(problem: ErrorDetails, tables: dict[str, Any], chain: list[PolicyFile]) -> str:
    """Return the problem of one key, with the line of the file or of the base that states it."""
    # pydantic marks the key itself, if that is wrong and not its value
    loc, found = tuple(part for part in problem["loc"] if part != "[key]"), problem["input"]
    file, path = _stated(loc, tables, chain)
    place = f"{'.'.join(map(str, loc)) or 'the file'}"
    if line := file.line(path):
        place += f" (line {line})" if file is chain[0] else f" (line {line} of {file.label})"
    if problem["type"] == "extra_forbidden":
        return f"{place}: there is no such key{nearest(str(loc[-1]), _keys(loc[:-1]))}"
    message = problem["msg"].removeprefix("Value error, ")
    return f"{place}: {message}" + (f", found {found!r}" if isinstance(found, (str, int, float, bool)) else "")


def _stated(
    loc: tuple[str | int, ...], tables: dict[str, Any], chain: list[PolicyFile]
) -> tuple[PolicyFile, tuple[str | int, ...]]:
    """Return the file that states a key, and the path within that file, as each file counts its own rules."""
    if loc[:2] == ("extract", "rules") and len(loc) > 2 and isinstance(loc[2], int):
        name = rule_name(rules_of(tables)[loc[2]])
        for file in chain:
            if (place := file.rule(name)) is not None:
                return file, (*loc[:2], place, *loc[3:])
    for length in range(len(loc), 0, -1):
        if file_ := origin(chain, loc[:length]):
            return file_, loc
    return chain[0], loc


def _keys(loc: tuple[str | int, ...]) -> list[str]:
    """Return the keys that a file can have under a heading."""
    model: type[BaseModel] = Policy
    is_name = False
    for part in loc:
        if isinstance(part, str) and not is_name:
            annotation = model.model_fields[part].annotation
            classes = (each for each in (annotation, *get_args(annotation)) if isinstance(each, type))
            model = next(each for each in classes if issubclass(each, BaseModel))
            is_name = get_origin(annotation) is dict  # its own keys are names, such as those of relations
        else:
            is_name = False
    return [*model.model_fields, *EXTRA.get(loc, ())]
