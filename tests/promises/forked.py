"""Everything that a process to kill needs, imported and compiled once, so that its short life is spent on its work."""

from __future__ import annotations

import uvicorn  # noqa: F401

import reverie.api.app
import reverie.cli.operate.serve
import reverie.drive.drain
import reverie.drive.flush  # noqa: F401
from reverie.language.cues.immediate import compiled
from tests.promises import compact, every, killing, profiling, talking  # noqa: F401

# the policies here have their patterns in common, which are compiled when they are first used
for rule in compiled(compact.policy()).compiled:
    _ = rule.pattern
