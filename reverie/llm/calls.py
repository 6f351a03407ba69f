"""Asking a language model: each question once, at a shared pace, within the credit, and nothing garbled comes back.

    kept reply? -> take a turn and book -> send -> read and check -> settle and keep   (-> ask again, once)

No connection is held while the model works. A reply is kept in the transaction that settles its request, by tenant,
model, prompt and input: a retry or a rebuild is answered from there and needs neither network nor money.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Generic, TypeVar
from uuid import UUID

import orjson
from psycopg import Connection
from pydantic import ValidationError
from tenacity import RetryCallState, Retrying, retry_if_exception, stop_after_attempt, wait_exponential_jitter

from reverie.errors import InferenceError, UnansweredError
from reverie.inference.completions import CallError, Completion, LanguageModel
from reverie.inference.prompts import Messages, Prompt, messages
from reverie.inference.replies import HINTS, Replies, Reply, read_replies
from reverie.llm.metering import Payer, reserve, settle
from reverie.store.database import Store
from reverie.store.queries import queries
from reverie.store.runs import Report

R = TypeVar("R", bound=Reply)

#: A provider may ask for more; then the request has failed and its stage's own retry comes later.
LONGEST_WAIT_S = 60.0
#: Bytes of data that a request for several items may hold, so that a batch fits where one long item does.
_LONGEST_BATCH = 48_000
#: So many garbled replies and no good one: the model is not fit for the prompt.
UNFIT = 5
#: Reasons for which a request brought no reply at all.
NO_REPLY = frozenset({"timeout", "rate", "unavailable", "broken", "rejected"})
#: Seconds between two signs of life while replies are waited for.
_PULSE_S = 30.0
#: Reason of what was not kept and not to be asked.
UNASKED = "unasked"


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """One thing to ask about."""

    subject_id: str
    #: What the model is shown, as JSON; what people wrote stands in it as strings.
    content: Mapping[str, Any]
    #: Turns, memories or events that stand in it.
    source_ids: Sequence[UUID]


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer(Generic[R]):
    """What came of one item."""

    #: None: see `reason`.
    reply: R | None = None
    #: Why there is no reply, as a code.
    reason: str | None = None
    #: Whether it was answered before, at no cost.
    kept: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Objection:
    """Why a reply that fits its schema is not to be believed."""

    #: A code, for counting.
    reason: str
    #: What the model is told when it is asked again; may quote its own words, and is kept nowhere.
    hint: str


#: Looks at a reply beside what it was made from.
Check = Callable[[Item, R], Objection | None]


def ask(
    store: Store,
    model: LanguageModel,
    prompt: Prompt[R],
    items: Sequence[Item],
    *,
    payer: Payer,
    check: Check[R] | None = None,
    report: Report | None = None,
    until: float | None = None,
    sending: bool = True,
    require_some: bool = True,
    pulse: Callable[[], None] | None = None,
) -> list[Answer[R]]:
    """Return an answer for each item, in order; a reply that cannot be used is asked for again once.

    Nothing is sent after `until`, by `time.monotonic`.

    To `report` go calls, tokens and price, and the counts `asked`, `kept`, `repaired`, `asked_again` and
    `failed_<reason>`. Without `sending`, what is not kept is `UNASKED`. Where only the credit ends, each item says so
    in its reason. `pulse` is called, in this thread, with each reply and now and then while one is waited for.

    Raises:
        UnansweredError: the model did not answer one request. Neither this nor the next with `require_some=False`, for
            callers who can go on without.
        InferenceError: it garbled every reply of many.
    """
    hashes = [input_hash(item) for item in items]
    desk = _Desk(store, model, prompt, payer, check, until)
    kept = desk.look_up(hashes)
    open_ = [place for place, hash_ in enumerate(hashes) if hash_ not in kept]
    firsts = list({hashes[place]: place for place in reversed(open_)}.values())[::-1]  # each input once
    groups = _groups(firsts, items, most=model.limits.per_request)

    def work(group: list[int]) -> dict[bytes, Answer[R]]:
        return desk.ask_group({hashes[place]: items[place] for place in group})

    beat = pulse or (lambda: None)
    found: dict[bytes, Answer[R]] = {hash_: Answer(reply=reply, kept=True) for hash_, reply in kept.items()}
    if not sending:
        found |= {hashes[place]: Answer(reason=UNASKED) for place in firsts}
        groups = []
    pool = ThreadPoolExecutor(max(model.limits.concurrency, 1))
    try:
        for coming in [pool.submit(work, group) for group in groups]:
            while not wait([coming], _PULSE_S).done:
                beat()
            found |= coming.result()
            beat()
    finally:
        pool.shutdown(cancel_futures=True)
    answers = [found[hash_] for hash_ in hashes]
    if report is not None:
        desk.tell(report, answers)
    if require_some:
        _require_some(model, Counter(found[hashes[place]].reason for place in firsts))
    return answers


def forget_replies(store: Store, *, tenant_id: str, subject_id: str, source_id: UUID | None = None) -> int:
    """Delete the kept replies about a subject, or those that one turn, memory or event was shown for; return how many.

    What was made of them stays in memory; whoever asks again pays again.
    """
    params = {"tenant": tenant_id, "subject": subject_id, "source_id": source_id}
    with store.transaction(tenant_id) as conn:
        return conn.execute(queries("calls")["forget_replies"], params).rowcount


def _groups(places: Sequence[int], items: Sequence[Item], *, most: int) -> list[list[int]]:
    """The places of items that go into one request, in order; what is kept does not depend on it."""
    groups: list[list[int]] = []
    left = 0
    for place in places:
        length = len(orjson.dumps(items[place].content))
        if not groups or len(groups[-1]) >= most or length > left:
            groups.append([])
            left = _LONGEST_BATCH
        groups[-1].append(place)
        left -= length
    return groups


def input_hash(item: Item) -> bytes:
    """Return the sha256 of an item's subject and content, whatever the order of keys.

    Two subjects who say the same have two replies, so that one can be erased without the other.
    """
    return hashlib.sha256(orjson.dumps([item.subject_id, item.content], option=orjson.OPT_SORT_KEYS)).digest()


def unanswered(model: LanguageModel, reasons: Counter[str | None]) -> UnansweredError | None:
    """Return the error that says that nobody answered; None: somebody did, or nothing was asked.

    `reasons`: of all items that were asked about and not kept, by number; None of one that got a reply.
    """
    if not reasons.total() or not reasons.keys() <= NO_REPLY:
        return None
    return UnansweredError(f"The model {model.key} gave no reply about any of {_told(reasons)}.")


def _require_some(model: LanguageModel, reasons: Counter[str | None]) -> None:
    if (away := unanswered(model, reasons)) is not None:
        raise away
    if reasons.keys() <= HINTS.keys() and reasons.total() >= UNFIT:
        raise InferenceError(f"The model {model.key} gave no usable reply to any of {_told(reasons)}.")


def _told(reasons: Counter[str | None]) -> str:
    each = ", ".join(f"{reason} {number:,}" for reason, number in sorted(reasons.items(), key=str))
    return f"{reasons.total():,} items: {each}"


class _Desk(Generic[R]):
    """One prompt's questions of one stage run; its methods run in several threads."""

    def __init__(
        self,
        store: Store,
        model: LanguageModel,
        prompt: Prompt[R],
        payer: Payer,
        check: Check[R] | None,
        until: float | None = None,
    ) -> None:
        self._store, self._model, self._prompt, self._payer, self._check = store, model, prompt, payer, check
        self._until = until
        self._key = {"tenant": payer.tenant_id, "model": model.key, "prompt_hash": prompt.hash}
        self._wait = wait_exponential_jitter(
            multiplier=model.limits.backoff_s, jitter=model.limits.backoff_s, max=LONGEST_WAIT_S
        )
        self._sent: list[Completion] = []
        self._repaired: list[int] = []
        self._again: list[int] = []

    def look_up(self, hashes: Sequence[bytes]) -> dict[bytes, R]:
        """The replies that are kept; one that no longer fits its model is asked for anew."""
        with self._store.transaction(self._payer.tenant_id) as conn:
            return self._read(conn, hashes)

    def ask_group(self, items: Mapping[bytes, Item]) -> dict[bytes, Answer[R]]:
        """Ask about some items in one request, and once more about those that it did not settle, if that may be."""
        answers: dict[bytes, Answer[R]] = {}
        left, hint = dict(items), None
        for _ in range(1 + self._model.limits.repeats):
            if hint is not None:
                self._again.append(len(left))
            told, hints = self._ask_once(left, hint)
            answers |= told
            left = {hash_: item for hash_, item in left.items() if hash_ in hints}
            if not left:
                break
            hint = "; ".join(sorted(set(hints.values())))
        return answers

    def tell(self, report: Report, answers: Sequence[Answer[R]]) -> None:
        """Add up what was done."""
        answers = [answer for answer in answers if answer.reason != UNASKED]
        report.model_calls += len(self._sent)
        report.tokens += sum(each.tokens_in + each.tokens_out for each in self._sent)
        report.cost_usd += sum(each.cost_usd or 0.0 for each in self._sent)
        report.add("asked", len(answers))
        report.add("kept", sum(answer.kept for answer in answers))
        report.add("repaired", sum(self._repaired))
        report.add("asked_again", sum(self._again))
        for reason, number in Counter(answer.reason for answer in answers if answer.reason).items():
            report.add(f"failed_{reason}", number)

    def _ask_once(
        self, items: Mapping[bytes, Item], hint: str | None
    ) -> tuple[dict[bytes, Answer[R]], dict[bytes, str]]:
        """The answers, and for those that may be asked for again what was wrong."""
        asked = messages(self._prompt, [item.content for item in items.values()], hint=hint)
        try:
            call_id, completion = self._send(asked, len(items))
        except CallError as error:
            return {hash_: Answer(reason=error.reason) for hash_ in items}, {}
        replies = read_replies(completion.text, self._prompt.reply, number=len(items), truncated=completion.truncated)
        return self._keep(call_id, completion, items, replies)

    def _keep(
        self, call_id: UUID, completion: Completion, items: Mapping[bytes, Item], replies: Replies[R]
    ) -> tuple[dict[bytes, Answer[R]], dict[bytes, str]]:
        """Settle the request and keep its good replies, in one transaction."""
        answers: dict[bytes, Answer[R]] = {}
        hints: dict[bytes, str] = {}
        good: dict[bytes, R] = {}
        for number, (hash_, item) in enumerate(items.items(), start=1):
            reply = replies.good.get(number)
            objection = self._check(item, reply) if reply is not None and self._check else None
            if reply is not None and objection is None:
                good[hash_] = reply
                continue
            fault = objection.reason if objection else replies.wrong[number]
            hints[hash_] = objection.hint if objection else HINTS[fault]
            answers[hash_] = Answer(reason=fault)
        reasons = sorted({answer.reason for answer in answers.values() if answer.reason})
        self._sent.append(completion)
        self._repaired.append(len(good) if replies.repairs else 0)
        with self._store.transaction(self._payer.tenant_id) as conn:
            settle(
                conn,
                self._payer,
                call_id,
                cost_usd=completion.cost_usd or 0.0,
                tokens_in=completion.tokens_in,
                tokens_out=completion.tokens_out,
                seconds=completion.seconds,
                failed=not good,
                reason=",".join(reasons) or None,
                repairs=list(replies.repairs),
            )
            kept = {
                "input_hashes": list(good),
                "subject_ids": [items[hash_].subject_id for hash_ in good],
                "source_ids": [",".join(map(str, items[hash_].source_ids)) for hash_ in good],
                "replies": [reply.model_dump_json() for reply in good.values()],
                "call_id": call_id,
            }
            conn.execute(queries("calls")["keep_replies"], self._key | kept)
            # another process may have been faster, and then its reply is the one that counts
            standing = self._read(conn, list(good))
        answers |= {hash_: Answer(reply=standing.get(hash_, reply)) for hash_, reply in good.items()}
        return answers, hints

    def _read(self, conn: Connection[Any], hashes: Sequence[bytes]) -> dict[bytes, R]:
        rows = conn.execute(queries("calls")["read_replies"], self._key | {"input_hashes": list(hashes)})
        found: dict[bytes, R] = {}
        for hash_, reply in rows:
            with suppress(ValidationError):  # it quotes the reply
                found[hash_] = self._prompt.reply.model_validate(reply)
        return found

    def _send(self, asked: Messages, number: int) -> tuple[UUID, Completion]:
        """Send a request until it is answered; each attempt waits for its turn and is booked by itself."""
        retrying = Retrying(
            stop=stop_after_attempt(self._model.limits.attempts),
            wait=self._pause,
            retry=retry_if_exception(lambda error: isinstance(error, CallError) and error.retried),
            reraise=True,
        )
        return retrying(self._attempt, asked, number)

    def _attempt(self, asked: Messages, number: int) -> tuple[UUID, Completion]:
        longest = self._prompt.max_tokens * number
        most_usd = self._model.most_usd(asked, max_tokens=longest)
        if self._until is not None and time.monotonic() > self._until:
            raise CallError(f"There was no time left to ask the model {self._model.key}.", reason="timeout")
        self._take_turn()
        with self._store.transaction(self._payer.tenant_id) as conn:
            call_id = reserve(
                conn,
                self._payer,
                kind="completion",
                model=self._model.key,
                most_usd=most_usd,
                items=number,
                prompt=self._prompt.name,
                prompt_hash=self._prompt.hash,
            )
        began = time.perf_counter()
        try:
            return call_id, self._model.complete(asked, schema=self._prompt.schema, max_tokens=longest)
        except CallError as error:
            with self._store.transaction(self._payer.tenant_id) as conn:
                settle(
                    conn,
                    self._payer,
                    call_id,
                    cost_usd=None if error.billed else 0.0,
                    seconds=time.perf_counter() - began,
                    failed=True,
                    reason=error.reason,
                )
                if error.after_s:
                    pause = timedelta(seconds=min(error.after_s, LONGEST_WAIT_S))
                    conn.execute(queries("calls")["hold_back"], self._key | {"pause": pause})
            raise

    def _take_turn(self) -> None:
        """Wait until this request may be sent; the moment is taken at once, the connection is given back before."""
        limits = self._model.limits
        pause = timedelta(seconds=1 / limits.per_second) if limits.per_second else timedelta()
        params = self._key | {"pause": pause, "patience": timedelta(seconds=limits.patience_s)}
        with self._store.transaction(self._payer.tenant_id) as conn:
            turn = conn.execute(queries("calls")["take_turn"], params).fetchone()
        if turn is None:
            raise CallError(
                f"The model {self._model.key} has no turn free within {limits.patience_s:g} s.", reason="rate"
            )
        time.sleep(turn[0])

    def _pause(self, state: RetryCallState) -> float:
        """Seconds: what the provider asks for, else exponential with jitter."""
        error = state.outcome.exception() if state.outcome else None
        asked = error.after_s if isinstance(error, CallError) else None
        return self._wait(state) if asked is None else min(asked, LONGEST_WAIT_S)
