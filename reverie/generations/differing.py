"""Compares two memories of a tenant, live or of a generation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from reverie.errors import SettingsError
from reverie.generations.answer_changes import (
    AnswerChange,
    AskedSide,
    answer_changes,
    answer_counts,
    last_questions,
)
from reverie.generations.catalog import COMPLETE, Generation, LiveMemory, find_generation, opened
from reverie.generations.memory_changes import MemoryChanges, memory_changes, read_contents, read_frames
from reverie.generations.switching import hold
from reverie.inference import Embedder
from reverie.policy import load_policy
from reverie.store.database import Store
from reverie.store.queries import queries

#: A generation by its number, or the live memory.
Side = int | Literal["live"]


@dataclass(frozen=True, kw_only=True, slots=True)
class GenerationDiff:
    """The differences of the second side from the first."""

    memory: MemoryChanges
    answers: tuple[AnswerChange, ...]
    #: Texts of the memories in the examples, by id as text: of the first side and of the second.
    texts: tuple[dict[str, str], dict[str, str]]

    def counts(self) -> dict[str, int]:
        """Return the numbers of differences by name, for a gate and for plots."""
        return self.memory.counts() | answer_counts(self.answers)

    def examples(self, limit: int) -> dict[str, list[dict[str, Any]]]:
        """Return up to `limit` changes of each kind. They have user text: show them to people and do not log them."""
        before, after = self.texts
        memories = [
            {
                "change": row["change"],
                "subject_id": row["subject_id"],
                "kind": row["kind"],
                "before": before.get(row["before"]),
                "after": after.get(row["after"]),
            }
            for row in _some(self.memory, limit)
        ]
        answers = [
            {
                "subject_id": change.question.subject_id,
                "question": change.question.text,
                "asked_at": change.question.asked_at,
                "before": _told(change.before),
                "after": _told(change.after),
            }
            for change in sorted(self.answers, key=lambda each: not each.first_changed)
            if change.changed
        ]
        return {
            "memories": memories,
            "facts": self.memory.facts.head(limit).to_dicts(),
            "profile_entries": self.memory.entries.head(limit).to_dicts(),
            "answers": answers[:limit],
        }


def _told(hits: Sequence[Any]) -> list[dict[str, Any]]:
    return [{"rank": rank, **hit._asdict()} for rank, hit in enumerate(hits, 1)]


def _some(memory: MemoryChanges, limit: int) -> list[dict[str, Any]]:
    """Return up to `limit` changes of memories of each kind."""
    return memory.memories.group_by("change", maintain_order=True).head(limit).to_dicts()


def difference(
    live: LiveMemory,
    sides: tuple[Side, Side],
    *,
    questions: int,
    examples: int,
    embedder_of: Callable[[str], Embedder],
) -> GenerationDiff:
    """Compare two sides of a tenant, and ask both its latest logged `questions`.

    `embedder_of` loads an embedding model by its name. Texts are read for up to `examples` changes of each kind.

    Raises:
        NotFoundError, InputError: a side is not a complete generation.
    """
    tenant_id = live.tenant_id
    with _asked(live, sides[0], embedder_of) as first, _asked(live, sides[1], embedder_of) as second:
        memory = memory_changes(read_frames(first.store, tenant_id), read_frames(second.store, tenant_id))
        asked = last_questions(live.work.store, tenant_id, questions)
        answers = answer_changes(tenant_id, asked, first, second, jobs=live.jobs)
        some = _some(memory, examples)
        texts = [
            read_contents(side.store, tenant_id, [row[name] for row in some if row[name]])
            for side, name in ((first, "before"), (second, "after"))
        ]
    return GenerationDiff(memory=memory, answers=tuple(answers), texts=(texts[0], texts[1]))


@contextmanager
def _asked(live: LiveMemory, side: Side, embedder_of: Callable[[str], Embedder]) -> Iterator[AskedSide]:
    work = live.work
    if side == "live":
        yield AskedSide(store=work.store, policy=work.policy, embedder=work.embedder)
        return
    generation = find_generation(work.store, live.tenant_id, side, *COMPLETE)
    policy = load_policy(generation.policy)
    if policy.hash != generation.policy_hash:
        raise SettingsError(
            f"The policy {generation.policy} has changed since generation {generation.number} was built: "
            "build another one."
        )
    embedder = work.embedder if generation.model == work.embedder.model else embedder_of(generation.embedder)
    with opened(live, generation) as store:
        if generation.state == "reverted":
            _hold_own_memory(live, generation, store)
        yield AskedSide(store=store, policy=policy, embedder=embedder)


def _hold_own_memory(live: LiveMemory, generation: Generation, there: Store) -> None:
    """Put the memory of a reverted generation back into its database, which a revert left with the replaced one."""
    sql, tenant_id = queries("switching"), live.tenant_id
    with there.transaction(tenant_id) as conn:
        conn.execute(sql["holds"])  # if it was published meanwhile, its next revert waits until this is decided
        now = find_generation(live.work.store, tenant_id, generation.number, *COMPLETE)
        if now.state == "reverted":
            hold(conn, tenant_id, "generation")
            tenant = {"tenant": tenant_id, "policy": generation.policy, "model": generation.model}
            conn.execute(sql["set_tenant"], tenant)
