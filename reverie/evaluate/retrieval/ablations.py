"""The same questions with parts of memory left out (Agent 8.3), by options of recall and profiles.

`NOT_MEASURED` lists the ablations that need a language model, with the reasons.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args
from uuid import UUID

from reverie.evaluate.retrieval.answering import AskedAnswer, KnownQuestions, ask_all
from reverie.evaluate.retrieval.comparing import Difference, differences
from reverie.evaluate.retrieval.question import HeldQuestion
from reverie.evaluate.retrieval.ranks import Ranks, ranks
from reverie.evaluate.retrieval.references import content_words
from reverie.model import Kind
from reverie.policy import SIGNALS, Policy
from reverie.policy.recall import PassName
from reverie.recall.profile import Profile, load_profile
from reverie.recall.subject_cache import KnownSubject
from reverie.store.database import Store
from reverie.store.queries import queries
from reverie.store.session import perform

#: Maximum number of profiles that are assembled, one for each sampled question.
PROFILES = 50
#: Maximum number of words of a narrative.
_NARRATIVE_WORDS = 500

#: Ablations of Agent 8.3 that need a language model or a judge, each in a sentence.
NOT_MEASURED = (
    "Not measured: one model against one per tier; this needs two language models and a rebuild with each "
    "(reverie evaluate --against-model compares only embedding models).",
    "Not measured: narratives; whether one is complete and concise needs a judge.",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Ablation:
    """A comparison of all of recall with recall without a part."""

    name: str
    #: From recall without the part (before) to all of recall (after).
    differences: tuple[Difference, ...]
    #: Number of questions whose ranks differ without it; None: not counted.
    changed: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Coverage:
    """The share of the needed content that a text covers."""

    name: str
    questions: int
    #: Mean share of the needed turns' content words, without those of the question; None: no subject has the text.
    covered: float | None
    #: Mean number of words of the text.
    words: float


@dataclass(frozen=True, kw_only=True, slots=True)
class AskedMemory:
    """Questions about a tenant's memory, with the data that all variants share."""

    store: Store
    tenant_id: str
    asked: Sequence[HeldQuestion]
    known: Mapping[str, KnownSubject]
    policy: Policy
    embedder: KnownQuestions
    #: Number of connections that ask questions.
    jobs: int = 2

    def of(self, asked: Sequence[HeldQuestion]) -> AskedMemory:
        """Return the same for some of the questions."""
        return replace(self, asked=asked)

    def answers(self, *, vectors: bool = True, **numbers: Any) -> list[AskedAnswer]:
        """Return the answers with other numbers of `[recall]`; `vectors=False` leaves out the search by vectors."""
        return ask_all(
            self.store,
            self.tenant_id,
            self.asked,
            known=self.known,
            policy=self.policy.model_copy(update={"recall": self.policy.recall.model_copy(update=numbers)}),
            embedder=self.embedder if vectors else None,
            jobs=self.jobs,
        )


def ablate(memory: AskedMemory, full: Sequence[AskedAnswer]) -> Iterator[Ablation]:
    """Yield each ablation of retrieval; `full` has the answers of all of recall.

    - no memory: the ten turns before the question, latest first, as an agent without memory has them.
    - without vectors: words and entities only.
    - turns alone: the input of the immediate tier, before memories are made from it (asynchronous consolidation).
    - memories alone: the results of consolidation, without the turns.
    """
    numbers = memory.policy.evaluation
    whole = [each.ranks for each in full]
    windows = [ids for ids, _ in _windows(memory)]
    yield Ablation(
        name="no memory",
        differences=tuple(
            differences(
                [_of_window(ids, each) for ids, each in zip(windows, memory.asked, strict=True)], whole, numbers
            )
        ),
    )
    parts: dict[str, dict[str, Any]] = {
        "without vectors": {"vectors": False},
        "turns alone": {"items": ("turn",)},
        "memories alone": {"items": ("memory",)},
    }
    for name, options in parts.items():
        found = [each.ranks for each in memory.answers(**options)]
        yield Ablation(name=name, differences=tuple(differences(found, whole, numbers)))


