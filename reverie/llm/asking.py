"""Asks a language model about each input once, at a shared rate and within the credit; leaves out invalid replies.

No connection is held while the model works. A reply is kept in the transaction that settles its request, by tenant,
model, prompt and input: a retry or a rebuild gets it from there, without network or cost. It is not kept if something
of the tenant was erased since its input was read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextvars import copy_context
from dataclasses import dataclass
from typing import TypeVar

from reverie.inference.completions import LanguageModel
from reverie.inference.prompts import Prompt
from reverie.inference.replies import Reply
from reverie.llm.answers import REFUSED, UNASKED, ModelAnswer, ReplyCheck, require_some_reply
from reverie.llm.inputs import PromptInput, batches, input_hash
from reverie.llm.metering import Payer, limited_subjects
from reverie.llm.requests import RequestSender
from reverie.store.database import Store
from reverie.store.runs import Report, Run

R = TypeVar("R", bound=Reply)

#: Seconds between two calls of `pulse` while waiting for replies.
_PULSE_S = 30.0


def _no_pulse() -> None:
    """Do nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelCaller:
    """The caller of a model: whose credit pays, and where the calls are counted."""

    store: Store
    payer: Payer
    #: Counts calls, tokens and price, and the answers as `asked`, `kept`, `repaired`, `asked_again` and
    #: `failed_<reason>`; None: nothing is counted.
    report: Report | None = None
    #: Called in the caller's thread with each reply, and regularly while waiting for one.
    pulse: Callable[[], None] = _no_pulse
    #: The time after which nothing more is sent, by `time.monotonic`.
    until: float | None = None
    #: The tenant's last erasure before the inputs were read: no reply is kept after a later one. None: that of now.
    erasures: int | None = None

    @classmethod
    def of_run(cls, attempt: Run) -> ModelCaller:
        """Return the caller for a stage run."""
        work, report = attempt.work, attempt.report
        payer = Payer(tenant_id=work.tenant_id, stage=report.stage, run_id=attempt.id)
        return cls(
            store=work.ledger_of_calls, payer=payer, report=report, pulse=attempt.pulse, erasures=attempt.erasures
        )


def ask(
    caller: ModelCaller,
    model: LanguageModel,
    prompt: Prompt[R],
    inputs: Sequence[PromptInput],
    *,
    check: ReplyCheck[R] | None = None,
    sending: bool = True,
    require_some: bool = True,
) -> list[ModelAnswer[R]]:
    """Return an answer for each input, in order; the model is asked again after an invalid reply.

    Without `sending`, an input that has no kept reply is `UNASKED`. If only the credit runs out, the reason of each
    input says so.

    Raises:
        UnansweredError: if the model answered no request. With `require_some=False`, for callers that can go on without
            replies, neither this nor the next error is raised.
        InferenceError: if every reply of many was garbled.
    """
    hashes = [input_hash(each) for each in inputs]
    sender = RequestSender(caller.store, caller.payer, model, prompt, check=check, until=caller.until)
    kept = sender.kept(hashes, since=caller.erasures)
    open_places = [place for place, hash_ in enumerate(hashes) if hash_ not in kept]
    firsts = list({hashes[place]: place for place in reversed(open_places)}.values())[::-1]  # each input once
    by_hash: dict[bytes, ModelAnswer[R]] = {hash_: ModelAnswer(reply=reply, kept=True) for hash_, reply in kept.items()}
    groups = _groups(caller, model, firsts, inputs) if sending else []
    if not sending:
        by_hash |= {hashes[place]: ModelAnswer(reason=UNASKED) for place in firsts}
    pool = ThreadPoolExecutor(max(model.limits.concurrency, 1))
    try:
        requests = [{hashes[place]: inputs[place] for place in group} for group in groups]
        # each in a copy of this thread's context, so that its span is under that of the stage
        for future in [pool.submit(copy_context().run, sender.ask, request) for request in requests]:
            while not wait([future], _PULSE_S).done:
                caller.pulse()
            by_hash |= future.result()
            caller.pulse()
    finally:
        pool.shutdown(cancel_futures=True)
    by_hash |= {hash_: ModelAnswer(reason=REFUSED) for hash_ in sender.refused()}
    answers = [by_hash[hash_] for hash_ in hashes]
    if caller.report is not None:
        sender.count(caller.report, answers)
    if require_some:
        require_some_reply(model, Counter(by_hash[hashes[place]].reason for place in firsts))
    return answers


def _groups(
    caller: ModelCaller, model: LanguageModel, places: Sequence[int], inputs: Sequence[PromptInput]
) -> list[list[int]]:
    """Return the places of the inputs of each request."""
    if not places:
        return []
    with caller.store.transaction(caller.payer.tenant_id) as conn:
        limited = limited_subjects(conn, caller.payer.tenant_id)
    return batches(places, inputs, most=model.limits.per_request, limited=limited)
