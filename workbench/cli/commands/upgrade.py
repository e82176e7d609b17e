"""The `upgrade` command: another version of the platform in a team's own repository."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from workbench.cli.console import doing, err, print_json, print_text
from workbench.cli.options import Json

if TYPE_CHECKING:
    from physical_ai.releases import Version
    from workbench.cli.upgrading.run import Wanted

VersionArgument = Annotated[
    str | None, typer.Argument(metavar="VERSION", help="The version to upgrade to; the newest release if omitted.")
]
Wheels = Annotated[
    Path | None, typer.Option("--wheels", metavar="DIR", help="Take the platform's wheels from this folder.")
]
Check = Annotated[bool, typer.Option("--check", help="Only show what the upgrade does; write nothing.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do it without a question.")]
Only = Annotated[
    list[str] | None, typer.Option("--stack", help="Show the effects on this stack only; repeatable. All are loaded.")
]
NoPreview = Annotated[
    bool, typer.Option("--no-preview", help="Deploy nothing to the simulator, so that resources are not compared.")
]
Done = Annotated[
    list[str] | None, typer.Option("--done", metavar="STEP", help="A required step that was done; repeatable.")
]
BY = "PHYSAI_UPGRADE_BY"
"""Environment variable with the version that another one has started to do the upgrade."""


def upgrade(  # noqa: PLR0917 - each is an option
    version: VersionArgument = None,
    wheels: Wheels = None,
    check: Check = False,
    yes: Yes = False,
    stack: Only = None,
    no_preview: NoPreview = False,
    done: Done = None,
    json: Json = False,
) -> None:
    """Upgrade your own repository to another version of the platform: show what changes, rewrite settings, pin it.

    Each stack is deployed to a separate simulator with its present version, and the new one previewed there: resources,
    restarts, running work. Renamed settings are rewritten, with their comments. Nothing is committed or deployed. After
    a failure or a refusal, the files are as they were.
    """
    from physical_ai.releases import installed
    from physical_ai.repository import PROJECT
    from workbench.cli.new_project.pins import NoPins
    from workbench.cli.upgrading import project
    from workbench.cli.upgrading.offered import chosen
    from workbench.cli.upgrading.programs import NoProgram
    from workbench.cli.upgrading.run import Refused, Wanted, finished, prepared
    from workbench.upgrade import telling

    wanted = Wanted(wheels.expanduser().absolute() if wheels else None, stack or [], done or [], not no_preview)
    old = project.pinned(PROJECT)
    project.require_git(PROJECT, clean=not check)
    with doing("reading the package index"):
        new = chosen(version, wanted.wheels)
    if version is None and new <= old:
        if json:
            print_json({"written": False, "from": str(old), "to": None})
        else:
            newest = "" if new == old else f": the newest one is {new}"
            print_text(f"version {old} is pinned, and no newer one is offered{newest}\n")
        return
    if not check and not yes and (json or not sys.stdin.isatty()):
        raise Refused("Without a terminal, --yes writes the files, and --check only shows what changes.")
    try:
        if installed() != new > old:
            options = [*(["--check"] if check else []), *(["--yes"] if yes else []), *(["--json"] if json else [])]
            raise typer.Exit(_by_version(new, wanted, options))
        ready = prepared(PROJECT, new, wanted)
    except (NoPins, NoProgram) as problem:
        raise Refused(str(problem)) from None
    if not json:
        print_text("".join(f"{line}\n" for line in telling.lines(ready.report)))
    agreed = not check and (yes or typer.confirm("write these files?", default=False, err=True))
    if agreed:
        finished(PROJECT, ready)
    if json:
        print_json({"written": agreed, **telling.document(ready.report)})
    elif agreed:
        err.print(f"{len(ready.texts)} files written. Next: git diff, make test, git commit", markup=False)


def _by_version(new: Version, wanted: Wanted, options: list[str]) -> int:
    """Runs the command by the version that it leads to, which knows its own notes. Returns the exit code.

    Raises NoPins or NoProgram.
    """
    from workbench.cli.new_project.pins import hashes_in, hashes_of_index
    from workbench.cli.upgrading.programs import NoProgram, obtained, present

    if os.environ.get(BY) == str(new):
        raise NoProgram(f"The wheels of version {new} do not contain it.")
    found = present(new)
    if found is None:
        with doing(f"obtaining version {new}"):
            hashes = hashes_in(wanted.wheels, str(new)) if wanted.wheels else hashes_of_index(str(new))
            found = obtained(new, hashes, wanted.wheels)
    command = [sys.executable, "-m", "workbench.cli", "upgrade", str(new), *options, *wanted.options()]
    return subprocess.run(command, env={**found.environment(), BY: str(new)}, check=False).returncode
