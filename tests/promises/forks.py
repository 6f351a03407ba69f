"""Processes to kill: one process is started and imports everything, and each of them is forked from it.

A test process has one such server, whatever modules it runs, and it imports what was named when it was started: so all
modules name the same.
"""

from __future__ import annotations

import multiprocessing

#: Of these each process is made, before any thread runs.
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["tests.promises.forked"])
