"""The command line. Each command has a module of its own, a thin layer over the engine.

- `root`: the group `reverie`: loads commands on demand, and turns errors into messages and exit codes
- `memory/`: commands that query and correct memory
- `measure/`: commands that measure memory
- `privacy/`: commands that erase and export what people said, and set what they agree to
- `operate/`: commands that build memory, serve it and maintain it
- `agents/`: commands that connect agents to memory
- `generations/`: commands that build memory beside the live one, compare and publish it
- `options`: options that several commands share
- `session`: the settings, database, policy and models of a command, each created on first use
- `output`: JSON for programs, tables for people, plain text for pipes
- `widths`: column widths of tables
- `progress`: progress bars
- `signals`: Ctrl-C and SIGTERM
- `suggestions`: "Did you mean ...?"

At the top, command modules import only click and each other. Slow imports are inside the command that needs them, so
that `--help` is fast.
"""

from __future__ import annotations


def main() -> None:
    """Run the command line and exit with its exit code."""
    from reverie.cli.root import reverie

    reverie(prog_name="reverie")
