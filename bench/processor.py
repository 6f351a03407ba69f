"""Processor time: of this process and the database server, as wall time is unreliable on shared machines; of all."""

from __future__ import annotations

import time
from contextlib import suppress

import numpy as np
import psutil

from reverie.store.connect import connect


def processor() -> np.ndarray:
    """Return seconds of all processors since the start: total, idle, waiting for the disk, stolen by the host."""
    times = psutil.cpu_times()
    return np.array([sum(times), times.idle, times.iowait, times.steal])


def cpu_seconds(url: str) -> float:
    """Return the CPU seconds spent so far by this process and by a server on this machine, ended backends included."""
    time.sleep(0.5)  # a backend that has just ended is counted only after a moment
    with connect(url) as conn:
        found = conn.execute("select pg_backend_pid()").fetchone()
        assert found is not None
        postmaster = psutil.Process(found[0]).parent()
        assert postmaster is not None
        ended = postmaster.cpu_times()
        total: float = time.process_time() + ended.children_user + ended.children_system
        for process in postmaster.children():
            with suppress(psutil.NoSuchProcess):
                spent = process.cpu_times()
                total += spent.user + spent.system
    return total
