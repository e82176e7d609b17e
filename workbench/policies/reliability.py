"""Rules on the availability of a cluster: zones, upgrades, maintenance windows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from physical_ai.catalog import regions
from physical_ai.findings import Severity
from workbench.policies.model import Resource, Rule, Stack, Topic, Violation, known, known_list, known_map
from workbench.policies.node_pools import AGENT_POOL, MANAGED_CLUSTER, pools

MAINTENANCE = "azure-native:containerservice:MaintenanceConfiguration"
BUDGET = "kubernetes:policy/v1:PodDisruptionBudget"
KUBERNETES_WINDOW, NODE_WINDOW = "aksManagedAutoUpgradeSchedule", "aksManagedNodeOSUpgradeSchedule"
SHORTEST_WINDOW = 4
"""Shortest maintenance window in hours (AKS docs, planned-maintenance)."""
_NOTHING = ("0", "0%")


def _zones(resource: Resource, stack: Stack) -> Iterable[Violation]:
    place = regions().get(stack.region)
    if not stack.is_production or place is None or not place.zones:
        return
    for path, pool in pools(resource):
        listing = place.sizes.get(str(known(pool.get("vmSize"))))
        # Which zones offer a GPU size differs by subscription, so nothing is required.
        if listing is not None and listing.zones and len(known_list(pool.get("availabilityZones"))) < 2:
            yield Violation(f"{path}availabilityZones", f"name zones of {place.name}: {', '.join(listing.zones)}")


def _channels(resource: Resource, _: Stack) -> Iterable[Violation]:
    profile = known_map(resource.inputs.get("autoUpgradeProfile"))
    if known(profile.get("nodeOSUpgradeChannel")) == "Unmanaged":
        yield Violation("autoUpgradeProfile.nodeOSUpgradeChannel", "write NodeImage, SecurityPatch or None")
    if (channel := known(profile.get("upgradeChannel"))) in ("rapid", "stable"):
        yield Violation("autoUpgradeProfile.upgradeChannel", f"write patch, node-image or none, not {channel}")


def _windows(resource: Resource, stack: Stack) -> Iterable[Violation]:
    profile = known_map(resource.inputs.get("autoUpgradeProfile"))
    needed = {
        KUBERNETES_WINDOW: known(profile.get("upgradeChannel"), "none") != "none",
        NODE_WINDOW: known(profile.get("nodeOSUpgradeChannel"), "None") != "None",
    }
    declared = {known(each.inputs.get("configName")) for each in stack.of_type(MAINTENANCE)}
    for name, is_needed in needed.items():
        if is_needed and name not in declared:
            yield Violation("autoUpgradeProfile", f"declare a MaintenanceConfiguration {name}")


def _long_enough(resource: Resource, _: Stack) -> Iterable[Violation]:
    hours = known(known_map(resource.inputs.get("maintenanceWindow")).get("durationHours"))
    if hours is not None and hours < SHORTEST_WINDOW:
        yield Violation("maintenanceWindow.durationHours", f"write {SHORTEST_WINDOW} or more")


def _drains(resource: Resource, _: Stack) -> Iterable[Violation]:
    for path, pool in pools(resource):
        if known(pool.get("scaleSetPriority")) == "Spot":
            continue  # ARM rejects their upgradeSettings
        settings = known_map(pool.get("upgradeSettings"))
        if "drainTimeoutInMinutes" not in settings:
            yield Violation(
                f"{path}upgradeSettings.drainTimeoutInMinutes", "set how long to wait for Pods to be evicted"
            )
        surge, away = (_share(settings.get(name)) for name in ("maxSurge", "maxUnavailable"))
        if surge in _NOTHING and away in _NOTHING:
            yield Violation(f"{path}upgradeSettings", "set maxSurge or maxUnavailable above zero")
        if surge not in _NOTHING and away not in _NOTHING:
            yield Violation(f"{path}upgradeSettings", "set one of maxSurge and maxUnavailable to zero")


def _share(value: Any) -> str:
    return str(known(value, "0"))


def _budgets(resource: Resource, _: Stack) -> Iterable[Violation]:
    spec = known_map(resource.inputs.get("spec"))
    if str(known(spec.get("maxUnavailable"), "1")) in _NOTHING:
        yield Violation("spec.maxUnavailable", "write 1 or more")
    if str(known(spec.get("minAvailable"), "0")) == "100%":
        yield Violation("spec.minAvailable", "write less, or maxUnavailable: 1")


RULES = (
    Rule(
        "zones-in-production",
        Severity.ERROR,
        "Operators, schedulers and add-ons in a single zone fail with it, and all GPU pools with them.",
        _zones,
        (AGENT_POOL, MANAGED_CLUSTER),
        topic=Topic.RELIABILITY,
        link="https://learn.microsoft.com/azure/aks/availability-zones",
    ),
    Rule(
        "upgrade-channels",
        Severity.ERROR,
        "Drivers do not load on kernels patched in place; a cluster upgraded to another minor rejects updates.",
        _channels,
        (MANAGED_CLUSTER,),
        topic=Topic.RELIABILITY,
        link="https://learn.microsoft.com/azure/aks/auto-upgrade-node-os-image",
    ),
    Rule(
        "maintenance-windows",
        Severity.ERROR,
        "Without a window AKS reimages GPU nodes at any time, and each node loses its driver and its jobs.",
        _windows,
        (MANAGED_CLUSTER,),
        topic=Topic.RELIABILITY,
        link="https://learn.microsoft.com/azure/aks/planned-maintenance",
        needs_whole_stack=True,
    ),
    Rule(
        "maintenance-window-length",
        Severity.ERROR,
        "AKS accepts windows of four hours or more.",
        _long_enough,
        (MAINTENANCE,),
        topic=Topic.RELIABILITY,
        link="https://learn.microsoft.com/azure/aks/planned-maintenance",
    ),
    Rule(
        "upgrade-drains",
        Severity.ERROR,
        "An upgrade fails if a Pod is not evicted within its drain timeout, and needs surge or unavailable nodes.",
        _drains,
        (AGENT_POOL, MANAGED_CLUSTER),
        topic=Topic.RELIABILITY,
        link="https://learn.microsoft.com/azure/aks/upgrade-aks-node-pools-rolling",
    ),
    Rule(
        "budgets-let-go",
        Severity.ERROR,
        "AKS refuses upgrades, and node images, while any budget in the cluster allows no eviction.",
        _budgets,
        (BUDGET,),
        topic=Topic.RELIABILITY,
        link="https://kubernetes.io/docs/tasks/run-application/configure-pdb/",
    ),
)
