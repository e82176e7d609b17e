"""Keys that other tools (AKS, Terraform, Bicep) use for node pools, each with the key to write here, or with the advice
that this project has none.

The table is needed because the most similar name may be wrong: `tags` is not a misspelling of `taints`.
"""

from __future__ import annotations

from dataclasses import dataclass

from physical_ai.settings.layers.paths import Path


@dataclass(frozen=True)
class Elsewhere:
    """A key that other tools have, and this project does not."""

    names: tuple[str, ...]
    """Spellings of the key, in lower case and without `-` and `_`, since people write them in different ways."""
    advice: str
    instead: str | None = None
    """Field of a pool that has the same purpose; None if no field has it."""


OF_POOL = 3
"""Number of steps in the path of a pool's key, such as `pools.h100.scale`."""
_NOT = "It is not supported"
KEYS = (
    Elsewhere(
        ("capacityreservation", "capacityreservationgroup", "capacityreservationgroupid", "capacityreservationid"),
        "Write capacity: {reservation: {group: …}}, or machines: … to reserve them.",
        "capacity",
    ),
    Elsewhere(
        ("kubeletconfig", "topologymanagerpolicy", "cpumanagerpolicy", "kubeletextraargs"),
        "Write kubelet: {topologyManagerPolicy: …, cpuManagerPolicy: …}, of a GPU pool. All else is as AKS has it.",
        "kubelet",
    ),
    Elsewhere(
        ("linuxosconfig", "linuxos", "sysctl", "sysctls", "hugepages", "transparenthugepageenabled", "ulimits"),
        f"{_NOT}: nodes have AKS' configuration of Linux.",
    ),
    Elsewhere(("scaledownmode",), f"{_NOT}: nodes are deleted, never deallocated. scale keeps some.", "scale"),
    Elsewhere(
        ("evictionpolicy", "scalesetevictionpolicy", "spotevictionpolicy"),
        f"{_NOT}: an evicted Spot node is deleted, never deallocated. spot has the other settings.",
        "spot",
    ),
    Elsewhere(("tags", "nodetags", "agentpooltags"), "Tags are the stack's, for all resources: the section tags."),
    Elsewhere(
        ("proximityplacementgroup", "proximityplacementgroupid", "placementgroup"),
        f"{_NOT}: the sizes with InfiniBand are placed together by Azure; zones chooses a zone.",
        "zones",
    ),
    Elsewhere(
        ("gpuinstanceprofile", "miginstanceprofile", "migprofile", "mig"),
        "AKS' own MIG profile is not used: write sharing.mig.",
        "sharing",
    ),
    Elsewhere(
        ("gpuprofile", "managedgpu", "enablemanagedgpu", "managedgpuexperience", "gpudriver"),
        "Write driver.source: who installs the driver.",
        "driver",
    ),
    Elsewhere(
        ("nodepublicip", "enablenodepublicip", "publicip", "nodepublicipprefixid", "assignpublicip"),
        f"{_NOT}: nodes have no public addresses.",
    ),
    Elsewhere(("fips", "enablefips", "fipsenabled"), f"{_NOT}: the drivers are built for kernels without it."),
    Elsewhere(("encryptionathost", "enableencryptionathost", "hostencryption"), f"{_NOT}."),
    Elsewhere(("ultrassd", "enableultrassd", "ultrassdenabled"), f"{_NOT}."),
    Elsewhere(("vmsize", "instancetype", "machinetype", "size"), "Write sku.", "sku"),
    Elsewhere(
        ("count", "nodecount", "mincount", "maxcount", "minnodes", "maxnodes", "enableautoscaling", "desiredsize"),
        "Write scale: how many nodes.",
        "scale",
    ),
    Elsewhere(("osdisksizegb", "osdisksize", "osdisktype", "disksize", "disksizegb"), "Write osDisk.", "osDisk"),
    Elsewhere(("nodetaints",), "Write taints.", "taints"),
    Elsewhere(("nodelabels",), "Write labels.", "labels"),
    Elsewhere(("availabilityzones", "availabilityzone", "zone"), "Write zones.", "zones"),
    Elsewhere(("vnetsubnetid", "subnetid", "vnetsubnet"), "Write subnet, a range of addresses.", "subnet"),
    Elsewhere(("scalesetpriority", "capacitytype", "lowpriority"), "Write priority: Regular, or Spot.", "priority"),
    Elsewhere(("spotmaxprice", "maxprice"), "Write it in the section spot.", "spot"),
    Elsewhere(("upgradesettings", "maxsurge", "surge"), "Write upgrade.", "upgrade"),
)
_BY_NAME = {name: each for each in KEYS for name in each.names}


_BELOW = {
    ("scale", "mincount"): "Write min.",
    ("scale", "minsize"): "Write min.",
    ("scale", "maxcount"): "Write max.",
    ("scale", "maxsize"): "Write max.",
    ("osdisk", "osdisksizegb"): "Write sizeGb.",
    ("osdisk", "osdisktype"): "Write type.",
}
"""Advice for keys of other tools inside a section of a pool, by the name of the section and the key."""


def advice(path: Path) -> str | None:
    """Advice for a key of other tools at `pools.NAME.KEY`, or in a section of a pool if the table has it; None for any
    other key.
    """
    own = [str(each).lower().replace("-", "").replace("_", "") for each in path[OF_POOL - 1 :]]
    if len(own) == 1 and own[0] in _BY_NAME:
        return _BY_NAME[own[0]].advice
    return _BELOW.get((own[0], own[1])) if len(own) == 2 else None
