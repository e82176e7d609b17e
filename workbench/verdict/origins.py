"""Lookup of the setting of a stack that a resource comes from. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from workbench.verdict.model import Said, Subject

_POOL: Mapping[str, str] = {
    "ossku": "osSku",
    "vmsize": "sku",
    "sku": "sku",
    "osdisk": "osDisk",
    "ephemeral": "osDisk",
    "availabilityzones": "zones",
    "zone": "zones",
    "spot": "spot",
    "scalesetpriority": "priority",
    "lowpriority": "priority",
    "gpuprofile": "driver",
    "vnetsubnetid": "subnet",
    "count": "scale",
    "quota": "scale",
    "upgradesettings": "upgrade",
    "securityprofile": "secureBoot",
    "maxpods": "maxPods",
    "capacityreservationgroup": "capacity.reservation",
}
"""Key of a pool's settings, by a word in lower case. The first word that occurs in ARM's message shows which setting
the message is about.
"""
_TYPES: Mapping[str, str] = {
    "Microsoft.Resources/resourceGroups": "region",
    "Microsoft.ContainerService/managedClusters": "cluster",
    "Microsoft.ContainerService/managedClusters/maintenanceConfigurations": "cluster.upgrades",
    "Microsoft.Compute/capacityReservationGroups": "pools",
    "Microsoft.Compute/capacityReservationGroups/capacityReservations": "pools",
    "Microsoft.Network/natGateways": "network.outbound",
    "Microsoft.Network/publicIPAddresses": "network.outbound",
    "Microsoft.Network/virtualNetworks": "network.addressSpace",
    "Microsoft.Network/networkSecurityGroups": "network",
    "Microsoft.Network/virtualNetworks/subnets": "network",
    "Microsoft.Network/networkSecurityGroups/securityRules": "network",
    "Microsoft.Network/virtualNetworks/virtualNetworkPeerings": "network.private.hub",
    "Microsoft.Network/virtualNetworkGateways": "network.private.vpn",
    "Microsoft.Network/dnsResolvers": "network.private.resolver",
    "Microsoft.Network/dnsResolvers/inboundEndpoints": "network.private.resolver",
    "Microsoft.Network/privateEndpoints": "network.private",
    "Microsoft.Network/privateEndpoints/privateDnsZoneGroups": "network.private",
    "Microsoft.Network/privateDnsZones": "network.private",
    "Microsoft.Network/routeTables": "network.private.firewall",
    "Microsoft.Network/dnsZones/CNAME": "osmo.access.dns",
    "Microsoft.DBforPostgreSQL/flexibleServers": "dataServices.postgres",
    "Microsoft.Cache/redisEnterprise": "dataServices.redis",
    "Microsoft.Storage/storageAccounts": "dataServices.storage",
    "Microsoft.KeyVault/vaults": "dataServices.vault",
    "Microsoft.ContainerRegistry/registries": "dataServices.registry",
    "Microsoft.ContainerRegistry/registries/cacheRules": "dataServices.registry.upstreams",
    "Microsoft.OperationalInsights/workspaces": "monitoring",
    "Microsoft.Insights": "monitoring",
    "Microsoft.Monitor": "monitoring",
    "Microsoft.AlertsManagement": "monitoring.rules",
    "Microsoft.Dashboard": "monitoring.grafana",
    "Microsoft.Authorization/roleAssignments": "access",
}
"""Paths of settings by ARM type. A type that is not listed takes the path of its parent type, or of its provider."""
_CLUSTER: Mapping[str, str] = {
    "kubernetesversion": "cluster.kubernetesVersion",
    "orchestratorversion": "cluster.kubernetesVersion",
    "vcpu": "systemPool.scale",
    "agentpoolprofiles": "systemPool",
    "supportplan": "cluster.supportPlan",
    "authorizedip": "cluster.apiAccess.authorizedIpRanges",
}


def setting(subject: Subject, said: Said, pools: Sequence[str]) -> str:
    """Path of the setting that declares a resource; if ARM's message names a property with a setting of its own, the
    path of that setting. Empty if no setting is known.
    """
    words = f"{said.code} {said.target} {said.message}".lower()
    if subject.arm_type.endswith("/agentPools"):
        name = subject.resource_id.rpartition("/")[2]
        at = "systemPool" if name == "system" else f"pools.{name}" if name in pools else "cpuPool"
        if "kubernetes" in words or "orchestratorversion" in words:
            return "cluster.kubernetesVersion"
        key = next((key for word, key in _POOL.items() if word in words), "")
        return f"{at}.{key}" if key else at
    if subject.arm_type == "Microsoft.ContainerService/managedClusters":
        return next((path for word, path in _CLUSTER.items() if word in words), "cluster")
    if subject.arm_type == "Microsoft.Network/virtualNetworks/subnets":
        pool = re.sub(r"^snet-", "", subject.resource_id.rpartition("/")[2])
        return f"pools.{pool}.subnet" if pool in pools else "network"
    kind = subject.arm_type
    while kind:
        if kind in _TYPES:
            return _TYPES[kind]
        kind = kind.rpartition("/")[0]
    return ""
