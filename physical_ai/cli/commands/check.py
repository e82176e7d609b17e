"""The `check` command: would Azure take this stack? Quota, sizes, versions, registrations, rights, tools."""

from __future__ import annotations

import datetime
import os
import shutil
from collections import Counter
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from physical_ai.cli.console import err, out, print_json
from physical_ai.cli.options import DEFAULT_STACK, Assignments, Files, Json, Stack

if TYPE_CHECKING:
    from physical_ai.preflight import Azure, Finding
    from physical_ai.preflight.rest import Get

FINDINGS = 3
SUBSCRIPTION_VARIABLE = "ARM_SUBSCRIPTION_ID"
"""Which the Azure provider reads too."""
_STYLE = {"ok": "green", "unknown": "dim", "warning": "yellow", "error": "red"}


class Least(StrEnum):
    """From which severity on a finding counts."""

    UNKNOWN = "unknown"
    WARNING = "warning"
    ERROR = "error"


Severity = Annotated[Least, typer.Option("--severity", help="Exit with 3 when a finding is as grave as this.")]
SubscriptionOption = Annotated[
    str | None,
    typer.Option("--subscription", metavar="ID", help=f"Subscription to ask; ${SUBSCRIPTION_VARIABLE} if absent."),
]
Offline = Annotated[bool, typer.Option("--offline", help="Do not ask Azure, logged in or not.")]


def check(  # noqa: PLR0917 - each is an option
    stack: Stack = DEFAULT_STACK,
    subscription: SubscriptionOption = None,
    offline: Offline = False,
    severity: Severity = Least.ERROR,
    file: Files = None,
    set_: Assignments = None,
    json: Json = False,
) -> None:
    """Check before a deployment what Azure would refuse: quota, sizes, versions, registrations, your rights."""
    from physical_ai.cli import stack_input
    from physical_ai.preflight import check as check_

    settings = stack_input.read(stack, file or [], set_ or []).loaded.settings
    azure, why_not = (None, "--offline") if offline else _azure(subscription)
    today = datetime.datetime.now(datetime.UTC).date()
    findings = check_(settings, azure, shutil.which, today)
    if json:
        print_json(_document(stack, settings.region, findings, asked=azure is not None, why_not=why_not))
    else:
        _render(stack, findings, why_not)
    if any(_reaches(each.status.value, severity.value) for each in findings):
        raise typer.Exit(FINDINGS)


def _azure(subscription: str | None) -> tuple[Azure | None, str | None]:
    """Azure as the caller sees it; or None, and why it is not asked.

    Raises:
        typer.BadParameter: the login reaches several subscriptions, and nobody said which.
    """
    from physical_ai.preflight import AzureRest, Unanswered
    from physical_ai.preflight.login import NoLogin

    try:
        get = _login()
    except NoLogin as problem:
        return None, f"no login: {problem}"
    chosen = subscription or os.environ.get(SUBSCRIPTION_VARIABLE)
    try:
        return AzureRest(get, chosen or _only(get)), None
    except Unanswered as problem:
        return None, str(problem)


def _login() -> Get:
    from physical_ai.preflight.login import logged_in

    return logged_in()


def _only(get: Get) -> str:
    """The one subscription that the login reaches."""
    from physical_ai.preflight import Unanswered
    from physical_ai.preflight.rest import subscriptions

    found = subscriptions(get)
    if not found:
        raise Unanswered("the login reaches no subscription")
    if len(found) > 1:
        named = "; ".join(f"{each.id} ({each.name})" for each in found)
        raise typer.BadParameter(f"the login reaches several: {named}", param_hint="--subscription")
    return found[0].id


def _reaches(status: str, least: str) -> bool:
    order = list(_STYLE)
    return order.index(status) >= order.index(least)


def _document(stack: str, region: str, findings: list[Finding], *, asked: bool, why_not: str | None) -> dict[str, Any]:
    return {
        "stack": stack,
        "region": region,
        "azureAsked": asked,
        "whyNot": why_not,
        "summary": dict(Counter(each.status.value for each in findings)),
        "findings": [
            {
                "status": each.status.value,
                "topic": each.topic,
                "subject": each.subject,
                "message": each.message,
                "fix": each.fix,
                "source": each.source,
            }
            for each in findings
        ],
    }


def _render(stack: str, findings: list[Finding], why_not: str | None) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("", "check", "about"):
        table.add_column(column, no_wrap=True)
    table.add_column("result", overflow="fold")
    for each in findings:
        style = _STYLE[each.status.value]
        told = escape(each.message) + (f"\n[dim]{escape(each.fix)}[/]" if each.fix else "")
        table.add_row(f"[{style}]{each.status.value}[/]", each.topic, escape(each.subject), told)
    out.print(table)
    counts = Counter(each.status.value for each in findings)
    summary = ", ".join(f"{counts[name]} {name}" for name in _STYLE if counts[name])
    err.print(f"{stack}: {summary}")
    if why_not is not None:
        hint = "" if why_not == "--offline" else "; az login, or a workload identity, lets this command ask"
        err.print(f"Azure was not asked ({why_not}){hint}", style="yellow", markup=False)