def ablate_each(memory: AskedMemory, full: Sequence[AskedAnswer]) -> Iterator[Ablation]:
    """Yield ablations of each pass of recall, each signal that the policy weighs, and each kind of memory."""
    numbers, recall = memory.policy.evaluation, memory.policy.recall
    whole = [each.ranks for each in full]
    parts: dict[str, dict[str, Any]] = {
        f"without the pass {name}": {"without": (*recall.without, name)}
        for name in get_args(PassName)
        if name not in recall.without
    }
    used = {name for weights in (recall.weights, *recall.query_weights.values()) for name in weights}
    for signal in (name for name in SIGNALS if name in used):
        parts[f"without the signal {signal}"] = {
            "weights": _without(recall.weights, signal),
            "query_weights": {kind: _without(weights, signal) for kind, weights in recall.query_weights.items()},
        }
    parts |= {f"without the kind {kind}": {"without_kinds": (*recall.without_kinds, kind)} for kind in get_args(Kind)}
    for name, options in parts.items():
        found = [each.ranks for each in memory.answers(**options)]
        changed = sum(one != other for one, other in zip(found, whole, strict=True))
        yield Ablation(name=name, differences=tuple(differences(found, whole, numbers)), changed=changed)


def _without(weights: Mapping[str, float], signal: str) -> dict[str, float]:
    return {name: weight for name, weight in weights.items() if name != signal}


def _of_window(ids: Sequence[UUID], asked: HeldQuestion) -> Ranks:
    return ranks([(id_,) for id_ in ids], asked.needs)


def _windows(memory: AskedMemory) -> list[tuple[list[UUID], list[str]]]:
    params = {
        "tenant": memory.tenant_id,
        "subjects": [each.subject_id for each in memory.asked],
        "times": [each.asked_at for each in memory.asked],
    }
    with memory.store.transaction(memory.tenant_id) as conn:
        rows = conn.execute(queries("retrieval")["latest"], params).fetchall()
    return [(ids or [], texts or []) for _, ids, texts in sorted(rows, key=lambda row: int(row[0]))]


def cover(memory: AskedMemory, full: Sequence[AskedAnswer]) -> list[Coverage]:
    """Return the coverage of each text, over at most `PROFILES` questions spread over all.

    The texts: the latest turns (no memory), the narrative alone, facts by the policy's fixed keys, the scaffold with
    invented keys (schema-free), and all of recall. A scaffold comes from observations or a language model; without
    either, its coverage is None.
    """
    step = max(1, -(-len(memory.asked) // PROFILES))
    drawn = range(0, len(memory.asked), step)
    needed = _texts(memory, {id_ for place in drawn for id_ in memory.asked[place].needs})
    windows = _windows(memory) if memory.asked else []
    told: dict[str, list[tuple[float, str]]] = {}
    for place in drawn:
        each = memory.asked[place]
        missing = content_words(" ".join(needed.get(id_, "") for id_ in each.needs)) - content_words(each.text)
        if not missing:
            continue
        profile = perform(
            load_profile(
                memory.store.session(memory.tenant_id),
                subject_id=each.subject_id,
                policy=memory.policy,
                as_of=each.asked_at,
            )
        )
        for name, text in _told(profile, windows[place][1], full[place].text).items():
            told.setdefault(name, []).append((covered_share(text, missing), text))
    return [
        Coverage(
            name=name,
            questions=len(shares),
            covered=sum(share for share, _ in shares) / len(shares) if any(text for _, text in shares) else None,
            words=sum(len(text.split()) for _, text in shares) / len(shares),
        )
        for name, shares in told.items()
    ]


def covered_share(text: str, words: Collection[str]) -> float:
    """Return the share of the words that the text has, 0 to 1.

    Known error: it counts words, so a paraphrase covers nothing, and a common word covers something.
    """
    return len(content_words(text).intersection(words)) / len(words)


def _told(profile: Profile, window: Sequence[str], recalled: str) -> dict[str, str]:
    return {
        "no memory": "\n".join(window),
        "narrative": profile.narrative(_NARRATIVE_WORDS),
        "fixed keys": "\n".join(f"{fact.name}: {fact.value}" for fact in profile.facts),
        "schema-free keys": "\n".join(entry.text for entry in profile.active),
        "all of recall": recalled,
    }


def _texts(memory: AskedMemory, ids: Collection[UUID]) -> dict[UUID, str]:
    with memory.store.transaction(memory.tenant_id) as conn:
        rows = conn.execute(queries("retrieval")["texts"], {"tenant": memory.tenant_id, "ids": list(ids)}).fetchall()
    return dict(rows)
