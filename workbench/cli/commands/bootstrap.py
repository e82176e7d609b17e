"""The `bootstrap` command: prints the script that creates what pipelines need in Azure and on GitHub."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from workbench.cli.console import doing, err, print_json
from workbench.cli.options import Json

if TYPE_CHECKING:
    from workbench.cli.bootstrap_names import Delivery
    from workbench.cli.bootstrap_script import Needs

Repository = Annotated[str, typer.Option("--repository", metavar="OWNER/NAME", help="The repository on GitHub.")]
Subscriptions = Annotated[
    list[str],
    typer.Option(
        "--subscription",
        metavar="ENV=ID",
        help="The subscription of an environment, such as dev=ID; repeatable. Each environment needs its own.",
    ),
]
Location = Annotated[str, typer.Option("--location", help="The region of state and keys.")]
Print = Annotated[bool, typer.Option("--print", help="Print the steps; this command does nothing else.")]


def bootstrap(
    repository: Repository,
    subscription: Subscriptions,
    location: Location = "westus2",
    print_: Print = True,
    json: Json = False,
) -> None:
    """Print a script that creates what pipelines need to deploy: state, keys and identities.

    Nothing is created. Read the script, then run it: physai bootstrap … > bootstrap.sh; bash bootstrap.sh
    """
    from physical_ai.settings import deployed_to_azure
    from workbench.cli.bootstrap_script import InvalidValue, deliveries, script, steps

    stacks = tuple(deployed_to_azure())
    try:
        delivered = deliveries(_by_environment(subscription), repository, location, stacks)
    except InvalidValue as problem:
        raise typer.BadParameter(str(problem)) from None
    with doing(f"reading what the program declares for {', '.join(stacks)}"):
        needs = {each.environment: _needs(each) for each in delivered}
    found = steps(delivered, needs)
    if json:
        print_json({"steps": [{"title": each.title, "why": each.why, "lines": list(each.lines)} for each in found]})
        return
    print(script(found), end="")
    err.print(f"{len(found)} steps, none executed. The script stops at the first failure and can run again")


def _needs(delivery: Delivery) -> Needs:
    """Requirements of an environment's stacks in Azure, from the resources that the program declares for them."""
    from workbench.cli.bootstrap_script import Needs
    from workbench.cli.declared_needs import declared_of, foreign_to
    from workbench.preflight.declared import registrations, undescribed

    declared = [resource for stack in delivery.stacks for resource in declared_of(stack)]
    for each in undescribed(declared):
        text = (
            f"note: {each.type} {each.name}: the platform declares nothing of this type. Register its resource provider"
        )
        err.print(f"{text} in the subscription of {delivery.environment} yourself.", markup=False, style="yellow")
    return Needs(tuple(registrations(declared)), tuple(foreign_to(declared, delivery.subscription)))


def _by_environment(texts: list[str]) -> dict[str, str]:
    """Subscription ids by environment, from texts `ENVIRONMENT=ID`. Raises typer.BadParameter for other texts."""
    found: dict[str, str] = {}
    for text in texts:
        environment, equals, subscription = text.partition("=")
        if not equals:
            raise typer.BadParameter(f"{text!r} is not a pair ENV=ID, as dev=ID", param_hint="--subscription")
        if environment in found:
            raise typer.BadParameter(f"{environment} is given twice", param_hint="--subscription")
        found[environment] = subscription
    return found
