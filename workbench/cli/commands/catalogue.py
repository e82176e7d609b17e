"""The commands `sizes` and `regions`, which show the catalogue."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from workbench.cli.console import err, print_json
from workbench.cli.exit_codes import BAD_INPUT
from workbench.cli.options import Json

InRegion = Annotated[str | None, typer.Option("--region", help="Only the sizes of this region, with its prices.")]
ForStack = Annotated[str | None, typer.Option("--stack", help="Show where each pool of this stack could run.")]
AddSizes = Annotated[
    Path | None,
    typer.Option(
        "--add",
        metavar="FILE",
        help="Add what a subscription offers to the catalogue: the answer of az vm list-skus -l REGION -o json.",
    ),
]
Prices = Annotated[
    Path | None,
    typer.Option("--prices", metavar="FILE", help="With --add: the answer of Azure's Retail Prices API."),
]
NewSizes = Annotated[
    list[str] | None,
    typer.Option("--size", metavar="NAME", help="With --add: a size that the catalogue lacks; repeatable."),
]
Facts = Annotated[
    list[str] | None,
    typer.Option(
        "--fact",
        metavar="KEY=VALUE",
        help="With --add: what Azure does not say, such as model, pci, driverSources; repeatable.",
    ),
]
Like = Annotated[
    str | None,
    typer.Option("--like", metavar="SIZE", help="With --add: take such facts from this size of the catalogue."),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="With --add: print the rows and write nothing.")]
AddRegion = Annotated[
    Path | None,
    typer.Option("--add", metavar="FILE", help="Add a region: the answer of az account list-locations -o json."),
]
RegionName = Annotated[str | None, typer.Option("--name", metavar="REGION", help="With --add: the region to add.")]
Offset = Annotated[
    str | None,
    typer.Option(
        "--utc-offset", metavar="±HH:MM", help="With --add: the region's standard time, which Azure does not say."
    ),
]


def sizes(  # noqa: PLR0917 - each is an option
    region: InRegion = None,
    add: AddSizes = None,
    size: NewSizes = None,
    like: Like = None,
    fact: Facts = None,
    prices: Prices = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """List the VM sizes of the catalogue: GPUs, driver sources, lifecycle and prices; or add what Azure offers."""
    if add is not None:
        from workbench.cli.adding_offers import add_sizes

        add_sizes(add, prices, size or [], fact or [], like, dry_run=dry_run, json=json)
        return
    _only_with_add(dry_run or bool(size or like or fact or prices))
    from physical_ai.catalog import UnknownName
    from physical_ai.catalog import region as lookup
    from physical_ai.catalog import regions as known
    from workbench.cli.output.catalogue import print_sizes, size_rows

    try:
        listed = set(lookup(region).sizes) if region else None
    except UnknownName as problem:
        near = f"Did you mean '{problem.suggestion}'? " if problem.suggestion else ""
        text = f"the catalogue has no region '{region}'. {near}Regions: {', '.join(known())}"
        raise typer.BadParameter(text, param_hint="--region") from None
    rows = size_rows(region, listed)
    if json:
        print_json({"sizes": rows})
    else:
        print_sizes(rows, prices=region is not None)


def _only_with_add(given: bool) -> None:
    if given:
        raise typer.BadParameter("the options for new rows need the file with Azure's answer", param_hint="--add")


def regions(  # noqa: PLR0917 - each is an option
    stack: ForStack = None,
    add: AddRegion = None,
    name: RegionName = None,
    utc_offset: Offset = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """List the regions of the catalogue with their zones and GPU sizes, or where a stack's pools could run; or add a
    region.
    """
    if add is not None:
        from workbench.cli.adding_offers import add_region

        add_region(add, name, utc_offset, dry_run=dry_run, json=json)
        return
    _only_with_add(dry_run or name is not None or utc_offset is not None)
    from workbench.cli.output import catalogue

    if stack is None:
        rows = catalogue.region_rows()
        if json:
            print_json({"regions": rows})
        else:
            catalogue.print_regions(rows)
        return
    from physical_ai.settings import load
    from physical_ai.settings.facts.created import creates_cluster
    from physical_ai.settings.facts.pool_regions import pool_places

    settings = load(stack).settings
    if not creates_cluster(settings):
        err.print(f"the cluster of {stack} exists already: its nodes are in no region of Azure", style="red")
        raise typer.Exit(BAD_INPUT)
    places = pool_places(settings)
    if json:
        print_json(catalogue.places_document(settings, places))
    else:
        catalogue.print_places(settings, places)
