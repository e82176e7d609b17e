"""The `physai` command, also as `python -m workbench.cli`."""

from __future__ import annotations

import os
import sys

INTERRUPTED = 130


def main() -> None:
    """Runs the command line, if possible in a copy of the resident process, which has already loaded the command's
    modules.
    """
    try:
        code = _run(sys.argv[1:])
    # Interrupted while modules were loaded. Later, a command itself reports what remains to be done.
    except KeyboardInterrupt:
        os.write(2, b"interrupted before the command began; nothing was changed\n")
        code = INTERRUPTED
    raise SystemExit(code)


def _run(arguments: list[str]) -> int:
    from workbench.cli import resident_command

    code = resident_command.run(arguments)
    if code is None:
        _open_streams()
        # Pydantic searches the metadata of all packages for plugins, which takes a tenth of a command's start.
        os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
        from workbench.cli.command_line import run_here

        code = run_here(arguments)
    return code


def _open_streams() -> None:
    """Redirects standard output and error to nowhere if whoever started this process has closed them, as with `>&-`."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - until the process ends


if __name__ == "__main__":
    main()
