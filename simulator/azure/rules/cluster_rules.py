"""Managed cluster rules on the cluster's own properties: names, pools, tier, autoscaler, add-ons."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from simulator.azure import ids
from simulator.azure.bodies import get, items, table
from simulator.azure.errors import Refusal
from simulator.azure.rules.base import Put, on_put, refuse

DNS_PREFIX = re.compile(r"^[A-Za-z0-9]([A-Za-z0-9-]{0,52}[A-Za-z0-9])?$")
DURATIONS = (
    "scale-down-delay-after-add",
    "scale-down-delay-after-failure",
    "scale-down-unneeded-time",
    "scale-down-unready-time",
    "max-node-provision-time",
)


@on_put("ManagedCluster", "mc-dnsprefix", "mc-fqdnsub-custom")
def dns_name(put: Put) -> Iterator[Refusal]:
    prefix, subdomain = put.properties.get("dnsPrefix"), put.properties.get("fqdnSubdomain")
    if (prefix is None) == (subdomain is None):
        message = "Exactly one of dnsPrefix and fqdnSubdomain is required."
        yield refuse(put, "mc-dnsprefix", message, "properties.dnsPrefix")
    elif prefix is not None and not DNS_PREFIX.match(prefix):
        message = f"dnsPrefix '{prefix}' must have 1 to 54 letters, digits and hyphens, a letter or digit at both ends."
        yield refuse(put, "mc-dnsprefix", message, "properties.dnsPrefix")
    zone = get(put.properties, "apiServerAccessProfile.privateDNSZone") or ""
    if subdomain is not None and "/" not in zone:
        message = "fqdnSubdomain needs a custom private DNS zone."
        yield refuse(put, "mc-fqdnsub-custom", message, "properties.fqdnSubdomain")


@on_put("ManagedCluster", "mc-noderg-same", "mc-noderg-exists", "mc-noderg-length")
def node_resource_group(put: Put) -> Iterator[Refusal]:
    name = put.properties.get("nodeResourceGroup")
    if name is None or put.old is not None:
        return
    target = "properties.nodeResourceGroup"
    if name.lower() == ids.group(put.id).lower():
        message = "The node resource group must not be the cluster's own resource group."
        yield refuse(put, "mc-noderg-same", message, target)
    elif put.azure.group_exists(name):
        yield refuse(put, "mc-noderg-exists", f"Node resource group '{name}' already exists.", target)
    if not 1 <= len(name) <= 80:
        yield refuse(put, "mc-noderg-length", f"'{name}' must have 1 to 80 characters.", target)


@on_put("ManagedCluster", "inline-pool-add", "inline-pool-names", "inline-pool-remove", "inline-pool-touch")
def inline_pools(put: Put) -> Iterator[Refusal]:
    """Refusals of inline pools: a PUT of a cluster may change or omit existing pools, but not add new ones."""
    names = [str(profile.get("name")) for profile in items(put.body, "properties.agentPoolProfiles")]
    for name in sorted({name for name in names if names.count(name) > 1}):
        message = f"Agent pool name '{name}' is used twice."
        yield refuse(put, "inline-pool-names", message, "properties.agentPoolProfiles")
    if put.old is None:
        return
    known = {ids.name(pool.id) for pool in put.azure.children(put.id, "AgentPool")}
    for name in names:
        if name not in known:
            message = f"A new agent pool was introduced. Adding agent pools to an existing cluster ({name}) is not"
            message += " allowed through managed cluster operations. For agent pool operations, use the agentPools API."
            yield refuse(put, "inline-pool-add", message, "properties.agentPoolProfiles")


@on_put("ManagedCluster", "mc-autoscaler-duration")
def autoscaler_profile(put: Put) -> Iterator[Refusal]:
    profile = table(put.properties, "autoScalerProfile")
    for name in DURATIONS:
        value = profile.get(name)
        if value is not None and not re.fullmatch(r"\d+m", str(value)):
            message = f"'{value}' is not a whole number of minutes, as 10m."
            yield refuse(put, "mc-autoscaler-duration", message, f"properties.autoScalerProfile.{name}")
    # After a deletion the scan interval is the usual value, in seconds.
    value = profile.get("scale-down-delay-after-delete")
    if value is not None and not re.fullmatch(r"\d+[ms]", str(value)):
        message = f"'{value}' is not a duration, as 10m."
        target = "properties.autoScalerProfile.scale-down-delay-after-delete"
        yield refuse(put, "mc-autoscaler-duration", message, target)


@on_put("ManagedCluster", "mc-addon-oms", "mc-oms-exists", "mc-defender-ws")
def log_analytics(put: Put) -> Iterator[Refusal]:
    addons: dict[str, Any] = table(put.properties, "addonProfiles")
    addon = next((value for name, value in addons.items() if name.lower() == "omsagent"), None)
    if addon and addon.get("enabled"):
        config = {name.lower(): value for name, value in table(addon, "config").items()}
        yield from _workspace(
            put, config.get("loganalyticsworkspaceresourceid"), "mc-addon-oms", "addonProfiles.omsagent"
        )
    defender = table(put.properties, "securityProfile.defender")
    if get(defender, "securityMonitoring.enabled"):
        workspace = defender.get("logAnalyticsWorkspaceResourceId")
        yield from _workspace(put, workspace, "mc-defender-ws", "securityProfile.defender")


def _workspace(put: Put, reference: Any, missing_rule: str, where: str) -> Iterator[Refusal]:
    target = f"properties.{where}"
    if not reference:
        yield refuse(put, missing_rule, "The Log Analytics workspace resource id is not set.", target)
    elif put.azure.get(reference, "Workspace") is None:
        yield refuse(put, "mc-oms-exists", f"Log Analytics workspace {reference} was not found.", target)


@on_put("ManagedCluster", "mc-kms", "mc-cost", "mc-sku-automatic")
def tiers_and_keys(put: Put) -> Iterator[Refusal]:
    kms, tier = table(put.properties, "securityProfile.azureKeyVaultKms"), get(put.body, "sku.tier") or "Free"
    if kms.get("enabled") and not kms.get("keyId"):
        message = "azureKeyVaultKms needs a keyId."
        yield refuse(put, "mc-kms", message, "properties.securityProfile.azureKeyVaultKms.keyId")
    if kms.get("keyVaultNetworkAccess") == "Private" and not kms.get("keyVaultResourceId"):
        message = "azureKeyVaultKms with Private access needs a keyVaultResourceId."
        yield refuse(put, "mc-kms", message, "properties.securityProfile.azureKeyVaultKms.keyVaultResourceId")
    if get(put.properties, "metricsProfile.costAnalysis.enabled") and tier == "Free":
        message = "Cost analysis needs tier Standard or Premium."
        yield refuse(put, "mc-cost", message, "properties.metricsProfile.costAnalysis")
    if get(put.body, "sku.name") == "Automatic" and tier != "Standard":
        yield refuse(put, "mc-sku-automatic", "sku Automatic needs tier Standard.", "sku.tier")
