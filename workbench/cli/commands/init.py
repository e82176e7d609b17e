"""The `init` command: a repository of a team's own, in which the platform is a dependency."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Annotated

import typer

from workbench.cli.console import doing, err, out, print_json
from workbench.cli.exit_codes import BAD_INPUT, FAILED
from workbench.cli.options import Json

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The new repository's folder: empty, or to be made.")]
FirstStack = Annotated[
    str, typer.Option("--stack", metavar="ENV-REGION", help="The first stack, such as dev-westus2 or prod-westeurope.")
]
Wheels = Annotated[
    Path | None,
    typer.Option("--wheels", metavar="DIR", help="Take the hashes of the platform's wheels from this folder."),
]
Source = Annotated[
    str | None,
    typer.Option("--source", metavar="OWNER/NAME", help="The platform's repository on GitHub, whose workflows run."),
]
Owners = Annotated[
    str | None, typer.Option("--owners", metavar="@ORG/TEAM", help="The team that reviews changes of the repository.")
]


def init(  # noqa: PLR0917 - each is an option
    folder: Folder,
    stack: FirstStack = "dev-westus2",
    wheels: Wheels = None,
    source: Source = None,
    owners: Owners = None,
    json: Json = False,
) -> None:
    """Write a repository of your own, in which this platform is a dependency: stacks, values, tests and workflows.

    The packages are pinned with their hashes, which come from the package index or from --wheels.
    """
    from workbench.cli.new_project.files import OWNERS, SOURCE, project_files
    from workbench.cli.new_project.folder import refusal, start_repository, write
    from workbench.cli.new_project.pins import NoPins, hashes_in, hashes_of_index, version

    folder = folder.expanduser().absolute()
    if problem := refusal(folder):
        raise typer.BadParameter(problem, param_hint="DIR")
    if source is not None and not re.fullmatch(r"[\w.-]+/[\w.-]+", source):
        raise typer.BadParameter(f"'{source}' is not OWNER/NAME", param_hint="--source")
    if owners is not None and not re.fullmatch(r"@[\w-]+(/[\w.-]+)?", owners):
        raise typer.BadParameter(f"'{owners}' is not @ORG/TEAM", param_hint="--owners")
    try:
        with doing("reading the package index"):
            hashes = hashes_in(wheels) if wheels is not None else hashes_of_index()
    except NoPins as problem:
        err.print(str(problem), markup=False, style="red")
        raise typer.Exit(BAD_INPUT if wheels is not None else FAILED) from None
    texts = project_files(stack, hashes, source or SOURCE, owners or OWNERS)
    try:
        write(folder, texts)
    except OSError as problem:
        err.print(f"{folder} cannot be written: {problem.strerror}; nothing was written", style="red", markup=False)
        raise typer.Exit(FAILED) from None
    without = start_repository(folder)
    if json:
        print_json({"folder": str(folder), "version": version(), "stack": stack, "files": sorted(texts)})
        return
    out.print(f"[bold green]written[/] {len(texts)} files into {folder}", highlight=False)
    if without:
        err.print(f"{without}; no repository was made", markup=False)
    made = f" WHEELS={shlex.quote(str(wheels.expanduser().absolute()))}" if wheels is not None else ""
    out.print(f"next, in {folder}:", highlight=False)
    steps = {
        f"make up{made}": f"deploy {stack} into the simulator",
        "make test": "declare every stack, and hold it to the policies",
    }
    width = max(map(len, steps))
    for command, does in steps.items():
        out.print(f"  {command:<{width}}  # {does}", highlight=False, markup=False, soft_wrap=True)
    if not without:
        out.print("  git add --all && git commit -m 'Start'", highlight=False, markup=False)
