"""The `obtain` command: shows where a pool is available, and writes the settings for one of its fallbacks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from workbench.cli import azure_login
from workbench.cli.azure_login import SUBSCRIPTION_VARIABLE
from workbench.cli.console import print_json
from workbench.cli.exit_codes import FINDINGS
from workbench.cli.options import DEFAULT_STACK, Assignments, Files, Json, SpotFactor, Stack, write_new_file

if TYPE_CHECKING:
    from physical_ai.settings import Settings
    from workbench.preflight.capacity import Capacity

PoolOption = Annotated[
    str | None, typer.Option("--pool", metavar="NAME", help="Only this pool; all pools with fallbacks if omitted.")
]
FallbackOption = Annotated[
    int | None,
    typer.Option("--fallback", metavar="NUMBER", min=1, help="Use this fallback, not the first available one."),
]
AcceptPrice = Annotated[bool, typer.Option("--accept-price", help="Write a change after which a node may cost more.")]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the change here, as a layer.")
]
SubscriptionOption = Annotated[
    str | None,
    typer.Option("--subscription", metavar="ID", help=f"The subscription; ${SUBSCRIPTION_VARIABLE} if omitted."),
]
Offline = Annotated[bool, typer.Option("--offline", help="Do not query Azure, even with a login.")]
Simulated = Annotated[bool, typer.Option("--simulated", help="Query the stack's simulated Azure.")]


def obtain(  # noqa: PLR0917 - each is an option
    stack: Stack = DEFAULT_STACK,
    pool: PoolOption = None,
    fallback: FallbackOption = None,
    accept_price: AcceptPrice = False,
    output: Output = None,
    subscription: SubscriptionOption = None,
    offline: Offline = False,
    simulated: Simulated = False,
    spot_factor: SpotFactor = None,
    file: Files = None,
    set_: Assignments = None,
    json: Json = False,
) -> None:
    """Compare a pool with its fallbacks by quota, restrictions and price, and write a change for review.

    The command changes nothing itself. It writes a change that may cost more only with --accept-price.
    """
    from physical_ai.settings import Overlay, load
    from workbench.cli.output import obtain as output_of
    from workbench.preflight.capacity import Question
    from workbench.preflight.obtaining import decide, differences, layer

    overlays = [Overlay.read(each) for each in file or ()] + ([Overlay.assign(set_)] if set_ else [])
    loaded = load(stack, overlays)
    settings = loaded.settings
    names = _names(settings, pool, fallback)
    if spot_factor is not None and not 0 < spot_factor <= 1:
        raise typer.BadParameter("use a number above 0 and at most 1", param_hint="--spot-factor")
    azure, why_not = _capacity(stack, subscription, offline=offline, simulated=simulated)
    question = Question(settings, azure, _others(settings, names), spot_factor)
    decisions = [decide(question, name, fallback, accepts_price=accept_price) for name in names]
    change = layer(decisions)
    if change:
        load(stack, [*overlays, Overlay("the change", change)])  # raises with every fault of the changed settings
    if change and output is not None:
        write_new_file(output, output_of.text(settings, decisions, change))
    changes = differences(loaded, change)
    if json:
        print_json(output_of.document(settings, decisions, change, changes, why_not))
    else:
        output_of.print_decisions(settings, decisions, why_not)
        output_of.print_change(settings, decisions, change, changes, output)
    if any(not decision.settled for decision in decisions):
        raise typer.Exit(FINDINGS)


def _names(settings: Settings, wanted: str | None, fallback: int | None) -> list[str]:
    """Names of the pools to compare. Raises typer.BadParameter if no pool has fallbacks or `fallback` is missing."""
    if wanted is not None and wanted not in settings.pools:
        known = ", ".join(settings.pools)
        raise typer.BadParameter(f"{settings.stack} has no pool '{wanted}'. Pools: {known}", param_hint="--pool")
    names = [name for name, pool in settings.pools.items() if wanted in (None, name) and pool.fallbacks]
    if not names:
        where = wanted or "<pool>"
        problem = f"no pool to compare has fallbacks: write them at pools.{where}.fallbacks"
        raise typer.BadParameter(problem, param_hint="--pool" if wanted else "STACK")
    if fallback is not None and (len(names) > 1 or fallback > len(settings.pools[names[0]].fallbacks)):
        problem = "name the pool, too: --pool" if len(names) > 1 else f"{names[0]} has no fallback {fallback}"
        raise typer.BadParameter(problem, param_hint="--fallback")
    return names


def _capacity(
    stack: str, subscription: str | None, *, offline: bool, simulated: bool
) -> tuple[Capacity | None, str | None]:
    """Source of Azure's answers about capacity, and the reason why there is no source. Exactly one of the two is
    None.
    """
    if offline and simulated:
        raise typer.BadParameter("--offline and --simulated exclude each other", param_hint="--simulated")
    if simulated:
        from workbench.cli.simulated_capacity import simulated_capacity

        return simulated_capacity(stack), None
    if offline:
        return None, "--offline"
    reached, why_not = azure_login.azure_of_login(subscription)
    return (reached.azure if reached is not None else None), why_not


def _others(settings: Settings, names: Sequence[str]) -> dict[str, Settings]:
    """Settings of the stacks that fallbacks name, by name. Stacks that cannot be loaded are left out; their fallbacks
    are reported as impossible.
    """
    from physical_ai.settings import SettingsError, load

    found: dict[str, Settings] = {}
    for stack in {each.stack for name in names for each in settings.pools[name].fallbacks if each.stack}:
        try:
            found[stack] = load(stack).settings
        except SettingsError:
            continue
    return found
