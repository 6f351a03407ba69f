"""Reverie: conversations in, a bounded and explainable memory of each subject out, as Postgres tables.

From the bottom up; a package imports only what stands above it in this list:

- `errors`: every error that a user can meet
- `installing`: how to add an extra to this installation, and which commit it is
- `interruption`: the request to stop a long operation at a clean point
- `model/`: the nouns as types: turn, memory, scope, ids, times
- `settings`: what the environment sets
- `telemetry/`: traces, metrics and lineage events for other systems, off until set
- `policy/`: the numbers by which memory is made
- `language/`: what a text says, by rule
- `inference/`: embedders, rerankers and language models
- `store/`: Postgres
- `llm/`: calls of language models, cached and metered
- `capture/`: turns and observations into the log
- `consolidate/`: the stages that make memory from the log
- `recall/`: answers and contexts from memory
- `drive/`: which stages run, in which order, for whom
- `evaluate/`: measures of memory
- `generations/`: memories built beside the live one: compared, published, reverted
- `quality/`: has memory changed its shape? By Great Expectations
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
        from importlib.metadata import version  # costs 20 ms that nearly nobody needs

        return version("reverie")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
