"""Server of `physai` commands in a copy of the repository. Each command runs in a fork of a process that has imported
the packages already. This module is run as a script.

`fork_server.py ROOT [MODULE …]` imports the modules, reads a command line as JSON from each line of its input, and
answers with the exit code and the output as JSON.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable
from importlib import import_module

FOREIGN = ("pydantic", "pydantic.deprecated.class_validators", "yaml", "typer", "rich.console", "jinja2")


def forked(run: Callable[[], int]) -> tuple[int, str]:
    """Exit code and output of a function that runs in a fork of this process."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(theirs, 1)
        os.dup2(theirs, 2)
        try:
            code = run()
        except BaseException:
            traceback.print_exc()
            code = 1
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    os.close(theirs)
    with os.fdopen(ours) as stream:
        text = stream.read()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), text


def command(arguments: list[str]) -> int:
    from workbench.cli.command_line import run_here

    return run_here(arguments)


def main() -> None:
    root, *modules = sys.argv[1:]
    os.chdir(root)
    sys.path[0] = root
    sys.dont_write_bytecode = True
    for name in (*FOREIGN, *modules):
        import_module(name)
    for line in sys.stdin:
        arguments: list[str] = json.loads(line)
        print(json.dumps(forked(lambda given=arguments: command(given))), flush=True)


if __name__ == "__main__":
    main()
