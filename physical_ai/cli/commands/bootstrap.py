"""The `bootstrap` command: what has to be created once in Azure and on GitHub before pipelines deploy."""

from __future__ import annotations

from typing import Annotated

import typer

from physical_ai.cli.console import err, print_json
from physical_ai.cli.options import Json

ENVIRONMENTS = ("dev", "staging", "prod")

Repository = Annotated[str, typer.Option("--repository", metavar="OWNER/NAME", help="The repository on GitHub.")]
Subscription = Annotated[
    str, typer.Option("--subscription", envvar="ARM_SUBSCRIPTION_ID", help="The subscription to deploy to.")
]
Location = Annotated[str, typer.Option("--location", help="The region of state and keys.")]
Environments = Annotated[
    list[str] | None,
    typer.Option("--environment", help="An environment; dev, staging and prod if omitted; repeatable."),
]
Print = Annotated[bool, typer.Option("--print", help="Print the steps; this command does nothing else.")]


def bootstrap(  # noqa: PLR0917 - each is an option
    repository: Repository,
    subscription: Subscription,
    location: Location = "westus2",
    environment: Environments = None,
    print_: Print = True,
    json: Json = False,
) -> None:
    """Print a script that creates what pipelines need to deploy: state, keys and identities.

    Nothing is created. Read the script, then run it: physai bootstrap … > bootstrap.sh; bash bootstrap.sh
    """
    from physical_ai.cli.bootstrap_plan import Delivery, InvalidValue, script, steps
    from physical_ai.settings import existing, load

    chosen = tuple(environment or ENVIRONMENTS)
    stacks = tuple(name for name in existing() if not load(name).settings.record)
    try:
        delivery = Delivery(subscription, repository, location, chosen, stacks)
    except InvalidValue as problem:
        raise typer.BadParameter(str(problem)) from None
    found = steps(delivery)
    if json:
        print_json([{"title": each.title, "why": each.why, "lines": list(each.lines)} for each in found])
        return
    print(script(delivery), end="")
    err.print(f"{len(found)} steps, none executed. The script stops at the first failure and can run again")
