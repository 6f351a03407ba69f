"""Messages are found in what went into a trace and came out, in each form that the SDKs write."""

from __future__ import annotations

from typing import Any

import pytest

from reverie.capture.history.formats.shapes import ForeignItem
from reverie.capture.history.formats.traces import oldest_first, read_langfuse, read_langsmith
from reverie.capture.history.records import BrokenItem, Record, SkippedItem

WENT_IN = [
    {"messages": [{"role": "user", "content": "Hi"}]},
    {"messages": [[{"type": "human", "content": "Hi"}]]},
    {"messages": [["human", "Hi"]]},
    {"input": "Hi"},
    "Hi",
    '[{"role": "user", "content": "Hi"}]',
]
CAME_OUT = [
    {"choices": [{"message": {"role": "assistant", "content": "Ho"}}]},
    {"generations": [[{"text": "Ho", "message": {"id": ["x", "AIMessage"], "kwargs": {"content": "Ho"}}}]]},
    {"output": "Ho"},
    {"messages": [{"type": "human", "content": "Hi"}, {"type": "ai", "content": "Ho"}]},
    "Ho",
]


@pytest.mark.parametrize("inputs", WENT_IN)
@pytest.mark.parametrize("outputs", CAME_OUT)
def test_messages(inputs: Any, outputs: Any) -> None:
    run = {"id": "r", "inputs": inputs, "outputs": outputs, "start_time": "2026-03-01T09:00:00"}
    found = read_langsmith(ForeignItem(number=1, fields=run))
    assert isinstance(found, dict) and found["said_at"] == "2026-03-01T09:00:00+00:00" and found["session_id"] == "r"
    assert [(each["role"], each["content"]) for each in found["messages"]] == [("user", "Hi"), ("assistant", "Ho")]


def test_what_has_no_messages_or_a_parent_is_skipped() -> None:
    child = ForeignItem(number=1, fields={"id": "o", "parent_observation_id": "p", "input": "Hi"})
    assert read_langfuse(child) == SkippedItem("child_observation")
    assert read_langfuse(ForeignItem(number=1, fields={"id": "o", "input": 7})) == SkippedItem("no_messages")


@pytest.mark.parametrize("metadata", [None, "null", "n/a", '{"user_id": "ana"}', {"user_id": "ana"}])
def test_a_table_has_objects_as_texts(metadata: Any) -> None:
    run = {"id": "r", "inputs": "Hi", "outputs": "Ho", "parent_run_ids": "null", "extra": "null", "metadata": metadata}
    found = read_langsmith(ForeignItem(number=1, fields=run))
    assert isinstance(found, dict) and found["session_id"] == "r"
    assert found.get("subject_id") == ("ana" if "ana" in str(metadata) else None)


def test_a_trace_without_a_time_comes_after_those_with_one() -> None:
    """The first records decide whether a file can be read as it is described."""
    times = {1: "2026-03-02T09:00:00Z", 2: None, 3: "2026-03-01T09:00:00Z", 4: "once"}
    records = [Record(line, {"said_at": said_at}) for line, said_at in times.items()]
    found = list(oldest_first([*records, BrokenItem(5, "malformed_json", "It is not JSON.")]))
    assert [item.line for item in found if not isinstance(item, SkippedItem)] == [5, 3, 1, 2, 4]
