"""Examples for the rules on zones, upgrades and maintenance."""

from __future__ import annotations

from workbench.policies.examples.model import SYSTEM, Example
from workbench.policies.model import Resource
from workbench.policies.node_pools import AGENT_POOL, MANAGED_CLUSTER
from workbench.policies.reliability import BUDGET, KUBERNETES_WINDOW, MAINTENANCE, NODE_WINDOW

CHANNELS = {"autoUpgradeProfile": {"upgradeChannel": "patch", "nodeOSUpgradeChannel": "NodeImage"}}
SURGED = {"maxSurge": "1", "maxUnavailable": "0", "drainTimeoutInMinutes": 30}


def window(name: str) -> Resource:
    """An AKS maintenance window of 6 hours. `name` is one of the names that AKS reserves, such as the one for node
    image upgrades.
    """
    return Resource(MAINTENANCE, name, {"configName": name, "maintenanceWindow": {"durationHours": 6}}, urn=name)


EXAMPLES: dict[str, list[Example]] = {
    "zones-in-production": [
        Example(
            AGENT_POOL,
            {"vmSize": "Standard_D16ds_v5", "availabilityZones": ["1", "2", "3"]},
            {"availabilityZones": None},
            environment="prod",
        ),
        Example(
            MANAGED_CLUSTER,
            {"agentPoolProfiles": [{**SYSTEM, "vmSize": "Standard_D8ds_v5", "availabilityZones": ["1", "2"]}]},
            {"agentPoolProfiles": [{**SYSTEM, "vmSize": "Standard_D8ds_v5", "availabilityZones": ["1"]}]},
            environment="prod",
        ),
    ],
    "upgrade-channels": [
        Example(
            MANAGED_CLUSTER,
            CHANNELS,
            {"autoUpgradeProfile": {"upgradeChannel": "patch", "nodeOSUpgradeChannel": "Unmanaged"}},
        ),
        Example(MANAGED_CLUSTER, CHANNELS, {"autoUpgradeProfile": {"upgradeChannel": "stable"}}),
    ],
    "maintenance-windows": [
        Example(
            MANAGED_CLUSTER,
            CHANNELS,
            others=(window(KUBERNETES_WINDOW), window(NODE_WINDOW)),
            bad_others=(window(KUBERNETES_WINDOW),),
        ),
        Example(
            MANAGED_CLUSTER,
            {"autoUpgradeProfile": {"upgradeChannel": "none", "nodeOSUpgradeChannel": "None"}},
            {"autoUpgradeProfile": {"upgradeChannel": "patch", "nodeOSUpgradeChannel": "None"}},
        ),
    ],
    "maintenance-window-length": [
        Example(MAINTENANCE, {"maintenanceWindow": {"durationHours": 4}}, {"maintenanceWindow": {"durationHours": 3}}),
    ],
    "upgrade-drains": [
        Example(AGENT_POOL, {"upgradeSettings": SURGED}, {"upgradeSettings": {"maxSurge": "1", "maxUnavailable": "0"}}),
        Example(AGENT_POOL, {"upgradeSettings": SURGED}, {"upgradeSettings": {**SURGED, "maxSurge": "0"}}),
        Example(AGENT_POOL, {"upgradeSettings": SURGED}, {"upgradeSettings": {**SURGED, "maxUnavailable": "1"}}),
        Example(AGENT_POOL, {"scaleSetPriority": "Spot"}, {"scaleSetPriority": "Regular"}),
    ],
    "budgets-let-go": [
        Example(BUDGET, {"spec": {"maxUnavailable": 1}}, {"spec": {"maxUnavailable": 0}}),
        Example(BUDGET, {"spec": {"minAvailable": 1}}, {"spec": {"minAvailable": "100%"}}),
    ],
}
