"""Reverie: conversations in, a bounded and explainable memory of each subject out, as Postgres tables."""

from __future__ import annotations


def __getattr__(name: str) -> str:
    if name == "__version__":
        from importlib.metadata import version  # costs 20 ms that nearly nobody needs

        return version("reverie")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
