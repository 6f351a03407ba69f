"""A prompt's hash is part of the ids of what a model gave and of its kept replies: it changes on purpose or not at all.

The docstring of a `Reply` class is in the schema that the model is shown, so rewording one changes the hash. After an
intended change, record again with examples/record.py and put the new hash here.
"""

from __future__ import annotations

import hashlib
import json

import pytest

from reverie.capture.live.mood_model import mood_prompt
from reverie.consolidate.compress.worded_patterns import ThemePattern
from reverie.consolidate.compress.worded_sessions import SessionSummary
from reverie.consolidate.extract.language_model import extract_prompt
from reverie.consolidate.synthesize.language_model import synthesis_prompt
from reverie.inference.replies import Reply
from reverie.policy import load_policy

POLICY = load_policy("reverie")


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (extract_prompt(POLICY).hash, "991221207a3d"),
        (synthesis_prompt(POLICY).hash, "b4a7ae1db6db"),
        (mood_prompt(("neutral", "happy")).hash, "f7d90d157f2b"),
        (mood_prompt(("neutral", "happy"), "mood_seed").hash, "974c4cc6945e"),
    ],
    ids=["extract", "synthesize", "mood", "mood of the seed"],
)
def test_a_prompt_is_what_it_was(found: bytes, expected: str) -> None:
    assert found.hex().startswith(expected)


@pytest.mark.parametrize(("reply", "expected"), [(SessionSummary, "94d6d345cdd1"), (ThemePattern, "2ad5082bd38d")])
def test_the_schema_of_a_summary_is_what_it_was(reply: type[Reply], expected: str) -> None:
    schema = json.dumps(reply.model_json_schema(), sort_keys=True)
    assert hashlib.sha256(schema.encode()).hexdigest().startswith(expected)
