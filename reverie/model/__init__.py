"""The values that pass between the layers: frozen, keyword-only, with timezone-aware times.

- `turn`: turns, tool calls, outcomes and imported statements
- `memory`: candidates, memories and their lineage
- `scaffold`: the free-form part of a profile, and which of two values is in force
- `scope`: the tenant, subjects and times that one run of a stage processes
- `ids`: deterministic ids
- `times`: event times
- `session_part`: the turns that get one summary
- `arrival`: the order of memories that happened at one time
"""

from reverie.model.ids import event_time, ordered_id, stable_id
from reverie.model.memory import (
    KINDS,
    PHASES,
    READER,
    Candidate,
    Kind,
    Lineage,
    Memory,
    Phase,
    Proposition,
    State,
    candidate_id,
    replacement_of,
    rounded,
)
from reverie.model.scope import SHARDS, Scope
from reverie.model.times import EARLIEST, LATEST, bounded_time, require_aware
from reverie.model.turn import (
    ROLES,
    STATEMENT_KINDS,
    ImportedStatement,
    Outcome,
    Role,
    StatementKind,
    ToolCall,
    Turn,
)

__all__ = [
    "EARLIEST",
    "KINDS",
    "LATEST",
    "PHASES",
    "READER",
    "ROLES",
    "SHARDS",
    "STATEMENT_KINDS",
    "Candidate",
    "ImportedStatement",
    "Kind",
    "Lineage",
    "Memory",
    "Outcome",
    "Phase",
    "Proposition",
    "Role",
    "Scope",
    "State",
    "StatementKind",
    "ToolCall",
    "Turn",
    "bounded_time",
    "candidate_id",
    "event_time",
    "ordered_id",
    "replacement_of",
    "require_aware",
    "rounded",
    "stable_id",
]
