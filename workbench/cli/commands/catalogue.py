"""The commands `sizes` and `regions`, which show the catalogue."""

from __future__ import annotations

from typing import Annotated

import typer

from workbench.cli.console import err, print_json
from workbench.cli.exit_codes import BAD_INPUT
from workbench.cli.options import Json

InRegion = Annotated[str | None, typer.Option("--region", help="Only the sizes of this region, with its prices.")]
ForStack = Annotated[str | None, typer.Option("--stack", help="Show where each pool of this stack could run.")]


def sizes(region: InRegion = None, json: Json = False) -> None:
    """List the VM sizes of the catalogue: GPUs, driver sources, lifecycle and prices."""
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


def regions(stack: ForStack = None, json: Json = False) -> None:
    """List the regions of the catalogue with their zones and GPU sizes, or where a stack's pools could run."""
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
