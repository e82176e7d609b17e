"""Execution of a command line in this process."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.cli.resident_command import COPY
from workbench.cli.simulator_extra import has_simulator

RUN_THE_PROGRAM = ("up", "preview")
"""Commands that run the Pulumi program."""
WITHOUT = {"-h", "--help", "--from"}
"""Options with which `up` and `preview` do not run the program. With `--from`, `preview` shows a preview that somebody
else has made.
"""


def run_here(arguments: Sequence[str]) -> int:
    """Runs a command line; returns the exit code.

    The program's process is started before the command's own imports, which take a second.
    """
    if (
        arguments[:1]
        and arguments[0] in RUN_THE_PROGRAM
        and not WITHOUT & {each.partition("=")[0] for each in arguments}
        and has_simulator()
    ):
        from simulator import program_process

        program_process.start(later=COPY)
    from workbench.cli.main import collect_garbage_rarely, run

    collect_garbage_rarely()
    return run(list(arguments))
