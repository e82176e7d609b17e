"""The `stack new` command: asks for the settings of a new stack, validates them, and writes its files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from workbench.cli.console import err, out, print_json
from workbench.cli.exit_codes import BAD_INPUT, FAILED
from workbench.cli.groups import CommandGroup
from workbench.cli.options import Json

if TYPE_CHECKING:
    from physical_ai.settings import Loaded
    from physical_ai.settings.new_stack import NewFiles, Proposal

app = typer.Typer(cls=CommandGroup, help="Create stacks.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="ENV-REGION", help="The new stack's name, such as staging-eastus2.")]
Sizes = Annotated[
    list[str] | None,
    typer.Option("--size", metavar="POOL=SKU", help="VM size of a pool, or none to leave the pool out; repeatable."),
]
Drivers = Annotated[
    list[str] | None,
    typer.Option("--driver", metavar="POOL=SOURCE", help="Driver source of a pool: operator, grid, aks; repeatable."),
]
Zones = Annotated[
    list[str] | None,
    typer.Option("--zones", metavar="POOL=1,2", help="Zones of a pool, or nothing after = for none; repeatable."),
]
Space = Annotated[
    str | None,
    typer.Option(
        "--address-space", metavar="CIDR", help="Address space of the virtual network; a free /16 if omitted."
    ),
]
Ranges = Annotated[
    list[str] | None,
    typer.Option("--api-range", metavar="CIDR", help="Public range that may reach the API server; repeatable."),
]
Deployers = Annotated[
    list[str] | None,
    typer.Option(
        "--deployer",
        metavar="[KIND=]ID",
        help="Entra object id of a group that deploys; user=ID or pipeline=ID for one identity; repeatable.",
    ),
]
Yes = Annotated[
    bool, typer.Option("--yes", "-y", help="Do not prompt, and use the proposed value for each omitted option.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print the files and write none.")]


@app.callback()
def stack() -> None:
    """Create stacks."""


@app.command()
def new(  # noqa: PLR0917 - each is an option
    name: Name,
    size: Sizes = None,
    driver: Drivers = None,
    zones: Zones = None,
    address_space: Space = None,
    api_range: Ranges = None,
    deployer: Deployers = None,
    yes: Yes = False,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Write the file of a new stack, and the layer of its region if missing.

    Both are validated. Nothing is deployed.
    """
    from physical_ai.settings.layers.names import STACKS
    from physical_ai.settings.layers.stack_file import require_project
    from physical_ai.settings.new_stack import new_files, propose, verified
    from workbench.cli.stack_new.answers import Choices, named_deployers
    from workbench.cli.stack_new.summary import document, head, next_steps, summary

    require_project()
    interactive = not yes and not json and _is_terminal()
    proposal = propose(name, STACKS)  # a wrong name is reported first
    if not interactive and not yes:
        problem = "there is no terminal for questions; --yes uses the proposed value for each omitted option"
        raise typer.BadParameter(problem, param_hint="--yes")
    options = Choices(proposal, size or [], driver or [], zones or [], address_space, api_range or [])
    deployers = named_deployers(deployer or [])
    if interactive:
        err.print(head(proposal))
    choices = {pool.name: options.choice(pool, interactive=interactive) for pool in proposal.pools}
    space = options.space(interactive=interactive)
    ranges = options.ranges(interactive=interactive)
    try:
        files = new_files(proposal, choices, space, ranges, deployers)
    except ValueError as problem:
        raise typer.BadParameter(str(problem), param_hint="--address-space") from None
    loaded = verified(name, files, STACKS)
    err.print(summary(proposal, loaded))
    if dry_run:
        _print(files, loaded, proposal, json=json)
        return
    if interactive and not typer.confirm(
        f"write {' and '.join(f'{STACKS.name}/{path}' for path in files.texts)}?", default=True, err=True
    ):
        err.print("nothing was written")
        return
    made = _write(files)
    if json:
        print_json(document(proposal, loaded, files, made))
        return
    for path in made:
        out.print(f"[bold green]written[/] {STACKS.name}/{path.relative_to(STACKS)}")
    out.print(next_steps(proposal, loaded))


def _write(files: NewFiles) -> list[Path]:
    """Writes the files and returns their paths. Ends the command if they cannot be written."""
    from physical_ai.settings.layers.names import STACKS
    from physical_ai.settings.new_stack import AlreadyExists, write

    try:
        return write(files, STACKS)
    except AlreadyExists as problem:
        err.print(f"{problem}; nothing was written", style="red", markup=False)
        raise typer.Exit(BAD_INPUT) from None
    except OSError as problem:
        err.print(
            f"{STACKS.name} cannot be written: {problem.strerror}; nothing was written", style="red", markup=False
        )
        raise typer.Exit(FAILED) from None


def _print(files: NewFiles, loaded: Loaded, proposal: Proposal, *, json: bool) -> None:
    from workbench.cli.stack_new.summary import document

    if json:
        print_json(document(proposal, loaded, files, []))
        return
    for path, text in files.texts.items():
        print(f"--- stacks/{path}\n{text}", end="")


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()
