"""The caller's login to Azure, and the subscription it is used for."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from workbench.preflight import Azure
    from workbench.preflight.rest import Exchange, Get

SUBSCRIPTION_VARIABLE = "ARM_SUBSCRIPTION_ID"
"""The variable that the Azure provider reads too."""


def subscription_of_login(get: Get, chosen: str | None = None) -> str:
    """The chosen subscription, that of the environment, or the only one of the login.

    Raises:
        Unanswered: the login has none.
        typer.BadParameter: the login has several subscriptions, and nothing selects one.
    """
    from workbench.preflight import Unanswered
    from workbench.preflight.rest import subscriptions

    if named := chosen or os.environ.get(SUBSCRIPTION_VARIABLE):
        return named
    found = subscriptions(get)
    if not found:
        raise Unanswered("the login has no subscription")
    if len(found) > 1:
        named = "; ".join(f"{each.id} ({each.name})" for each in found)
        raise typer.BadParameter(
            f"the login has several subscriptions; select one: {named}", param_hint=f"${SUBSCRIPTION_VARIABLE}"
        )
    return found[0].id


def azure_of_login(subscription: str | None) -> tuple[Azure | None, str | None]:
    """Azure as the caller sees it; or None, and the reason why it is not queried.

    Raises:
        typer.BadParameter: the login has several subscriptions, and no option selects one.
    """
    from workbench.preflight import AzureRest, Unanswered
    from workbench.preflight.login import NoLogin

    try:
        get, exchange = _login(), _exchange()
    except NoLogin as problem:
        return None, f"no login: {problem}"
    try:
        return AzureRest(get, subscription_of_login(get, subscription), exchange), None
    except Unanswered as problem:
        return None, str(problem)


def _login() -> Get:
    from workbench.preflight.login import logged_in

    return logged_in()


def _exchange() -> Exchange:
    from workbench.preflight.login import logged_in_to_change

    return logged_in_to_change()
