"""The list of stages, with the tables that each reads and writes and the models that it needs.

Every other list of stages is taken from this one. A stage's package is imported only when the stage is called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, cast

from reverie.telemetry.lineage import StageTables

if TYPE_CHECKING:
    from reverie.store.runs import Report
    from reverie.store.work import Work


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A step of consolidation; called with the work, it returns the report of its run.

    Its function has the same name, in `reverie/consolidate/<name>/stage.py`, and its statements are in
    `sql/queries/<name>.sql`.
    """

    name: str
    #: One sentence on the work that it does.
    summary: str
    #: Name of its result, as an orchestrator shows it.
    result: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    #: Whether it needs the embedding model.
    embeds: bool = False
    #: Whether it asks a language model, if one is set.
    asks: bool = False
    #: Whether `reverie run --stage` runs it by itself; if not, it runs only within a cycle.
    alone: bool = True
    #: By table: the count in its report that is the number of rows written, if there is one.
    counted: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, work: Work) -> Report:
        """Run the stage once."""
        module = import_module(f"reverie.consolidate.{self.name}.stage")
        return cast("Callable[[Work], Report]", getattr(module, self.name))(work)


#: All stages, in the order in which they run.
STAGES = (
    Stage(
        name="extract",
        summary="Turns and events become candidates.",
        result="candidates",
        reads=("log.turns", "log.events"),
        writes=(
            "memory.extractions",
            "memory.observations",
            "memory.memories",
            "memory.structured_facts",
            "memory.lineage",
            "memory.entities",
            "memory.signal_days",
            "ops.late_subjects",
        ),
        embeds=True,
        asks=True,
        counted={"memory.extractions": "turns", "memory.memories": "candidates"},
    ),
    Stage(
        name="embed",
        summary="Turns and memories get vectors and terms.",
        result="vectors",
        reads=("log.turns", "memory.memories"),
        writes=(
            "memory.subjects",
            "memory.memories",
            "memory.vectors",
            "memory.items",
            "memory.terms",
            "ops.embeddings",
        ),
        embeds=True,
        counted={"memory.vectors": "parts"},
    ),
    Stage(
        name="signal",
        summary="Messages get moods, days get figures, life events get dates; triggers and trends follow.",
        result="signals",
        reads=("log.turns", "log.outcomes", "log.moods", "memory.vectors", "memory.memories"),
        writes=(
            "memory.moods",
            "memory.measurements",
            "memory.topics",
            "memory.signals",
            "memory.signal_days",
            "memory.periods",
            "memory.relationships",
            "memory.ties",
            "memory.life_events",
            "memory.triggers",
            "memory.memories",
            "memory.lineage",
        ),
        embeds=True,
        counted={
            "memory.moods": "moods",
            "memory.measurements": "numbers",
            "memory.topics": "topics",
            "memory.signals": "days",
            "memory.triggers": "triggers",
            "memory.life_events": "life_events",
        },
    ),
    Stage(
        name="correct",
        summary="Corrected memories are forgotten or replaced.",
        result="applied_corrections",
        reads=("log.corrections", "memory.memories"),
        writes=(
            "memory.memories",
            "memory.marks",
            "memory.replacements",
            "memory.structured_facts",
            "memory.corrected",
            "memory.lineage",
            "memory.tombstones",
        ),
        alone=False,
        counted={"memory.tombstones": "forgotten"},
    ),
    Stage(
        name="merge",
        summary="Candidates become memories, or merge into the memory that they repeat.",
        result="deduplicated_memories",
        reads=("memory.memories", "memory.vectors", "log.corrections"),
        writes=("memory.memories", "memory.merges", "memory.lineage", "memory.vectors"),
        embeds=True,
        counted={"memory.merges": "merged"},
    ),
    Stage(
        name="link",
        summary="Memories are linked to the entities that they name.",
        result="entities",
        reads=("memory.memories", "memory.terms"),
        writes=("memory.memories", "memory.entities", "memory.links"),
        counted={"memory.links": "links", "memory.entities": "entities"},
    ),
    Stage(
        name="facts",
        summary="Statements come into force, are superseded or conflict; structured facts are made.",
        result="structured_facts",
        reads=("memory.memories", "log.turns", "log.corrections"),
        writes=(
            "memory.memories",
            "memory.structured_facts",
            "memory.conflicts",
            "memory.vectors",
            "memory.judged_ends",
            "memory.extractions",
        ),
        embeds=True,
        asks=True,
        counted={"memory.structured_facts": "structured", "memory.conflicts": "conflicts"},
    ),
    Stage(
        name="synthesize",
        summary="Observations become a profile.",
        result="profiles",
        reads=("memory.memories", "log.events", "memory.profiles", "memory.scaffold"),
        writes=(
            "memory.memories",
            "memory.profiles",
            "memory.scaffold",
            "memory.synthesized",
            "memory.lineage",
            "ops.synthesis_failures",
        ),
        asks=True,
        counted={"memory.scaffold": "entries", "memory.synthesized": "observations"},
    ),
    Stage(
        name="compress",
        summary="Episodes become patterns, sessions become summaries.",
        result="patterns",
        reads=("memory.memories", "memory.vectors", "log.turns", "log.outcomes"),
        writes=("memory.memories", "memory.lineage", "memory.links", "memory.tombstones", "memory.vectors"),
        embeds=True,
        asks=True,
    ),
    Stage(
        name="score",
        summary="Novelty, recalls and outcomes set importance.",
        result="importance_scores",
        reads=("memory.memories", "memory.vectors", "log.recalls", "log.outcomes"),
        writes=("memory.memories", "memory.accesses", "memory.lineage", "memory.tombstones", "log.recalls"),
        embeds=True,
        counted={"memory.memories": "scored"},
    ),
    Stage(
        name="prune",
        summary="Memories that are due are forgotten.",
        result="tombstones",
        reads=("memory.memories",),
        writes=("memory.tombstones", "memory.memories", "memory.structured_facts"),
        counted={"memory.tombstones": "forgotten"},
    ),
    Stage(
        name="decay",
        summary="Importance fades.",
        result="memories",
        reads=("memory.memories",),
        writes=("memory.memories",),
        counted={"memory.memories": "decayed"},
    ),
)

#: All stages, by name.
BY_NAME = {stage.name: stage for stage in STAGES}
#: Names of the stages that `reverie run --stage` offers and reports list, in order.
NAMES = tuple(stage.name for stage in STAGES if stage.alone)


def stage_tables() -> dict[str, StageTables]:
    """Return the tables that each stage reads and writes, for its lineage events."""
    return {
        stage.name: StageTables(summary=stage.summary, reads=stage.reads, writes=stage.writes, counted=stage.counted)
        for stage in STAGES
    }
