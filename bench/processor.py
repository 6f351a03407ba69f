"""CPU time of this process and of the database server, for machines on which wall time says little."""

from __future__ import annotations

import time

import psutil

from reverie.store.connect import connect


def cpu_seconds(url: str) -> float:
    """Return the CPU seconds spent so far by this process and by the server processes that live, on this machine."""
    with connect(url) as conn:
        found = conn.execute("select pg_backend_pid()").fetchone()
    assert found is not None
    backend = psutil.Process(found[0]) if psutil.pid_exists(found[0]) else None
    postmaster = backend.parent() if backend else None
    total = time.process_time()
    for process in postmaster.children() if postmaster else []:
        try:
            spent = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += spent.user + spent.system
    return total
