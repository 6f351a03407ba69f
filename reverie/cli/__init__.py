"""The command line: one module a command, each thin over the engine.

- `root`      the group `reverie`: loads a command when it is asked for, turns errors into sentences and exit codes
- `options`   options that several commands share, and what their texts mean
- `session`   the composition root: settings, database, policy and embedder, each made when it is first needed
- `output`    JSON for programs, tables for people, plain text for pipes
- `progress`  what is shown while something long runs
- the rest    a module for each command, named after it

Command modules import click and each other alone at the top: what costs time to import is imported inside the command
that needs it, so that `--help` stays instant.
"""

from __future__ import annotations


def main() -> None:
    """Run the command line and leave the process with its exit code."""
    from reverie.cli.root import reverie

    reverie(prog_name="reverie")
