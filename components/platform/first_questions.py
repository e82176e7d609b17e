"""Checks that ask Azure, before the first resource is created, whether it would accept the deployment. They use the
login of the deployment's provider.

The checks create nothing. A check that Azure does not answer stops no deployment and no preview: a preview may have no
login, and a login may lack a right.
"""

from __future__ import annotations

import os

import pulumi
from pulumi_azure_native import authorization

from components.config import is_simulated
from physical_ai.findings import Finding
from physical_ai.settings import Loaded
from physical_ai.subscription.client import connected
from physical_ai.subscription.first import Answered, ask
from physical_ai.subscription.rest import ARM, AzureRest

ARM_VARIABLE = "PHYSICAL_AI_ARM"
"""Environment variable with the address of the simulated Azure Resource Manager. Only a simulation reads it, so that a
real token is sent to Azure alone.
"""
OTHER_CLOUDS = "The questions are for Azure's public cloud."


def ask_azure(loaded: Loaded, subscription: str) -> None:
    """Asks Azure whether it would accept the settings, and reports problems. A preview, which changes nothing, reports
    them as warnings.

    Raises:
        pulumi.RunError: Azure would refuse the deployment.
    """
    preflight = loaded.settings.preflight
    if not subscription or loaded.settings.record or not any(dict(preflight).values()):
        return
    address, token = _address(), _token()
    if address is None or not token:
        return
    found = ask(loaded.settings, AzureRest(connected(token, address), subscription))
    _report(loaded, found)


def _address() -> str | None:
    """Address of the Azure Resource Manager to ask. None in Azure clouds other than the public one, and in a simulation
    that sets no address: the checks are then skipped.
    """
    if is_simulated(os.environ):
        return os.environ.get(ARM_VARIABLE)
    cloud = os.environ.get("ARM_ENVIRONMENT") or os.environ.get("AZURE_ENVIRONMENT") or "public"
    if cloud.lower() in {"public", "azurecloud", "azurepubliccloud"}:
        return ARM
    pulumi.log.info(f"Azure was not asked before the deployment. {OTHER_CLOUDS}")
    return None


def _token() -> str:
    """Token of the provider's login; empty if the provider has no login."""
    try:
        return authorization.get_client_token().token or ""
    except Exception as problem:  # the SDK raises plain Exception for whatever the provider answers
        reason = str(problem).strip().partition("\n")[0]
        pulumi.log.info(f"Azure was not asked before the deployment: the provider has no login for it ({reason}).")
        return ""


def _report(loaded: Loaded, found: Answered) -> None:
    for text in found.unanswered:
        pulumi.log.warn(f"Azure did not answer before the deployment, which goes on: {text}.")
    faults = [loaded.merged.fault(path, each.problem, _fix(each)) for path, each in found.problems]
    if not faults:
        return
    if pulumi.runtime.is_dry_run():
        for each in faults:
            pulumi.log.warn(f"A deployment would stop before its first resource:\n{each.as_warning()}")
        return
    refused = "Azure would refuse this deployment, of which nothing was created:"
    raise pulumi.RunError("\n".join([refused, *map(str, faults)]))


_SWITCHES = {"quota": "quota", "size": "sizes", "kubernetes": "kubernetes", "provider": "providers"}


def _fix(found: Finding) -> str:
    """Advice about a finding: its fix, and the setting under `preflight` that switches off the check."""
    known = f"{found.fix} " if found.fix else ""
    return f"{known}preflight.{_SWITCHES[found.rule]}: false deploys without this question."
