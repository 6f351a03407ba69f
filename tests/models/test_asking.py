"""Asking through litellm against a real server: good replies, and each way in which a request goes wrong."""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import thread as pools
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any
from uuid import UUID

import pytest

from reverie.errors import InferenceError, UnansweredError
from reverie.inference.prompts import Prompt
from reverie.llm.answers import UNFIT, InvalidReply, ModelAnswer, unanswered_error
from reverie.llm.asking import ModelCaller, ask
from reverie.llm.inputs import PromptInput
from reverie.llm.metering import CallOutcome, MeteredCall, Payer, reserve, settle
from reverie.store.database import Store
from reverie.store.runs import Report
from tests.models.conftest import GOOD_USD, PROMPT, Conn, Note, Server, balance, calls, give, inputs

# litellm declares a type of its own in a way that pydantic comments on when it is imported.
pytestmark = pytest.mark.filterwarnings("ignore:Item 'summary' on TypedDict:UserWarning")

Put = Callable[..., list[ModelAnswer[Note]]]
GOOD = json.dumps({"replies": [{"number": 1, "text": "a", "weight": 1.0}]})


@pytest.fixture
def report() -> Report:
    return Report(stage="test", run_id=UUID(int=7), as_of=datetime(2026, 3, 1, tzinfo=UTC))


def texts(answers: list[ModelAnswer[Note]]) -> list[str | None]:
    return [answer.reply.text if answer.reply else answer.reason for answer in answers]


def test_each_item_is_answered_and_booked(put: Put, conn: Conn, report: Report) -> None:
    answers = put(inputs("a", "b", "a"), report=report)
    assert texts(answers) == ["a", "b", "a"]
    assert (report.model_calls, report.tokens, report.cost_usd) == (2, 240, pytest.approx(2 * GOOD_USD))
    assert report.counts == {"asked": 3, "kept": 0, "repaired": 0, "asked_again": 0}
    columns = "state, cost_usd, stage, run_id, kind, model, prompt, items, tokens_in, tokens_out, seconds > 0"
    row = ("done", GOOD_USD, "test", UUID(int=7), "completion", "litellm/openai/ours", "note", 1, 100, 20, True)
    assert calls(conn, columns) == [row, row]
    assert {bytes(hash_) for (hash_,) in calls(conn, "prompt_hash")} == {PROMPT.hash}


def test_several_items_go_in_one_request(put: Put, server: Server, report: Report) -> None:
    assert texts(put(inputs(*"abcde"), per_request=2, report=report)) == list("abcde")
    assert len(server.requests) == 3
    assert report.model_calls == 3


def test_a_batch_is_no_longer_than_one_long_item(put: Put, server: Server) -> None:
    put(inputs("a" * 30_000, "b" * 30_000, "c", "d" * 60_000, "e"), per_request=10, concurrency=1)
    asked = [request["messages"][-1]["content"] for request in server.requests]
    assert [[letter for letter in "abcde" if f'"{letter}' in each] for each in asked] == [
        ["a"],
        ["b", "c"],
        ["d"],
        ["e"],
    ]


def test_what_is_kept_does_not_depend_on_batches(put: Put, server: Server, conn: Conn) -> None:
    together = put(inputs("a", "b", "c"), per_request=3)
    assert [answer.reply for answer in put(inputs("a", "b", "c"), per_request=1)] == [one.reply for one in together]
    assert len(server.requests) == 1 and len(calls(conn)) == 1


def test_nothing_is_asked_or_paid_twice(put: Put, server: Server, conn: Conn, report: Report) -> None:
    first = put(inputs("a", "b"))
    server.script()
    second = put(inputs("b", "a", "c"), report=report)
    assert [answer.reply for answer in second[:2]] == [answer.reply for answer in first[::-1]]
    assert [answer.kept for answer in second] == [True, True, False]
    assert (report.counts["kept"], report.model_calls, len(server.requests)) == (2, 1, 1)
    assert len(calls(conn)) == 3


def test_kept_replies_need_no_network(put: Put, server: Server) -> None:
    first = put(inputs("a", "b"))
    again = put(inputs("a", "b"), base="http://127.0.0.1:9/v1", attempts=1)
    assert [answer.reply for answer in again] == [answer.reply for answer in first]


