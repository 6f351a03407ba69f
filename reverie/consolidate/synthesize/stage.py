"""synthesize: what was observed becomes a subject's profile, the memory processor (spec B7, C8; Agent 3.B, 5.1).

Events of the bus, and where the policy says so memories that rules made of turns, are worked into a narrative, a
scaffold of keys and facts to remember. A language model does it at each cycle; without one rules do what can be done
without, at once. Either way an observation is marked with what came of it, in one transaction: killed anywhere, it is
neither lost nor worked in twice. What a model gives no usable reply to waits for the next cycle.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection

from reverie.consolidate.synthesize.decide import Judge, Observation, Stated, Synthesis, by_model, by_rules, item_of
from reverie.consolidate.synthesize.write import SubjectProfile, write
from reverie.inference.completions import LanguageModel
from reverie.inference.prompts import Prompt, load_prompt
from reverie.llm.answers import NO_REPLY, ModelAnswer
from reverie.llm.asking import ModelCaller, ask
from reverie.llm.inputs import PromptInput, input_hash
from reverie.model.scaffold import Entry, Held, State, fold
from reverie.policy import Policy
from reverie.store.database import Store
from reverie.store.queries import queries
from reverie.store.runs import Report, Run, run
from reverie.store.work import Work

#: Subjects that are asked about, and worked in by rules, in one transaction; observations of one by rules.
_ASKED, _BY_RULES, _MANY = 20, 500, 1000
#: Tokens of a reply: a narrative, entries and facts.
_MAX_TOKENS = 4000
#: Reasons that hold until somebody does something: rules do it.
_FOR_GOOD = frozenset({"credit", "unpriced", "unrecorded"})

Params = dict[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Standing:
    """A subject's profile as it is, and what waits for it."""

    observations: tuple[Observation, ...]
    #: As they are stored; those a person found wrong are not among them.
    held: tuple[Held, ...] = ()
    #: Entries that are not marked so yet.
    wrong: tuple[UUID, ...] = ()
    narrative_id: UUID | None = None
    narrative: str = ""
    told_until: datetime | None = None
    made_at: datetime | None = None
    #: Replies in a row that were of no use.
    failures: int = 0

    def item(self, subject_id: str, letters: int) -> PromptInput:
        """What a model is shown of it."""
        return item_of(subject_id, self.narrative, _active(self.held), self.observations, letters)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question about a subject and its answer."""

    item: PromptInput
    answer: ModelAnswer[Synthesis]


@dataclass(kw_only=True)
class _Round:
    """What the rounds of one run share."""

    store: Store
    attempt: Run
    policy: Policy
    params: Params
    model: LanguageModel | None
    prompt: Prompt[Synthesis] | None
    #: Subjects that wait for the next cycle.
    waiting: set[str] = field(default_factory=set)


def synthesize(work: Work) -> Report:
    """Work observations into profiles; counts `observations`, `by_rules`, `entries`, `replaced`, `conflicts`, `facts`,
    `narratives`, `waiting` subjects, and what was discarded, by reason; with a model also the counts of `ask`.

    With a `language_model`, what was observed within the policy's `max_wait_minutes` is left for the next cycle: by
    then every turn of that time is in the log, whoever drives the tiers. A dry run asks no model. `pulse` is called now
    and then while a model is asked.

    Raises:
        UnansweredError, InferenceError: the model cannot be used at all; what was done before stands.
    """
    policy, dry_run = work.policy, work.dry_run
    model = None if dry_run else work.language_model
    with run(work, "synthesize") as attempt:
        for name in ("observations", "by_rules", "entries", "replaced", "conflicts", "facts", "narratives", "waiting"):
            attempt.report.add(name, 0)
        params = attempt.params() | {
            "horizon": work.as_of - lag(policy) if model else work.as_of,
            "from_memories": policy.profile.from_memories and model is not None,
            "asks": model is not None,
            "letters": policy.profile.excerpt_letters,
            "most": None if dry_run else policy.profile.observations if model else _MANY,
            "limit": None if dry_run else _ASKED if model else _BY_RULES,
        }
        rounds = _Round(
            store=work.store, attempt=attempt, policy=policy, params=params, model=model, prompt=_prompt(model, policy)
        )
        for portion in _portions(rounds):
            _work_in(rounds, portion)
        with work.transaction() as conn:
            attempt.record(conn)
    return attempt.report


def lag(policy: Policy) -> timedelta:
    """Return for how long turns may be on their way to the log: a cycle with a model leaves them to the next."""
    return timedelta(minutes=policy.queue.max_wait_minutes)


def _prompt(model: LanguageModel | None, policy: Policy) -> Prompt[Synthesis] | None:
    if model is None:
        return None
    numbers = policy.profile
    places = {"words": numbers.narrative_words, "depth": numbers.depth, "facts": numbers.facts}
    return load_prompt("synthesize", Synthesis, max_tokens=_MAX_TOKENS, **places)


def _portions(rounds: _Round) -> Iterator[list[str]]:
    """Yield subjects that something waits for, portion by portion; the caller works each in before the next."""
    sql, after = queries("synthesize"), ""
    while True:
        with rounds.store.transaction(rounds.params["tenant"]) as conn:
            rows = conn.execute(sql["read_waiting"], rounds.params | {"after": after}).fetchall()
        if not rows:
            return
        portion = [row[0] for row in rows]
        yield portion
        if rounds.attempt.work.dry_run:
            return
        after = portion[-1]


def _work_in(rounds: _Round, portion: list[str]) -> None:
    """Round by round, until nothing of these subjects is left."""
    left = portion
    while left:
        asked: dict[str, _Asked] = {}
        if rounds.model is not None:
            with rounds.store.transaction(rounds.params["tenant"]) as conn:
                standing = _read(conn, rounds.params | {"portion": left})
            asked = _ask(rounds, standing)
        with rounds.store.transaction(rounds.params["tenant"]) as conn:
            named = rounds.params | {"portion": left, "subjects": left}
            conn.execute(queries("subjects")["add_subjects"], named)
            conn.execute(queries("subjects")["lock_subjects"], named)
            standing = _read(conn, named)
            done = [work for subject, one in standing.items() if (work := _decide(rounds, subject, one, asked))]
            write(conn, rounds.attempt, rounds.policy, rounds.params | _asked_by(rounds), done)
            rounds.attempt.record(conn)
        if rounds.attempt.work.dry_run:
            return
        finished = {work.subject_id for work in done}
        left = [
            subject
            for subject, one in standing.items()
            if subject not in finished or len(one.observations) == rounds.params["most"]
        ]
        left = [subject for subject in left if subject not in rounds.waiting]


def _asked_by(rounds: _Round) -> Params:
    return {
        "model": rounds.model.key if rounds.model else None,
        "prompt_hash": rounds.prompt.hash if rounds.prompt else None,
    }


def _read(conn: Connection[Any], params: Params) -> dict[str, Standing]:
    """The profiles of a portion that something waits for."""
    sql = queries("synthesize")
    observations: dict[str, list[Observation]] = defaultdict(list)
    for subject, *row in conn.execute(sql["read_observations"], params):
        observations[subject].append(Observation(*row))
    named = params | {"portion": list(observations)}
    held: dict[str, list[Held]] = defaultdict(list)
    wrong: dict[str, list[UUID]] = defaultdict(list)
    for subject, entry, state, valid_to, by, is_wrong in _entries(conn.execute(sql["read_entries"], named).fetchall()):
        if state != "wrong" and is_wrong:
            wrong[subject].append(entry.id)
        elif not is_wrong:
            held[subject].append(Held(entry=entry, state=state, valid_to=valid_to, by=by))
    narratives = {subject: row for subject, *row in conn.execute(sql["read_narratives"], named)}
    failures = dict(conn.execute(sql["read_failures"], named).fetchall())
    found = {}
    for subject, waiting in observations.items():
        id_, narrative, told_until, made_at = narratives.get(subject, (None, "", None, None))
        found[subject] = Standing(
            observations=tuple(waiting),
            held=tuple(held[subject]),
            wrong=tuple(wrong[subject]),
            narrative_id=id_,
            narrative=narrative,
            told_until=told_until,
            made_at=made_at,
            failures=failures.get(subject, 0),
        )
    return found


def _entries(
    rows: Sequence[tuple[Any, ...]],
) -> Iterator[tuple[str, Entry, State, datetime | None, Entry | None, bool]]:
    names = ("id", "connection_id", "path", "value", "confidence", "basis", "valid_from", "sources", "model")
    by_id: dict[UUID, Entry] = {}
    for _, *row in rows:
        values = dict(zip(names, row[: len(names)], strict=True))
        entry = Entry(**values | {"path": tuple(values["path"]), "sources": tuple(values["sources"])})
        by_id[entry.id] = entry
    for subject, id_, *row in rows:
        state, valid_to, replaced_by, is_wrong = row[len(names) - 1 :]
        yield subject, by_id[id_], state, valid_to, by_id.get(replaced_by), is_wrong


def _ask(rounds: _Round, standing: dict[str, Standing]) -> dict[str, _Asked]:
    """Ask about each subject; no connection is held. Raises as `ask` does when the model cannot be used at all."""
    assert rounds.model is not None and rounds.prompt is not None
    report, numbers = rounds.attempt.report, rounds.policy.profile
    report.model = rounds.model.key
    items = {subject: one.item(subject, numbers.excerpt_letters) for subject, one in standing.items()}
    judge = Judge(numbers.narrative_words)
    answers = ask(ModelCaller.of_run(rounds.attempt), rounds.model, rounds.prompt, list(items.values()), check=judge)
    return {subject: _Asked(item, answer) for (subject, item), answer in zip(items.items(), answers, strict=True)}


def _decide(rounds: _Round, subject: str, one: Standing, asked: dict[str, _Asked]) -> SubjectProfile | None:
    """What is to be written of a subject; None when it changed since it was asked about, and is asked about anew."""
    policy, who = rounds.policy, (rounds.params["tenant"], subject)
    stated = by_rules(who, one.observations, policy)
    reply: Stated | None = None
    if rounds.model is not None:
        found = asked.get(subject)
        if found is None or found.item.content != one.item(subject, policy.profile.excerpt_letters).content:
            return None
        answer = found.answer
        if answer.reply is None and answer.reason not in _FOR_GOOD:
            failures = one.failures + (answer.reason not in NO_REPLY)
            if failures < policy.queue.attempts:
                rounds.waiting.add(subject)
                return SubjectProfile(subject_id=subject, failures=failures, reason=answer.reason)
        if answer.reply is not None:
            after_rules, _ = _folded(one.held, stated.entries, policy)
            reply = by_model(
                who, answer.reply, found.item, one.observations, after_rules, policy,
                model=rounds.model.key, input_hash=input_hash(found.item),
            )  # fmt: skip
    new = [*stated.entries, *(reply.entries if reply else ())]
    held, surplus = _folded(one.held, new, policy)
    before = {each.entry.id: each for each in one.held}
    discarded = defaultdict(int, stated.discarded)
    for reason, number in (reply.discarded if reply else {}).items():
        discarded[reason] += number
    discarded["no_room"] += len(surplus)
    return SubjectProfile(
        subject_id=subject,
        observations=one.observations,
        asked=reply is not None,
        changed=[each for each in held if each.entry.id in before and before[each.entry.id] != each],
        added=[each for each in held if each.entry.id not in before],
        wrong=one.wrong,
        narrative=reply.narrative if reply and reply.narrative != one.narrative else "",
        told_until=max(one.told_until or one.observations[-1].at, one.observations[-1].at),
        # a late observation is worked in at its own time, but a narrative never replaces one from after it
        made_at=max(one.made_at or rounds.params["as_of"], rounds.params["as_of"]),
        facts=reply.facts if reply else (),
        discarded=discarded,
    )


def _folded(held: Iterable[Held], new: Iterable[Entry], policy: Policy) -> tuple[list[Held], set[UUID]]:
    known = [each.entry for each in held]
    ids = {entry.id for entry in known}
    return fold([*known, *(one for one in new if one.id not in ids)], most=policy.profile.entries, known=ids)


def _active(held: Iterable[Held]) -> list[Entry]:
    return [each.entry for each in held if each.state == "active"]
