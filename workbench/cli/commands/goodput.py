"""The `goodput` command: the useful share of GPU time to expect, and what changes of settings are worth."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from workbench.cli.console import print_json
from workbench.cli.exit_codes import INTERRUPTED
from workbench.cli.options import DEFAULT_STACK, Assignments, Context, Files, Json, Stack
from workbench.cli.recorded import From, opened

Assume = Annotated[
    list[str] | None,
    typer.Option(
        "--assume",
        metavar="NAME=VALUE",
        help="A rate or duration of your own, as VALUE or LOW..HIGH; --rates prints the names; repeatable.",
    ),
]
Records = Annotated[
    Path | None,
    typer.Option("--kubeconfig", metavar="FILE", help="Correct the published rates by this cluster's own records."),
]
Simulate = Annotated[
    bool, typer.Option("--simulate", help="Also simulate each pool, event by event, over --days, as a check.")
]
Days = Annotated[int, typer.Option("--days", min=1, max=3650, metavar="DAYS", help="Days that --simulate covers.")]
Seed = Annotated[
    int, typer.Option("--seed", metavar="NUMBER", help="Seed of --simulate; the same seed, the same events.")
]
State = Annotated[
    Path | None,
    typer.Option(
        "--state", metavar="FILE", help="Keep the simulation in this file; an interrupted one is continued from it."
    ),
]
ShowRates = Annotated[bool, typer.Option("--rates", help="Also print all rates with ranges, sources and dates.")]


def goodput(  # noqa: PLR0917 - each is an option
    stack: Stack = DEFAULT_STACK,
    assume: Assume = None,
    rates: ShowRates = False,
    simulate: Simulate = False,
    days: Days = 365,
    seed: Seed = 1,
    state: State = None,
    kubeconfig: Records = None,
    context: Context = None,
    from_: From = None,
    file: Files = None,
    set_: Assignments = None,
    json: Json = False,
) -> None:
    """Estimate the useful share of GPU time of each pool, what costs the rest, and what changes of settings are worth.

    The work is the setting usualLoad of each pool. Rates of faults, evictions and repairs are published ones with
    their ranges; --kubeconfig and --from correct them by the records of a cluster.
    """
    from workbench.cli.goodput import Asked, NoLoad, Stopped, results
    from workbench.cli.loaded_stack import read_loaded
    from workbench.cli.output.goodput import print_results
    from workbench.goodput.document import document

    recorded = None if from_ is None else opened(from_, stack, kubeconfig=kubeconfig, context=context)
    stack = recorded.stack if recorded else stack
    loaded = recorded.loaded(file, set_) if recorded else read_loaded(stack, file, set_)
    asked = Asked(loaded.settings, tuple(assume or ()), simulate, days, seed, state)
    try:
        found, without = results(asked, recorded, kubeconfig, context)
    except NoLoad as problem:
        raise typer.BadParameter(str(problem), param_hint=stack) from None
    except Stopped:
        raise typer.Exit(INTERRUPTED) from None
    if json:
        print_json(document(stack, found, without))
    else:
        print_results(stack, found, without, rates=rates)