def test_what_is_kept_is_the_tenants_the_subjects_and_the_prompts(
    put: Put, server: Server, store: Store, load: Any, conn: Conn
) -> None:
    put(inputs("a"))
    server.script()
    assert put(inputs("a"), tenant="other")[0].kept is False
    assert put(inputs("a", subject="bob"))[0].kept is False
    changed = Prompt(name="note", text="Another text.", reply=Note, max_tokens=50)
    caller = ModelCaller(store=store, payer=Payer(tenant_id="acme", stage="test"))
    (answer,) = ask(caller, load(), changed, inputs("a"))
    assert answer.kept is False
    assert len(server.requests) == 3
    rows = conn.execute("select tenant_id, subject_id, source_ids from ops.replies order by 1, 2").fetchall()
    assert rows == [
        ("acme", "ana", [UUID(int=0)]),
        ("acme", "ana", [UUID(int=0)]),
        ("acme", "bob", [UUID(int=0)]),
        ("other", "ana", [UUID(int=0)]),
    ]


@pytest.mark.parametrize(
    ("content", "repair"),
    [
        (f"```json\n{GOOD}\n```", "fence"),
        (f"Here you are: {GOOD} Anything else?", "prose"),
        ('{"replies": [{"number": "1", "text": "a", "weight": "1.0"}]}', "types"),
        (json.dumps({"replies": json.dumps([{"number": 1, "text": "a", "weight": 1.0}])}), "nested"),
    ],
)
def test_what_has_one_reading_is_repaired(
    put: Put, server: Server, conn: Conn, report: Report, content: str, repair: str
) -> None:
    server.script({"content": content})
    assert texts(put(inputs("a"), report=report)) == ["a"]
    assert (len(server.requests), report.counts["repaired"]) == (1, 1)
    assert calls(conn, "state, repairs") == [("done", [repair])]


def test_a_reply_without_a_choice_is_empty_and_paid_for(put: Put, server: Server, conn: Conn) -> None:
    server.script({"choices": []})
    assert texts(put(inputs("a"))) == ["a"]
    assert calls(conn) == [("failed", GOOD_USD, "empty"), ("done", GOOD_USD, None)]


BAD = {
    "empty": {"content": ""},
    "not_json": {"content": "I cannot do that."},
    "truncated": {"content": GOOD[:30], "finish": "length"},
    "wrong_shape": {"content": '{"replies": [{"number": 1, "text": "a", "weight": "heavy"}]}'},
    "missing": {"content": '{"replies": []}'},
    "ambiguous": {"content": f"{GOOD} or {GOOD.replace('1.0', '2.0')}"},
}


@pytest.mark.parametrize("reason", BAD)
def test_what_cannot_be_read_is_asked_again_once(
    put: Put, server: Server, conn: Conn, report: Report, reason: str
) -> None:
    server.script(BAD[reason])
    assert texts(put(inputs("a"), report=report)) == ["a"]
    assert (len(server.requests), report.counts["asked_again"]) == (2, 1)
    assert "could not be used" in server.requests[1]["messages"][0]["content"]
    assert calls(conn) == [("failed", GOOD_USD, reason), ("done", GOOD_USD, None)]


@pytest.mark.parametrize("reason", BAD)
def test_what_stays_unreadable_fails_with_its_reason_and_is_not_kept(
    put: Put, server: Server, conn: Conn, report: Report, reason: str
) -> None:
    server.script(BAD[reason], BAD[reason])
    assert texts(put(inputs("a"), report=report)) == [reason]
    assert report.counts[f"failed_{reason}"] == 1
    assert conn.execute("select count(*) from ops.replies").fetchone() == (0,)
    server.script()
    assert texts(put(inputs("a"))) == ["a"], "the retry asks anew"


def test_only_what_failed_is_asked_again(put: Put, server: Server) -> None:
    replies = [{"number": 1, "text": "a", "weight": 1}, {"number": 2, "text": "b"}]
    server.script({"content": json.dumps({"replies": replies})})
    assert texts(put(inputs("a", "b"), per_request=2)) == ["a", "b"]
    assert '"a"' not in server.requests[1]["messages"][1]["content"]


def test_a_model_that_garbles_everything_is_said_so(put: Put, server: Server) -> None:
    server.script(*[{"content": "no"}] * 10)
    with pytest.raises(InferenceError, match=r"no usable reply to any of 5 items: not_json 5\.$"):
        put(inputs(*"abcde"))


def test_a_reply_that_is_not_believed_is_asked_for_again(put: Put, server: Server, report: Report) -> None:
    def check(asked: PromptInput, reply: Note) -> InvalidReply | None:
        return None if reply.text == asked.content["text"] else InvalidReply(reason="invented", hint="it invents")

    server.script({"content": GOOD.replace('"a"', '"x"')}, {}, *[{"content": GOOD.replace('"a"', '"y"')}] * 2)
    assert texts(put(inputs("a"), check=check)) == ["a"]
    assert server.requests[1]["messages"][0]["content"].endswith("could not be used: it invents.")
    assert texts(put(inputs("b"), check=check, report=report)) == ["invented"]
    assert report.counts["failed_invented"] == 1


