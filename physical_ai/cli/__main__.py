"""The `physai` command, also as `python -m physical_ai.cli`."""

from __future__ import annotations

import sys

from physical_ai.simulator import program_process

RUN_THE_PROGRAM = ("up", "preview")
"""Commands that run the program."""
WITHOUT = {"-h", "--help", "--from"}
"""Options with which they do not: `--from` shows what a plain `pulumi preview` printed."""


def main() -> None:
    """Runs the command line. The program's process starts before the command's own imports, which take a second."""
    arguments = sys.argv[1:]
    if (
        arguments[:1]
        and arguments[0] in RUN_THE_PROGRAM
        and not WITHOUT & {each.partition("=")[0] for each in arguments}
    ):
        program_process.start()
    from physical_ai.cli.main import collect_garbage_rarely, run

    collect_garbage_rarely()
    raise SystemExit(run(arguments))


if __name__ == "__main__":
    main()
