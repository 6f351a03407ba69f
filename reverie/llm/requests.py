"""Requests: one prompt with one or several inputs is sent, checked, settled and kept.

wait for a slot and book -> send -> read and check -> settle and keep   (-> ask again, once)
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Generic, TypeVar

from tenacity import RetryCallState, Retrying, retry_if_exception, stop_after_attempt, wait_exponential_jitter

from reverie.errors import InferenceError
from reverie.inference.completions import CallError, Completion, LanguageModel
from reverie.inference.prompts import Messages, Prompt, messages
from reverie.inference.replies import HINTS, Replies, Reply, read_replies
from reverie.llm.answers import REFUSED, UNASKED, UNEXPLAINED, UNFIT, InvalidReply, ModelAnswer, ReplyCheck
from reverie.llm.inputs import PromptInput
from reverie.llm.metering import CallOutcome, MeteredCall, Payer, reserve, settle
from reverie.llm.pacing import LONGEST_PAUSE_S, hold_back, wait_for_slot
from reverie.llm.reply_cache import ReplyCache
from reverie.store.database import Store
from reverie.store.locks import count_erasures, is_unerased
from reverie.store.runs import Report
from reverie.telemetry import names
from reverie.telemetry.spans import measure_tokens, model_span

R = TypeVar("R", bound=Reply)


class RequestSender(Generic[R]):
    """Sends the requests of one prompt for one payer; its methods run in several threads."""

    def __init__(
        self,
        store: Store,
        payer: Payer,
        model: LanguageModel,
        prompt: Prompt[R],
        *,
        check: ReplyCheck[R] | None = None,
        until: float | None = None,
    ) -> None:
        """Set up a sender; `until`: the time after which nothing more is sent, by `time.monotonic`."""
        self._store, self._payer, self._model, self._prompt = store, payer, model, prompt
        self._check, self._until = check, until
        self._cache = ReplyCache(payer.tenant_id, model.key, prompt)
        self._backoff = wait_exponential_jitter(
            multiplier=model.limits.backoff_s, jitter=model.limits.backoff_s, max=LONGEST_PAUSE_S
        )
        self._erasures = -1
        self._completions: list[Completion] = []
        self._repaired: list[int] = []
        self._asked_again: list[int] = []
        #: When each unexplained rejection came, by input, and when requests that were answered had been sent.
        self._rejected_at: dict[bytes, float] = {}
        self._sent_at: list[float] = []
        #: How many inputs were rejected by themselves.
        self._rejected_alone = 0

    def kept(self, hashes: Sequence[bytes], *, since: int | None = None) -> dict[bytes, R]:
        """Return the replies to earlier requests; call it before `ask`, which keeps no reply after a later erasure.

        `since`: the tenant's last erasure before the inputs were read; None: that of now.
        """
        with self._store.transaction(self._payer.tenant_id) as conn:
            self._erasures = count_erasures(conn, self._payer.tenant_id) if since is None else since
            return self._cache.read(conn, hashes)

    def ask(self, inputs: Mapping[bytes, PromptInput]) -> dict[bytes, ModelAnswer[R]]:
        """Ask about some inputs in one request, and again about those whose replies are invalid, if that is allowed.

        If the request is refused, or rejected for no known reason, ask about each input by itself, since the text of
        one may be the cause.
        """
        answers: dict[bytes, ModelAnswer[R]] = {}
        open_inputs, hint = dict(inputs), None
        for _ in range(1 + self._model.limits.repeats):
            if hint is not None:
                self._asked_again.append(len(open_inputs))
            new, hints = self._ask_once(open_inputs, hint)
            answers |= new
            if len(new) > 1 and self._may_be_a_text({answer.reason for answer in new.values()}):
                return answers | self._ask_each(open_inputs)
            open_inputs = {hash_: asked for hash_, asked in open_inputs.items() if hash_ in hints}
            if not open_inputs:
                break
            hint = "; ".join(sorted(set(hints.values())))
        return answers

    def _may_be_a_text(self, reasons: set[str | None]) -> bool:
        """Return whether one text may be why a request failed; not if many are rejected alone and none is answered."""
        if reasons == {REFUSED}:
            return True
        return reasons == {UNEXPLAINED} and (bool(self._sent_at) or self._rejected_alone < UNFIT)

    def _ask_each(self, inputs: Mapping[bytes, PromptInput]) -> dict[bytes, ModelAnswer[R]]:
        return {hash_: self.ask({hash_: asked})[hash_] for hash_, asked in inputs.items()}

    def refused(self) -> list[bytes]:
        """Return the inputs that were rejected for no known reason before a request was sent that was answered.

        The provider takes requests of this account, so the texts of these are the cause.
        """
        last = max(self._sent_at, default=0.0)
        return [hash_ for hash_, at in self._rejected_at.items() if at < last]

    def count(self, report: Report, answers: Sequence[ModelAnswer[R]]) -> None:
        """Add the calls and answers to a report."""
        answers = [answer for answer in answers if answer.reason != UNASKED]
        report.model_calls += len(self._completions)
        report.tokens += sum(each.tokens_in + each.tokens_out for each in self._completions)
        report.cost_usd += sum(each.cost_usd or 0.0 for each in self._completions)
        report.add("asked", len(answers))
        report.add("kept", sum(answer.kept for answer in answers))
        report.add("repaired", sum(self._repaired))
        report.add("asked_again", sum(self._asked_again))
        for reason, number in Counter(answer.reason for answer in answers if answer.reason).items():
            report.add(f"failed_{reason}", number)

    def _ask_once(
        self, inputs: Mapping[bytes, PromptInput], hint: str | None
    ) -> tuple[dict[bytes, ModelAnswer[R]], dict[bytes, str]]:
        """Return the answers, and by input the fault of a reply that may be asked for again."""
        request = messages(self._prompt, [asked.content for asked in inputs.values()], hint=hint)
        began = time.monotonic()
        try:
            call, completion = self._send(request, self._payer_for(inputs), len(inputs))
        except CallError as error:
            if error.reason == UNEXPLAINED:
                self._rejected_at |= dict.fromkeys(inputs, time.monotonic())
                self._rejected_alone += len(inputs) == 1
            else:  # of one that was rejected with others and now failed by itself
                for hash_ in inputs:
                    self._rejected_at.pop(hash_, None)
            return {hash_: ModelAnswer(reason=error.reason) for hash_ in inputs}, {}
        replies = read_replies(completion.text, self._prompt.reply, number=len(inputs), truncated=completion.truncated)
        self._completions.append(completion)
        self._sent_at.append(began)
        for hash_ in inputs:  # of one that was rejected with others
            self._rejected_at.pop(hash_, None)
        valid, invalid = self._checked(inputs, replies)
        self._repaired.append(len(valid) if replies.repairs else 0)
        outcome = CallOutcome(
            cost_usd=completion.cost_usd or 0.0,
            tokens_in=completion.tokens_in,
            tokens_out=completion.tokens_out,
            seconds=completion.seconds,
            failed=not valid,
            reason=",".join(sorted({fault.reason for fault in invalid.values()})) or None,
            repairs=list(replies.repairs),
        )
        with self._store.transaction(self._payer.tenant_id) as conn:
            # a reply quotes what was asked: after an erasure it is used, but not kept. Looked up before settling, since
            # an erasure locks those rows too
            unerased = is_unerased(conn, self._payer.tenant_id, self._erasures)
            settle(conn, call, outcome)
            kept = self._cache.keep(conn, call.id, inputs, valid) if unerased else valid
        answers: dict[bytes, ModelAnswer[R]] = {
            hash_: ModelAnswer(reason=fault.reason) for hash_, fault in invalid.items()
        }
        answers |= {hash_: ModelAnswer(reply=reply) for hash_, reply in kept.items()}
        return answers, {hash_: fault.hint for hash_, fault in invalid.items()}

    def _checked(
        self, inputs: Mapping[bytes, PromptInput], replies: Replies[R]
    ) -> tuple[dict[bytes, R], dict[bytes, InvalidReply]]:
        """Return the valid replies and the faults of the others, by input."""
        valid: dict[bytes, R] = {}
        invalid: dict[bytes, InvalidReply] = {}
        for number, (hash_, asked) in enumerate(inputs.items(), start=1):
            reply = replies.good.get(number)
            if reply is None:
                fault = replies.wrong[number]
                invalid[hash_] = InvalidReply(reason=fault, hint=HINTS[fault])
            elif self._check and (objection := self._check(asked, reply)) is not None:
                invalid[hash_] = objection
            else:
                valid[hash_] = reply
        return valid, invalid

    def _payer_for(self, inputs: Mapping[bytes, PromptInput]) -> Payer:
        subjects = {asked.subject_id for asked in inputs.values()}
        return replace(self._payer, subject_id=subjects.pop() if len(subjects) == 1 else None)

    def _send(self, request: Messages, payer: Payer, number: int) -> tuple[MeteredCall, Completion]:
        """Send a request until it is answered; each attempt waits for its slot and is booked by itself."""
        retrying = Retrying(
            stop=stop_after_attempt(self._model.limits.attempts),
            wait=self._pause,
            retry=retry_if_exception(lambda error: isinstance(error, CallError) and error.retried),
            reraise=True,
        )
        return retrying(self._attempt, request, payer, number)

    def _attempt(self, request: Messages, payer: Payer, number: int) -> tuple[MeteredCall, Completion]:
        max_tokens = self._prompt.max_tokens * number
        most_usd = self._model.most_usd(request, max_tokens=max_tokens)
        if self._until is not None and time.monotonic() > self._until:
            raise CallError(f"There was no time left to ask the model {self._model.key}.", reason="timeout")
        wait_for_slot(self._store, self._payer.tenant_id, self._model)
        call = MeteredCall(
            payer=payer,
            kind="completion",
            model=self._model.key,
            most_usd=most_usd,
            items=number,
            prompt=self._prompt.name,
            prompt_hash=self._prompt.hash,
            id=payer.new_call_id(),
        )
        with self._store.transaction(self._payer.tenant_id) as conn:
            reserve(conn, call)
        began = time.perf_counter()
        try:
            with model_span("chat", self._model.key) as current:
                completion = self._model.complete(request, schema=self._prompt.schema, max_tokens=max_tokens)
                current.set({names.PROMPT_NAME: self._prompt.name, names.ITEMS: number})
                current.set({names.INPUT_TOKENS: completion.tokens_in, names.OUTPUT_TOKENS: completion.tokens_out})
            measure_tokens(self._model.key, completion.tokens_in, completion.tokens_out)
            return call, completion
        except InferenceError as error:  # any other than a CallError, such as a missing extra, sent nothing
            failed = error if isinstance(error, CallError) else None
            outcome = CallOutcome(
                cost_usd=None if failed and failed.billed else 0.0,
                seconds=time.perf_counter() - began,
                failed=True,
                reason=failed.reason if failed else "unavailable",
            )
            with self._store.transaction(self._payer.tenant_id) as conn:
                settle(conn, call, outcome)
                if failed and failed.after_s:
                    hold_back(conn, self._payer.tenant_id, self._model, failed.after_s)
            raise

    def _pause(self, state: RetryCallState) -> float:
        """Return the seconds to the next attempt: what the provider asks for, else exponential backoff with jitter."""
        error = state.outcome.exception() if state.outcome else None
        asked = error.after_s if isinstance(error, CallError) else None
        return self._backoff(state) if asked is None else min(asked, LONGEST_PAUSE_S)
