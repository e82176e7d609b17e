"""The `check` command: would Azure, or the cluster that exists already, accept this stack?"""

from __future__ import annotations

import datetime
import shutil
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from physical_ai.cli.azure_login import SUBSCRIPTION_VARIABLE, azure_of_login
from physical_ai.cli.console import print_json
from physical_ai.cli.exit_codes import FINDINGS
from physical_ai.cli.options import DEFAULT_STACK, Assignments, Files, Json, Least, Stack
from physical_ai.findings import Severity, any_at_least

if TYPE_CHECKING:
    from physical_ai.settings import Settings


SubscriptionOption = Annotated[
    str | None,
    typer.Option("--subscription", metavar="ID", help=f"The subscription; ${SUBSCRIPTION_VARIABLE} if omitted."),
]
Offline = Annotated[bool, typer.Option("--offline", help="Do not query Azure or the cluster, even with a login.")]


def check(  # noqa: PLR0917 - each is an option
    stack: Stack = DEFAULT_STACK,
    subscription: SubscriptionOption = None,
    offline: Offline = False,
    severity: Least = Severity.ERROR,
    file: Files = None,
    set_: Assignments = None,
    json: Json = False,
) -> None:
    """Check in advance what Azure would reject in a stack: quota, sizes, versions, registrations, your permissions.

    Without a login it reports what is known offline, and what Azure would have to answer. For a stack on an
    existing cluster, it reads that cluster instead: software, storage, machines, and other owners of its GPUs.
    """
    from physical_ai.cli.declared_needs import foreign_of
    from physical_ai.cli.existing_check import check_existing
    from physical_ai.cli.output import check as output
    from physical_ai.cli.requested_stack import read_stack
    from physical_ai.preflight import check as check_azure
    from physical_ai.preflight.backends import claims
    from physical_ai.preflight.charts import unverified
    from physical_ai.settings.facts.created import region_of

    requested = read_stack(stack, file, set_)
    loaded = requested.loaded
    settings = loaded.settings
    today = datetime.datetime.now(datetime.UTC).date()
    existing = check_existing(loaded, today, offline=offline)
    if existing is not None:
        findings, why_not = existing
        queried, asked = False, "The cluster"
    else:
        azure, why_not = (None, "--offline") if offline else azure_of_login(subscription)
        findings = check_azure(settings, azure, shutil.which, today, partial(foreign_of, requested))
        queried, asked = azure is not None, "Azure"
    findings = [*findings, *unverified(loaded.plan.charts), *claims(settings, _others(stack))]
    if json:
        print_json(output.document(stack, region_of(settings), findings, queried=queried, why_not=why_not))
    else:
        output.print_findings(stack, findings, why_not, asked)
    if any_at_least(findings, severity):
        raise typer.Exit(FINDINGS)


def _others(stack: str) -> Iterator[Settings]:
    """The other stacks of the checkout; one that cannot be loaded deploys nothing."""
    from physical_ai.settings import SettingsError, existing, load

    for name in existing():
        if name != stack:
            try:
                yield load(name).settings
            except SettingsError:
                continue
