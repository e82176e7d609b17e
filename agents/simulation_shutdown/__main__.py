"""python -m simulation_shutdown exec [--timeout SECONDS] [--exit-code CODE] -- COMMAND …"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from . import environment
from .launch import plan
from .supervise import replace, supervise


def main(arguments: Sequence[str]) -> int:
    """The command's exit code, or 2 with a message where the arguments are invalid."""
    parser = argparse.ArgumentParser(
        prog="python -m simulation_shutdown", description="Ends Isaac Sim runs that would hang while they close."
    )
    commands = parser.add_subparsers(required=True, metavar="exec")
    run = commands.add_parser("exec", help="run a script that can't be edited; its exit code is passed on")
    run.add_argument("--timeout", metavar="SECONDS", help="what closing may take (30)")
    run.add_argument("--exit-code", metavar="CODE", help="the exit code of a run that had not failed and is killed")
    run.add_argument("command", nargs=argparse.REMAINDER, metavar="-- COMMAND")
    options = parser.parse_args(arguments)
    command: list[str] = options.command[options.command[:1] == ["--"] :]
    if not command:
        run.error("no command: exec -- python train.py")
    for name, value in ((environment.TIMEOUT, options.timeout), (environment.EXIT_CODE, options.exit_code)):
        if value is not None:
            os.environ.setdefault(name, value)
    chosen = environment.overrides(os.environ)
    if chosen.faults:
        run.error("; ".join(chosen.faults))
    if chosen.off:
        return replace(command)
    return supervise(plan(command))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
