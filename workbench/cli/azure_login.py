"""Access to Azure with the caller's login, and the choice of the subscription."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from physical_ai.repository import user_folder

if TYPE_CHECKING:
    from physical_ai.subscription.rest import Exchange, Get
    from workbench.preflight import AzureRest
    from workbench.preflight.kept_answers import Kept

SUBSCRIPTION_VARIABLE = "ARM_SUBSCRIPTION_ID"
"""Environment variable with a subscription id, which Pulumi's Azure provider reads, too."""


def subscription_of_login(get: Get, chosen: str | None = None) -> str:
    """Id of the subscription to use: `chosen`, else the one in the environment variable, else the login's only
    subscription.

    Raises:
        Unanswered: the login has no subscription.
        typer.BadParameter: the login has several subscriptions, and nothing selects one.
    """
    from physical_ai.subscription.rest import subscriptions
    from workbench.preflight import Unanswered

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


@dataclass(frozen=True)
class Reached:
    """Access to Azure with the caller's login: clients, and the id of the subscription."""

    azure: AzureRest
    subscription: str
    kept: Kept
    exchange: Exchange | None


def azure_of_login(subscription: str | None, *, fresh: bool = False) -> tuple[Reached | None, str | None]:
    """Access to Azure with the caller's login, and the reason why Azure cannot be asked. Exactly one of the two is
    None.

    Args:
        subscription: Id of the subscription that the caller chooses.
        fresh: True to ignore answers that earlier commands have kept.

    Raises:
        typer.BadParameter: the login has several subscriptions, and no option selects one.
    """
    from workbench.preflight import AzureRest, Unanswered
    from workbench.preflight.kept_answers import Kept
    from workbench.preflight.login import NoLogin

    try:
        get, exchange = _login(), _exchange()
    except NoLogin as problem:
        return None, f"no login: {problem}"
    try:
        chosen = subscription_of_login(get, subscription)
    except Unanswered as problem:
        return None, str(problem)
    kept = Kept(get, answers_folder() / re.sub(r"[^0-9A-Za-z-]", "_", chosen), fresh=fresh)
    return Reached(AzureRest(kept, chosen, exchange), chosen, kept, exchange), None


def answers_folder() -> Path:
    """Folder in which commands keep Azure's answers for later commands."""
    from workbench.preflight.kept_answers import FOLDER

    return user_folder() / FOLDER


def _login() -> Get:
    from workbench.preflight.login import logged_in

    return logged_in()


def _exchange() -> Exchange:
    from workbench.preflight.login import logged_in_to_change

    return logged_in_to_change()
