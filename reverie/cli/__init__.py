"""The command line: one module a command, each thin over the engine.

- `root`: the group `reverie`: loads commands on demand, turns errors into sentences and exit codes
- `memory/`: commands about what is remembered
- `operate/`: commands that make memory, serve it and look after it
- `options`: options that several commands share
- `session`: the composition root: settings, database, policy and models, each made on first use
- `output`: JSON for programs, tables for people, plain text for pipes
- `widths`: column widths of tables
- `progress`: progress bars
- `signals`: Ctrl-C and SIGTERM
- `suggestions`: "Did you mean ...?"

Command modules import click and each other alone at the top: what costs time to import is imported inside the command
that needs it, so that `--help` stays instant.
"""

from __future__ import annotations


def main() -> None:
    """Run the command line and leave the process with its exit code."""
    from reverie.cli.root import reverie

    reverie(prog_name="reverie")
