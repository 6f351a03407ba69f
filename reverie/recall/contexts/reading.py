"""Reads the material of a context: profile, conversation, tools, moods, and memories that answer the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, get_args
from uuid import UUID

from reverie.inference import Embedder
from reverie.inference.reranker import Reranker
from reverie.language.cues.speech import offers_help
from reverie.language.text import CountTokens, attributed
from reverie.policy import Policy
from reverie.policy.live import MoodName
from reverie.recall.contexts.earlier import earlier_statements, with_earlier
from reverie.recall.contexts.material import Chosen, Material, one_line_each
from reverie.recall.contexts.person import UNKNOWN, person_statement, read_person
from reverie.recall.contexts.request import Given
from reverie.recall.contexts.scope import (
    admitted_profile,
    connection_statements,
    scope_notes,
    with_doubts,
    with_tools,
    without_withheld,
)
from reverie.recall.filters import Filters, read_admitted
from reverie.recall.places.sensitive import may_be_told
from reverie.recall.profile import Profile, profile_statements, read_profile
from reverie.recall.query import RecallQuery
from reverie.recall.question import read_question
from reverie.recall.recall import recall, withheld_note
from reverie.recall.relationship import STAGES, Relationship
from reverie.recall.result import RecallResult, in_doubt
from reverie.recall.staged import staged_recall
from reverie.recall.subject_cache import KnownSubject, Rows, SubjectCache, subject_statement
from reverie.store.queries import queries
from reverie.store.session import Statement, TenantSession
from reverie.store.session.piggyback import Piggyback

#: An id that no subject can have.
_NOBODY = ""
#: Important memories read for each one given, since some say the same, and the profile has told some.
_READ_FOR_EACH = 4
#: Forms with advice on tone.
_OF_PERSONS = ("contact", "reverie")


@dataclass(frozen=True, kw_only=True, slots=True)
class ContextReader:
    """Reads the material of a context for a query."""

    session: TenantSession
    query: RecallQuery
    policy: Policy
    embedder: Embedder | None
    reranker: Reranker | None
    subject_cache: SubjectCache | None

    async def read(self, given: Given, count: CountTokens) -> Material:
        """Return the material of the context; for a withheld subject, only the caller's own data."""
        query, policy, tenant_id = self.query, self.policy, self.session.tenant_id
        subject_id, as_of, filters = query.subject_id, query.as_of, query.filters or Filters()
        admitted = await read_admitted(self.session, subject_id, filters)
        of_connections = connection_statements(filters, tenant_id, subject_id)
        of_session = earlier_statements(given, tenant_id, subject_id, policy, as_of)
        of_profile = profile_statements(tenant_id, subject_id, policy, as_of)
        of_person = (person_statement(tenant_id, subject_id, policy, as_of),) * (policy.context.form in _OF_PERSONS)
        statements = (*of_connections, *of_session.values(), *of_profile, *of_person)
        recalled, subject, rows = await self._read_rows(statements, given)
        if KnownSubject(rows=subject).is_withheld:
            return await self._of_caller(given, count)
        given, tool_notes = with_tools(given, rows.pop(0) if of_connections else (), as_of)
        person = read_person(rows.pop(), as_of) if of_person else UNKNOWN
        profile = read_profile(tuple(rows[len(of_session) :]), subject_id, policy, as_of)
        known = admitted_profile(profile, given, filters, admitted)
        known = with_doubts(known, self._may_tell)
        if query.text and self._is_message(subject):
            known = without_withheld(known, self._may_tell_each)
        of_conversation = dict(zip(of_session, rows, strict=False))
        given, told = await with_earlier(self.session, given, of_conversation, subject_id, policy)
        budget, top_k = _limits(policy, known.relationship, given)
        material = Material(
            subject_id=subject_id,
            question=query.text,
            given=_with_moods(given, known, self.policy, query),
            policy=policy,
            profile=known,
            person=person,
            memories=(),
            staged=None,
            recalled=recalled,
            memory_budget=budget,
            top_k=top_k,
            count=count,
            told=told,
            notes=(*scope_notes(profile, given, filters), *tool_notes),
        )
        return await self._with_memories(material, subject, admitted)

    async def _of_caller(self, given: Given, count: CountTokens) -> Material:
        """Read the material of a subject that does not exist, which leaves the caller's own data."""
        subject_id = self.query.subject_id
        nobody = replace(self, query=replace(self.query, subject_id=_NOBODY), subject_cache=None)
        material = await nobody.read(given, count)
        return replace(
            material, subject_id=subject_id, recalled=None, notes=(withheld_note(subject_id), *material.notes)
        )

    async def _read_rows(
        self, statements: tuple[Statement[Any], ...], given: Given
    ) -> tuple[RecallResult | None, Rows, list[list[Any]]]:
        """Read the subject and the statements; if the subject is cached, find memories in the same round trip."""
        query, session, cache = self.query, self.session, self.subject_cache
        statements = (subject_statement(session.tenant_id, query.subject_id), *statements)
        cached = cache.cached(session.tenant_id, query.subject_id, self.embedder) if cache else None
        recalled: RecallResult | None = None
        # in these two forms the memories depend on the profile, or are found in another way
        is_plain = given.mode == "active" and self.policy.context.form not in ("chat", "contact")
        if cached and query.text and is_plain:
            piggyback = Piggyback(session, statements)
            recalled = await self._recall(piggyback, cached, self.policy.recall.top_k, self.policy.context.memories)
            subject, *rows = await piggyback.rows()
            recalled = recalled if subject == cached else None
        else:
            subject, *rows = await session.run_all(*statements)
        if cache:
            cache.put(session.tenant_id, query.subject_id, subject)
        return recalled, subject, rows

    async def _recall(self, session: TenantSession, subject: Rows, top_k: int, token_budget: int) -> RecallResult:
        return await recall(
            session,
            replace(self.query, top_k=top_k, token_budget=token_budget),
            policy=self.policy,
            embedder=self.embedder,
            reranker=self.reranker,
            known=KnownSubject(rows=subject),
        )

    async def _with_memories(self, material: Material, subject: Rows, admitted: Sequence[UUID] | None) -> Material:
        """Add the memories: found for the question, or by stages, or without a question the most important ones."""
        session, query, top_k = self.session, self.query, material.top_k
        if self.policy.context.form == "chat" and material.given.mode == "active":
            staged = await staged_recall(
                session,
                query,
                policy=self.policy,
                embedder=self.embedder,
                admitted=admitted,
                known=KnownSubject(rows=subject),
            )
            near = {one.id for one in staged.summaries}
            told = [replace(one, earlier=one.earlier and one.id not in near) for one in material.told]
            return replace(material, staged=staged, told=told)
        if top_k and query.text:
            recalled = material.recalled or await self._recall(session, subject, top_k, material.memory_budget)
            return replace(material, recalled=recalled, memories=one_line_each(_recalled(recalled)))
        if top_k:
            statement = _important_statement(session.tenant_id, query, self.policy, top_k, admitted)
            rows = await session.run(statement)
            important = [self._important(row, tells_more=admitted is None) for row in rows]
            return replace(material, memories=one_line_each(important))
        return material

    def _important(self, row: tuple[Any, ...], *, tells_more: bool) -> Chosen:
        """Return an important memory with the question that it answers and the message that may have ended it.

        Without `tells_more`, only the memory: nothing says whether those messages are admitted.
        """
        id_, kind, content, at, importance, doubted_at, doubt, question, speaker, role = row
        if tells_more and doubt and self._may_tell(doubt):
            content = in_doubt(content, doubted_at, doubt)
        is_answer = bool(tells_more and question and not offers_help(question) and self._may_tell(question))
        if is_answer:
            content = f"{attributed(question, speaker, role)} / {content}"
        return Chosen(
            id=id_, kind=kind, content=content, happened_at=at, importance=importance, score=importance,
            is_answer=is_answer,
        )  # fmt: skip

    def _may_tell(self, said: str) -> bool:
        """Return whether a message beside a memory may be told: it is of no class that is not brought up."""
        return all(self._may_tell_each([said]))

    def _may_tell_each(self, texts: Sequence[str]) -> list[bool]:
        return may_be_told(self.query.text, [(text, 0.0) for text in texts], self.policy.sensitivity)

    def _is_message(self, subject: Rows) -> bool:
        """Return whether the text is a message; a question or a request gets everything."""
        speakers = KnownSubject(rows=subject).speakers
        numbers, as_of = self.policy.recall, self.query.as_of
        return read_question(self.query.text, policy=numbers, speakers=speakers, asked_at=as_of).kind == "message"