def test_a_rate_limit_is_waited_out_as_the_server_asks(put: Put, server: Server, conn: Conn) -> None:
    server.script({"status": 429, "headers": {"Retry-After": "1"}})
    assert texts(put(inputs("a"))) == ["a"]
    first, second = (request["at"] for request in server.requests)
    assert second - first >= 1
    assert calls(conn) == [("failed", 0.0, "rate"), ("done", GOOD_USD, None)]


def test_a_date_to_wait_for_is_understood_and_holds_everybody_back(put: Put, server: Server) -> None:
    until = format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True)
    server.script({"status": 429, "headers": {"Retry-After": until}})
    with pytest.raises(UnansweredError, match="rate 1"):
        put(inputs("a"), attempts=1)
    began = time.time()
    assert texts(put(inputs("b"))) == ["b"]
    assert server.requests[-1]["at"] - began > 0.5


def test_a_failure_that_passes_is_retried(put: Put, server: Server, conn: Conn) -> None:
    server.script({"status": 500}, {"status": 503})
    assert texts(put(inputs("a"))) == ["a"]
    assert calls(conn) == [("failed", 0.0, "unavailable")] * 2 + [("done", GOOD_USD, None)]


@pytest.mark.parametrize(
    ("answer", "limits", "reason", "attempts", "billed"),
    [
        ({"status": 429, "headers": {"Retry-After": "0"}}, {}, "rate", 3, False),
        ({"status": 500}, {}, "unavailable", 3, False),
        ({"status": 401}, {}, "rejected", 1, False),
        ({"hang_s": 1.0}, {"timeout_s": 0.2}, "timeout", 3, True),
        ({"drip_s": 0.05}, {"timeout_s": 0.5}, "timeout", 3, True),
        ({"half": True}, {}, "broken", 3, True),
        ({}, {"base": "http://127.0.0.1:9/v1"}, "unavailable", 3, False),
    ],
)
def test_a_failure_that_stays_is_raised_and_books_what_it_may_have_cost(
    put: Put, server: Server, conn: Conn, answer: Any, limits: Any, reason: str, attempts: int, billed: bool
) -> None:
    server.script(*[answer] * 3)
    with pytest.raises(UnansweredError, match=rf"gave no reply about any of 1 items: {reason} 1\.$") as caught:
        put(inputs("a secret"), **limits)
    assert "secret" not in str(caught.value) and caught.value.__cause__ is None
    booked = calls(conn, "state, cost_usd > 0, cost_usd = case when cost_usd > 0 then reserved_usd else 0 end, reason")
    assert booked == [("failed", billed, True, reason)] * attempts


def test_a_reply_that_drips_is_given_up_and_its_connection_closed(put: Put, server: Server) -> None:
    """On a machine of any speed: litellm is loaded by then, and the whole reply takes a minute and more."""
    assert texts(put(inputs("warm"))) == ["warm"]
    server.script(*[{"drip_s": 0.2}] * 4)
    known, began = _at_work(), time.monotonic()
    with pytest.raises(UnansweredError, match="timeout 2"):
        put(inputs("a", "b"), timeout_s=0.5, attempts=1)
    assert time.monotonic() - began < 50
    until = time.monotonic() + 20
    while (open_ := server.dripping) and time.monotonic() < until:
        time.sleep(0.05)
    assert not open_, "the server still sends"
    while (left := _at_work() - known) and time.monotonic() < until:
        time.sleep(0.05)
    assert not left, "threads that wait for the rest"
    server.script()
    assert texts(put(inputs("c"))) == ["c"]


def _at_work() -> set[int]:
    """The threads but for those of a pool that wait for work: how many a pool keeps depends on the machine."""
    return {thread for thread, frame in sys._current_frames().items() if frame.f_code.co_filename != pools.__file__}


def test_one_failure_among_others_is_the_items_alone(put: Put, server: Server) -> None:
    server.script({"status": 400})
    assert sorted(map(str, texts(put(inputs(*"abc"), concurrency=1)))) == ["b", "c", "refused"]


def test_neighbours_of_a_refused_text_are_answered(put: Put, server: Server) -> None:
    server.script({"status": 400}, {}, {"status": 400})
    assert texts(put(inputs(*"abc"), per_request=3)) == ["a", "refused", "c"]
    server.script(*[{"status": 400}] * 10)
    assert texts(put(inputs(*"vwxyz"))) == ["refused"] * 5, "each text's own fault"


