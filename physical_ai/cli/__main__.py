"""The `physai` command, also as `python -m physical_ai.cli`."""

from __future__ import annotations

import sys

from physical_ai.cli import resident_command


def main() -> None:
    """Runs the command line: in a copy of a process that has loaded it, if there is one."""
    arguments = sys.argv[1:]
    code = resident_command.run(arguments)
    if code is None:
        from physical_ai.cli.command_line import run_here

        code = run_here(arguments)
    raise SystemExit(code)


if __name__ == "__main__":
    main()
