"""Changes of settings for the table of their impact on running work."""

from __future__ import annotations

from dataclasses import dataclass

from tests.simulator.physai import fixed

BASE = (
    *("--set", "pools.h100gpu.scale={min: 0, max: 4, initial: 1, count: null}"),
    *("--set", "pools.rtxprogpu.scale={min: 0, max: 4, initial: 1, count: null}"),
)
"""Settings of the stack before each change: room for all of the work."""


def sets(*settings: str) -> tuple[str, ...]:
    return tuple(word for each in settings for word in ("--set", each))


@dataclass(frozen=True)
class Change:
    """A change of settings.

    Attributes:
        title: Name in the table.
        before: Settings that hold before the change too.
        has_way_back: False for a change that the program, or NVIDIA, lets nobody take back.
        budget: True if a disruption budget lets the service with a GPU go never, until the way back.
        during: Settings of a change that is made first, and whose upgrade still waits for work when this one begins.
        stays: True for a change that is no reason for another node: it stays when the next one is made, and all of
            these have one way back.
        refused: Text of the refusal with which `up` has to end; empty for a change that is made.
    """

    title: str
    settings: tuple[str, ...]
    before: tuple[str, ...] = ()
    has_way_back: bool = True
    budget: bool = False
    during: tuple[str, ...] = ()
    stays: bool = False
    refused: str = ""


DRIVER, OTHER_DRIVER = sets("gpuOperator.driver.version=580.178.04"), sets("gpuOperator.driver.version=595.91.07")
IMAGE = sets("pools.h100gpu.osSku=Ubuntu2204")
OLDER_OSMO = sets("osmo.imageTag=6.3.0")
STAND_IN = sets(
    "pools.h100reg={sku: Standard_NC40ads_H100_v5, driver: {source: operator}, priority: Regular,"
    " osDisk: {type: Managed, sizeGb: 512}, subnet: 10.40.3.0/26, scale: {min: 0, max: 2},"
    " capacity: {platform: h100}}",
    "pools.h100gpu.capacity={platform: h100}",
)
ALL_BACK = "all that stayed, back"
"""Title of the way back of the changes that stay."""
NEWER = "gpuOperator.version=v26.7.2"
NEWEST = sets(NEWER, "cluster.kubernetesVersion='1.37'")
CHANGES = (
    Change(ALL_BACK, (), has_way_back=False),
    Change("labels of nodes", sets("pools.h100gpu.labels={team: vision}")),
    Change("a higher maximum", sets("pools.h100gpu.scale.max=6")),
    Change("a taint for new Pods", sets("pools.h100gpu.taints=['team=a:NoSchedule']")),
    Change("a taint that evicts", sets("pools.h100gpu.taints=['team=a:NoExecute']")),
    Change("shared GPUs", sets("pools.h100gpu.sharing={timeSlicing: {replicas: 4}}")),
    Change("another driver", DRIVER),
    Change("another driver, and a budget", DRIVER, budget=True),
    Change("another driver, while one is installed", OTHER_DRIVER, during=DRIVER),
    Change("another size", sets("pools.h100gpu.sku=Standard_NC80adis_H100_v5")),
    Change("a larger disk", sets("pools.h100gpu.osDisk.sizeGb=1024")),
    Change("another node image", IMAGE),
    Change("another node image, and a budget", IMAGE, budget=True, refused="disruption budget"),
    Change("another node image, while a driver is installed", IMAGE, during=DRIVER),
    Change("zones", sets("pools.h100gpu.zones=['1']")),
    Change("no Spot", sets("pools.rtxprogpu.priority=Regular")),
    Change("both pools of a gang", sets("pools.h100gpu.osDisk.sizeGb=1024", "pools.rtxprogpu.priority=Regular")),
    Change("a higher price for Spot", sets("pools.h100gpu.spot.maxPrice=5")),
    Change("no vGPU pool", sets("pools.rtxprogpu=null")),
    Change(
        "GRID driver, by force", sets("gridDriver.version=580.105.08"), before=sets("gridDriver.upgradePolicy=force")
    ),
    Change("fewer of fixed nodes", fixed("h100gpu", 3), before=fixed("h100gpu", 4)),
    Change("fixed nodes", fixed("h100gpu", 4)),
    Change("a quota of GPUs", sets("osmo.gpuQuota=4"), stays=True),
    Change("a newer OSMO", sets("osmo.imageTag=6.3.1"), before=OLDER_OSMO),
    Change("a stand-in for Spot", STAND_IN),
    Change("warm nodes", sets("pools.h100gpu.capacity={warm: 1}"), stays=True),
    Change("maintenance windows", sets("cluster.upgrades.nodeOsWindow.startHour=3"), stays=True),
    Change("channel of node images", sets("cluster.upgrades.nodeOsChannel=SecurityPatch"), stays=True),
    Change("autoscaler", sets("cluster.autoscaler.scaleDownUnneededMinutes=30"), stays=True),
    Change("an SLA for the control plane", sets("cluster.tier=Standard"), stays=True),
    Change(
        "a reader of the cluster",
        sets("access.principals=[{principalId: 00000000-0000-4000-8000-000000000001}]"),
        stays=True,
    ),
    Change("no CDI", sets("gpuOperator.cdi=false"), stays=True),
    Change("queues per pool", sets("osmo.queues=perPool"), stays=True),
    Change(
        "a guarantee of a platform",
        sets("osmo.platforms={h100gpu: {quota: {guarantee: 1, maximum: 4}}}"),
        before=sets("osmo.queues=perPool"),
        stays=True,
    ),
    Change("isolation of the platform", sets("network.isolation.platform=deny"), stays=True),
    Change("a refusing admission", sets("admission.podSecurity=deny", "admission.gpuPods=deny"), stays=True),
    Change("a newer operator", sets(NEWER), has_way_back=False),
    Change("a newer Kubernetes", NEWEST, before=sets(NEWER), has_way_back=False),
    Change(
        "a toolkit that containerd refuses",
        (*NEWEST, *sets("gpuOperator.toolkit.runtimeConfigSource=command")),
        before=NEWEST,
        has_way_back=False,
    ),
)


def rank(change: Change) -> int:
    """Place in the order of the changes: those that stay, their way back, and last those that nobody takes back."""
    if change.stays:
        return 0
    return 1 if change.title == ALL_BACK else 2 if change.has_way_back else 3


ORDERED = sorted(CHANGES, key=rank)
