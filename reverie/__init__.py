"""Reverie: conversations in, a bounded and explainable memory of each subject out, as Postgres tables.

From the bottom up; each package imports only those above it in this list:

- `errors`: every error that a user can meet
- `installing`: the command that adds an extra to this installation, and its commit
- `interruption`: stops long operations at a clean point on request
- `model/`: the nouns as types: turn, memory, scope, ids, times
- `settings`: settings from environment variables
- `telemetry/`: traces, metrics and lineage events for other systems, off by default
- `policy/`: the numbers by which memory is made
- `language/`: reads texts by rules
- `inference/`: embedders, rerankers and language models
- `store/`: Postgres
- `llm/`: calls of language models, cached and metered
- `capture/`: turns and observations into the log
- `consolidate/`: the stages that make memory from the log
- `recall/`: answers and contexts from memory
- `drive/`: decides which stages run, in which order and for whom
- `evaluate/`: measures of memory
- `generations/`: memories built beside the live one: compared, published, reverted
- `quality/`: checks with Great Expectations whether memory has changed its shape
- `report/`: the marts as plots
- `runtime`: the composition root: database and models from the settings
- `api/`: the HTTP API
- `inspector/`: pages in a browser that show, correct and publish memory
- `cli/`: the command line
- `testing`: helpers for tests of programs that use Reverie
"""

from __future__ import annotations


def __getattr__(name: str) -> str:
    if name == "__version__":
        from importlib.metadata import version  # takes 20 ms, and few callers need it

        return version("reverie")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