def _with_moods(given: Given, known: Profile, policy: Policy, query: RecallQuery) -> Given:
    """Add moods of the log: the usual one, and the latest one while it is recent enough for a session.

    A mood that was recorded under another policy and is unknown to this one is neutral here.
    """
    given = replace(given, mood=_of_policy(given.mood, policy), usual_mood=_of_policy(given.usual_mood, policy))
    if known.moods is None:
        return given
    fresh = query.as_of - known.moods.said_at <= timedelta(hours=policy.working_memory.ttl_hours)
    if given.mood is None and fresh:
        given = replace(given, mood=_of_policy(known.moods.mood, policy), energy=known.moods.energy)
    return replace(
        given,
        usual_mood=given.usual_mood or _of_policy(known.moods.usual_mood, policy),
        usual_energy=given.usual_energy or known.moods.usual_energy,
    )


def _of_policy(mood: str | None, policy: Policy) -> str | None:
    return "neutral" if mood in get_args(MoodName) and mood not in policy.mood.moods else mood


def _limits(policy: Policy, known: Relationship, given: Given) -> tuple[int, int]:
    """Return the most tokens and memories: by the relationship's stage in Contact's form (5.1 to 5.4)."""
    if given.mode != "active":
        return policy.context.memories, 0
    if policy.context.form != "contact":
        return policy.context.memories, policy.recall.top_k
    place = STAGES.index(known.stage)
    return min(policy.relationship.tokens[place], policy.context.memories), policy.relationship.memories[place]


def _recalled(found: RecallResult) -> list[Chosen]:
    return [
        Chosen(
            id=hit.id, kind=hit.kind, content=hit.told, happened_at=hit.happened_at, importance=hit.importance,
            score=hit.score,
        )
        for hit in found.hits
    ]  # fmt: skip


def _important_statement(
    tenant_id: str, query: RecallQuery, policy: Policy, top_k: int, among: Sequence[UUID] | None
) -> Statement[Any]:
    params = {
        "among": among,
        "tenant": tenant_id,
        "subject": query.subject_id,
        "as_of": query.as_of,
        "kinds": list(policy.decay.rates),
        "rates": list(policy.decay.rates.values()),
        "grace_days": policy.decay.grace_days,
        "min_importance": policy.recall.min_importance,
        "longest_reply": policy.recall.longest_reply,
        "limit": _READ_FOR_EACH * top_k,
    }
    return Statement(queries("context")["important"], params)
