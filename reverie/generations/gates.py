"""The gates of publishing: memories at all and, by the tenant's present policy, answers and the quality of recall."""

from __future__ import annotations

from collections.abc import Mapping

from reverie.evaluate.against import Rival, require_no_fall
from reverie.evaluate.retrieval.comparing import QualityError
from reverie.generations.answer_changes import AskedSide, answer_changes, answer_counts, last_questions
from reverie.generations.catalog import Generation, LiveMemory
from reverie.inference import Embedder
from reverie.policy import Policy
from reverie.policy.publish import PublishPolicy
from reverie.store.database import Store
from reverie.store.queries import queries


def require_publishable(
    live: LiveMemory, generation: Generation, there: Store, policy: Policy, embedder: Embedder
) -> None:
    """Ask both memories the tenant's logged questions, and questions made from its log; nothing is logged.

    Raises:
        QualityError: no memory would be left, more first answers change than the policy allows, or a measure falls by
            more than its tolerance.
    """
    require_memories(_count_active(live.work.store, live.tenant_id), _count_active(there, live.tenant_id))
    work, numbers = live.work, live.work.policy.publish
    asked = last_questions(work.store, live.tenant_id, numbers.questions)
    first = AskedSide(store=work.store, policy=work.policy, embedder=work.embedder)
    second = AskedSide(store=there, policy=policy, embedder=embedder)
    require_few_changes(answer_counts(answer_changes(live.tenant_id, asked, first, second, jobs=live.jobs)), numbers)
    name = f"generation {generation.number}"
    require_no_fall(work, Rival(policy=policy, embedder=embedder, name=name, is_rebuilt=True, store=there))


def require_memories(before: int, after: int) -> None:
    """Raise QualityError if the generation has no active memories and the live memory has some.

    The other gates ask questions, and pass if there are none to ask.
    """
    if before and not after:
        raise QualityError(f"No memory would be left of the {before:,} that are active. Publish anyway with --no-gate.")


def _count_active(store: Store, tenant_id: str) -> int:
    with store.transaction(tenant_id) as conn:
        row = conn.execute(queries("generations")["count_active"], {"tenant": tenant_id}).fetchone()
    return int(row[0]) if row else 0


def require_few_changes(counts: Mapping[str, int], numbers: PublishPolicy) -> None:
    """Raise QualityError if the first answer changes for too many questions, given enough questions."""
    questions, changed = counts["questions"], counts["first_answers_changed"]
    if questions >= numbers.fewest and changed > numbers.most_changed * questions:
        raise QualityError(
            f"The first answer changes for {changed:,} of {questions:,} logged questions; the policy allows "
            f"{numbers.most_changed:.0%}. See the changes with `reverie diff --examples`, or publish with --no-gate."
        )