def test_a_rejection_is_the_texts_if_the_provider_takes_later_ones(put: Put, server: Server) -> None:
    bad = {"status": 400, "other": True}
    server.script(bad, {}, {}, bad)
    assert texts(put(inputs(*"abcd"), concurrency=1)) == ["refused", "b", "c", "unexplained"], "d may be out of money"
    server.script(bad, {}, bad, {})
    assert texts(put(inputs(*"efg"), per_request=3)) == ["e", "refused", "g"]
    server.script(*[bad] * (UNFIT - 1))
    assert texts(put(inputs(*"mnop"))) == ["unexplained"] * 4, "a few of them alone are no outage"
    server.script(*[bad] * UNFIT)
    with pytest.raises(UnansweredError, match=r"about any of 5 items: unexplained 5\.$"):
        put(inputs(*"mnopq"))
    server.script(bad, bad, {}, {"status": 401})
    answered = texts(put(inputs(*"rst"), per_request=3))
    assert answered == ["refused", "s", "rejected"], "t failed by itself for another reason, and waits"


def test_an_account_without_money_is_not_asked_about_each_text(put: Put, server: Server) -> None:
    server.script(*[{"status": 400, "other": True}] * 40)
    with pytest.raises(UnansweredError, match="unexplained 30"):
        put(inputs(*[f"item{number}" for number in range(30)]), per_request=3, concurrency=1)
    assert len(server.requests) == 2 * (1 + 3) + 8, "two requests are split, the others are sent once"


def test_a_server_that_counts_no_tokens_is_booked_at_the_most(put: Put, server: Server, conn: Conn) -> None:
    server.script({"uncounted": True})
    put(inputs("a"))
    ((cost, reserved),) = calls(conn, "cost_usd, reserved_usd")
    assert cost == pytest.approx(reserved) and cost > 0


def test_the_credit_ends_before_it_is_overdrawn(put: Put, server: Server, conn: Conn, report: Report) -> None:
    put(inputs("probe"))
    ((most,),) = calls(conn, "reserved_usd")
    give(conn, most + 2.5 * GOOD_USD)
    server.script()
    answers = put(inputs(*[f"item{number}" for number in range(8)]), report=report)
    done = [answer for answer in answers if answer.reply]
    assert 1 <= len(done) <= 3 and {answer.reason for answer in answers if not answer.reply} == {"credit"}
    assert len(server.requests) == len(done), "nothing was sent that was not paid for"
    assert balance(conn) == pytest.approx(most + (2.5 - len(done)) * GOOD_USD) and balance(conn) >= 0
    assert report.counts["failed_credit"] == 8 - len(done)


def test_a_missing_extra_costs_nothing(put: Put, conn: Conn, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: Any, **__: Any) -> Any:
        raise InferenceError("The model needs the extra litellm.")

    monkeypatch.setattr("reverie.inference.completions.load_extra", missing)
    give(conn, 10.0)
    with pytest.raises(InferenceError, match="needs the extra litellm"):
        put(inputs("a"))
    assert calls(conn) == [("failed", 0.0, "unavailable")]
    assert balance(conn) == 10.0


def test_an_unknown_price_is_not_paid_from_a_credit(put: Put, server: Server, conn: Conn) -> None:
    assert texts(put(inputs("a"), price=None)) == ["a"]
    assert calls(conn, "cost_usd, priced") == [(0.0, False)]
    give(conn, 100.0)
    assert texts(put(inputs("b"), price=None)) == ["unpriced"]


def test_a_credit_given_meanwhile_is_not_touched(put: Put, server: Server, conn: Conn, store: Store) -> None:
    give(conn, 5.0)
    payer = Payer(tenant_id="acme", stage="test")
    call = MeteredCall(payer=payer, kind="completion", model="m", most_usd=2.0, items=1, id=payer.new_call_id())
    with store.transaction("acme") as own:
        reserve(own, call)
    assert balance(conn) == 3.0
    conn.execute("update ops.credits set balance_usd = 10, given_at = clock_timestamp()")
    for _ in range(2):
        with store.transaction("acme") as own:
            settle(own, call, CallOutcome(cost_usd=0.5))
    assert balance(conn) == 10.0


@pytest.mark.parametrize(
    ("reasons", "fails"),
    [
        ({"unavailable": 2, "credit": 6}, True),
        ({"timeout": 1, "unpriced": 1, "unasked": 9, "refused": 1}, True),
        ({"credit": 8}, False),
        ({"credit": 6, "unavailable": 2, None: 1}, False),
    ],
)
def test_an_outage_is_one_although_it_used_up_the_credit(
    load: Callable[..., Any], reasons: dict[str | None, int], *, fails: bool
) -> None:
    assert (unanswered_error(load(), Counter(reasons)) is not None) is fails
