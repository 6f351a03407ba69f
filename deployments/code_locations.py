"""Waits until a Dagster webserver has loaded its code locations, by GraphQL as a browser does."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable
from typing import Any

from tenacity import RetryError, Retrying, retry_if_result, stop_after_delay, wait_fixed

QUERY = """{ workspaceOrError {
  __typename
  ... on PythonError { message }
  ... on Workspace { locationEntries {
    name loadStatus locationOrLoadError { __typename ... on PythonError { message causes { message } } }
  } }
} }"""


def wait_until_loaded(address: str, *, is_running: Callable[[], bool], seconds: float) -> str | None:
    """Wait until the webserver at `address` has loaded every code location; return what went wrong, or None.

    `is_running` tells whether the webserver's process still runs; `seconds` is the longest wait.
    """
    polls = Retrying(
        retry=retry_if_result(lambda locations: locations is None and is_running()),
        wait=wait_fixed(0.5),
        stop=stop_after_delay(seconds),
    )
    try:
        locations = polls(read_locations, address)
    except RetryError:
        return f"Dagster did not load the code within {seconds:.0f} seconds."
    if locations is None:
        return "Dagster stopped before it had loaded the code; its messages are above."
    problems = [problem for problem in map(load_problem, locations) if problem]
    return "\n".join(problems) or None


def read_locations(address: str) -> list[dict[str, Any]] | None:
    """Return the code locations of the webserver at `address`; None while it is starting or loading."""
    request = urllib.request.Request(
        f"{address}/graphql", json.dumps({"query": QUERY}).encode(), {"Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            workspace = json.load(response)["data"]["workspaceOrError"]
    except OSError:
        return None
    if workspace["__typename"] == "PythonError":
        return [{"name": "the workspace", "locationOrLoadError": workspace}]
    locations: list[dict[str, Any]] = workspace["locationEntries"]
    return None if any(each["loadStatus"] == "LOADING" for each in locations) else locations


def load_problem(location: dict[str, Any]) -> str | None:
    """Return why a code location could not be loaded, in Dagster's words without the stack; None if it was loaded."""
    error = location["locationOrLoadError"]
    if error is None or error["__typename"] != "PythonError":
        return None
    messages = [error["message"], *(cause["message"] for cause in error.get("causes", ()))]
    reason = " ".join(line.strip() for message in messages for line in message.splitlines() if line.strip())
    return f"Dagster could not load {location['name']}: {reason}"
