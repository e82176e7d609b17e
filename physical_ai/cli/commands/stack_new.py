"""The `stack new` command: asks what a new stack needs, checks it against the catalogue, and writes its files."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from physical_ai.cli.console import err, out, print_json
from physical_ai.cli.exit_codes import BAD_INPUT, FAILED
from physical_ai.cli.groups import CommandGroup
from physical_ai.cli.options import Json

if TYPE_CHECKING:
    from physical_ai.settings import Loaded
    from physical_ai.settings.new_stack import NewFiles, Proposal

app = typer.Typer(cls=CommandGroup, help="Make stacks.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="ENV-REGION", help="The new stack's name, as staging-eastus2.")]
Sizes = Annotated[
    list[str] | None,
    typer.Option("--size", metavar="POOL=SKU", help="VM size of a pool, or none to leave it out; repeatable."),
]
Drivers = Annotated[
    list[str] | None,
    typer.Option("--driver", metavar="POOL=SOURCE", help="Driver source of a pool: operator, grid, aks; repeatable."),
]
Zones = Annotated[
    list[str] | None,
    typer.Option("--zones", metavar="POOL=1,2", help="Zones of a pool; nothing after = for none; repeatable."),
]
Space = Annotated[
    str | None, typer.Option("--address-space", metavar="CIDR", help="The virtual network's; a free /16 if absent.")
]
Ranges = Annotated[
    list[str] | None,
    typer.Option("--api-range", metavar="CIDR", help="Public range that reaches the API server; repeatable."),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Ask nothing: take what is proposed where no option says else.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print the files and write none.")]


@app.callback()
def stack() -> None:
    """Make stacks."""


@app.command()
def new(  # noqa: PLR0917 - each is an option
    name: Name,
    size: Sizes = None,
    driver: Drivers = None,
    zones: Zones = None,
    address_space: Space = None,
    api_range: Ranges = None,
    yes: Yes = False,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Write a new stack's file, and its region's layer if there is none, after checking both; nothing is deployed."""
    from physical_ai.cli.stack_new.answers import Given
    from physical_ai.cli.stack_new.summary import document, head, next_steps, summary
    from physical_ai.settings.layers.names import STACKS
    from physical_ai.settings.new_stack import AlreadyThere, new_files, propose, verified, write

    asks = not yes and not json and _is_terminal()
    if not asks and not yes:
        problem = "nobody is there to be asked; --yes takes what is proposed wherever no option says else"
        raise typer.BadParameter(problem, param_hint="--yes")
    proposal = propose(name, STACKS)
    given = Given(proposal, size or [], driver or [], zones or [], address_space, api_range or [])
    if asks:
        err.print(head(proposal))
    choices = {pool.name: given.choice(pool, asks=asks) for pool in proposal.pools}
    space = given.space(asks=asks)
    ranges = given.ranges(asks=asks)
    try:
        files = new_files(proposal, choices, space, ranges)
    except ValueError as problem:
        raise typer.BadParameter(str(problem), param_hint="--address-space") from None
    loaded = verified(name, files, STACKS)
    err.print(summary(proposal, loaded))
    if dry_run:
        _print(files, loaded, proposal, json=json)
        return
    if asks and not typer.confirm(
        f"write {' and '.join(f'{STACKS.name}/{path}' for path in files.texts)}?", default=True, err=True
    ):
        err.print("nothing was written")
        return
    try:
        made = write(files, STACKS)
    except AlreadyThere as problem:
        err.print(f"{problem}; nothing was written", style="red", markup=False)
        raise typer.Exit(BAD_INPUT) from None
    except OSError as problem:
        err.print(f"{STACKS.name} can't be written: {problem.strerror}; nothing was", style="red", markup=False)
        raise typer.Exit(FAILED) from None
    if json:
        print_json(document(proposal, loaded, files, made))
        return
    for path in made:
        out.print(f"[bold green]written[/] {STACKS.name}/{path.relative_to(STACKS)}")
    out.print(next_steps(proposal, loaded))


def _print(files: NewFiles, loaded: Loaded, proposal: Proposal, *, json: bool) -> None:
    from physical_ai.cli.stack_new.summary import document

    if json:
        print_json(document(proposal, loaded, files, []))
        return
    for path, text in files.texts.items():
        print(f"--- stacks/{path}\n{text}", end="")


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()
