"""A managed cluster's request body, completed with AKS's defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.azure import ids
from simulator.azure.bodies import Json, get, table
from simulator.azure.data import load_json
from simulator.azure.offers import Offers, location, resolve
from simulator.azure.registry import models

_NETWORK: Mapping[str, Any] = {
    "networkPlugin": "azure",
    "loadBalancerSku": "standard",
    "outboundType": "loadBalancer",
    "serviceCidr": "10.0.0.0/16",
    "dnsServiceIP": "10.0.0.10",
}


@models("mc-sku-tier")
def effective(body: Mapping[str, Any], cluster_id: str) -> Json:
    """Request body of the managed cluster `cluster_id`, with AKS's defaults added."""
    properties = table(body, "properties")
    network: Json = {**_NETWORK, **table(properties, "networkProfile")}
    if network["networkPlugin"] == "azure":
        network.setdefault("networkDataplane", "azure")
    if network.get("networkPluginMode") == "overlay" or network["networkPlugin"] == "kubenet":
        network.setdefault("podCidr", "10.244.0.0/16")
    network.setdefault("networkPolicy", "none")
    return {
        **body,
        "sku": {"name": "Base", "tier": "Free", **table(body, "sku")},
        "properties": {
            "enableRBAC": True,
            "disableLocalAccounts": False,
            "supportPlan": "KubernetesOfficial",
            "nodeResourceGroup": node_group(cluster_id, str(body.get("location", ""))),
            "kubernetesVersion": default_version(),
            **properties,
            "networkProfile": network,
        },
    }


@models("mc-noderg-default")
def node_group(cluster_id: str, place: str) -> str:
    """Name of the cluster's node resource group: `MC_<group>_<name>_<location>`, cut to 80 characters."""
    return f"MC_{ids.group(cluster_id)}_{ids.name(cluster_id)}_{location(place)}"[:80]


def default_version() -> str:
    return str(load_json("kubernetes_versions.json")["default"])


@models("version-minor-alias")
def version_after(body: Mapping[str, Any], current: str | None, offers: Offers) -> str | None:
    """Patch version that the control plane runs after a PUT; None if Azure does not offer the version.

    If the PUT names a minor version, a cluster that runs this minor version keeps its patch version. Any other cluster
    gets the newest patch of the minor version.
    """
    asked = str(get(body, "properties.kubernetesVersion") or default_version())
    if current and (current == asked or (asked.count(".") == 1 and current.startswith(f"{asked}."))):
        return current
    return resolve(asked, offers.versions(long_term=has_long_term(body)))


def has_long_term(body: Mapping[str, Any]) -> bool:
    """True if a cluster has AKS's long-term support plan."""
    return get(body, "properties.supportPlan") == "AKSLongTermSupport"


def control_plane_identity(body: Mapping[str, Any]) -> str | None:
    """Resource id of the cluster's user-assigned control plane identity; None for a cluster without such an
    identity.
    """
    if get(body, "identity.type") != "UserAssigned":
        return None
    return next(iter(table(body, "identity.userAssignedIdentities")), None)
