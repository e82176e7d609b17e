"""The Kubernetes nodes of a pool, as AKS registers them: names, labels, taints, provider ids, capacity."""

from __future__ import annotations

import hashlib
import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from physical_ai import catalog
from physical_ai.catalog.seen import seen_of_size
from physical_ai.catalog.vendors import NVIDIA
from simulator.azure import ids, pools, reservations
from simulator.azure.bodies import Json, get, table
from simulator.azure.guids import boot_guid, physical_host, vm_guid
from simulator.azure.offers import Offers
from simulator.azure.own_facts import IMAGE_LABEL, POOL_LABEL, SHORT_POOL_LABEL
from simulator.azure.places import vcpus
from simulator.azure.registry import models
from simulator.cluster.names import HOST_DRIVER, PHYSICAL_HOST, SECURE_BOOT

IMAGE_VERSION = "202611.05.0"
AKS_DRIVERS = {"datacenter": "580.159.04", "grid": "595.58.03"}
"""Drivers of AKS's node images, by kind (Azure/AgentBaker, cuda-lts and aks-gpu-grid-v20, August 2026)."""
GIB_IN_KIB = 1024 * 1024

KERNELS = {"22.04": "5.15.0-1102-azure", "24.04": "6.8.0-1041-azure", "AzureLinux": "6.6.104.2-4.azl3"}
AZURE_LINUX_CONTAINERD = "2.0.0"
"""Version of containerd on Azure Linux nodes. Assumed, not verified: the catalogue has none for Azure Linux."""


@dataclass(frozen=True)
class PoolFacts:
    """Everything that determines how a pool's nodes look."""

    cluster_id: str
    node_resource_group: str
    location: str
    version: str
    """Kubernetes patch version of the kubelets: `1.36.3`."""
    name: str
    spec: Mapping[str, Any]
    """The pool's properties with AKS's defaults."""
    cluster: Mapping[str, Any]
    """The cluster's body with AKS's defaults."""
    kubelet_client_id: str
    ubuntu: str
    """Ubuntu release that osSKU Ubuntu means: `24.04`."""
    image: str = IMAGE_VERSION
    """Version of the node image."""

    @property
    def release(self) -> str:
        return os_release(self.spec, self.ubuntu)


@models("ubuntu-default")
def os_release(spec: Mapping[str, Any], ubuntu: str) -> str:
    """Release of a node's operating system: `22.04`, `24.04` or `AzureLinux`."""
    sku = str(spec["osSKU"])
    if sku.startswith(("AzureLinux", "CBLMariner")):
        return "AzureLinux"
    return {"Ubuntu2204": "22.04", "Ubuntu2404": "24.04"}.get(sku, ubuntu)


def base36(value: int) -> str:
    """A scale set instance number as Azure writes it in a host name: 10 → `00000a`."""
    digits = "0123456789abcdefghijklmnopqrstuvwxyz"
    text = ""
    while value:
        value, rest = divmod(value, 36)
        text = digits[rest] + text
    return text.rjust(6, "0")


def scale_set(cluster_id: str, pool: str) -> str:
    """Name of a pool's scale set: `aks-<pool>-<8 digits>-vmss`; the digits are the same for all pools of a cluster."""
    digest = hashlib.sha256(ids.key(cluster_id).encode()).hexdigest()
    return f"aks-{pool}-{int(digest, 16) % 10**8:08d}-vmss"


def node_name(cluster_id: str, pool: str, index: int) -> str:
    return scale_set(cluster_id, pool) + base36(index)


def zone_of(spec: Mapping[str, Any], location: str, index: int) -> str:
    """Zone label of an instance.

    A scale set spreads its instances over its zones in turn; without zones the label is the fault domain, 0.
    """
    zones: Sequence[str] = spec.get("availabilityZones") or ()
    return f"{location}-{sorted(zones)[index % len(zones)]}" if zones else "0"


def free_addresses(prefix: str, taken: Sequence[str], wanted: int) -> list[str]:
    """The lowest free addresses of a subnet, without the five that Azure reserves; fewer than `wanted` if the subnet is
    full.
    """
    network = ipaddress.ip_network(prefix)
    used = set(taken)
    found: list[str] = []
    for offset in range(4, network.num_addresses - 1):
        if len(found) == wanted:
            break
        address = str(network[offset])
        if address not in used:
            found.append(address)
    return found


def capacity(size: catalog.VmSize, spec: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    """Capacity and allocatable amounts of a node, without GPUs: a device plugin has to report them first."""
    disk_gib, max_pods = int(spec["osDiskSizeGB"]), int(spec["maxPods"])
    cpus = vcpus(size.name)
    fixed = {"hugepages-1Gi": "0", "hugepages-2Mi": "0", "pods": str(max_pods)}
    total = {
        "cpu": str(cpus),
        "memory": f"{size.memory_gib * GIB_IN_KIB}Ki",
        "ephemeral-storage": f"{disk_gib * GIB_IN_KIB}Ki",
        **fixed,
    }
    usable = {
        "cpu": f"{reservations.cpu_millis(cpus)}m",
        "memory": f"{reservations.memory_mib(size.memory_gib, max_pods) * 1024}Ki",
        "ephemeral-storage": str(reservations.disk_bytes(disk_gib)),
        **fixed,
    }
    # Values observed on a node of this size take precedence over those computed by AKS's formulas.
    return total | seen_of_size(size.name, "capacity"), usable | seen_of_size(size.name, "allocatable")


def runtime(release: str) -> str:
    """The node's container runtime, from the catalogue's table of node images: `containerd://2.3.0`."""
    if release == "AzureLinux":
        return f"containerd://{AZURE_LINUX_CONTAINERD}"
    return f"containerd://{catalog.node_images()[f'Ubuntu {release}'].containerd}"


def image_name(release: str, version: str = IMAGE_VERSION) -> str:
    """Name of a node image: `AKSUbuntu-2404gen2containerd-202611.05.0` for release 24.04."""
    if release == "AzureLinux":
        return f"AKSAzureLinux-V3gen2-{version}"
    return f"AKSUbuntu-{release.replace('.', '')}gen2containerd-{version}"


def next_image(version: str) -> str:
    """The node image that follows this one: `202611.05.1` after `202611.05.0`."""
    month, day, number = version.split(".")
    return f"{month}.{day}.{int(number) + 1}"


@models("gpu-server-labels")
def labels(pool: PoolFacts, size: catalog.VmSize, index: int) -> dict[str, str]:
    """Labels of a node: AKS's own (AKS docs, use-labels) and those of its pool."""
    spec, zone, name = pool.spec, zone_of(pool.spec, pool.location, index), node_name(pool.cluster_id, pool.name, index)
    network = table(pool.cluster, "properties.networkProfile")
    sku, disk = str(spec["osSKU"]), str(spec["osDiskType"]).lower()
    effective = f"Ubuntu{pool.release.replace('.', '')}" if sku.startswith("Ubuntu") else sku
    own = {
        SHORT_POOL_LABEL: pool.name,
        "beta.kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/instance-type": size.name,
        "beta.kubernetes.io/os": "linux",
        "failure-domain.beta.kubernetes.io/region": pool.location,
        "failure-domain.beta.kubernetes.io/zone": zone,
        POOL_LABEL: pool.name,
        "kubernetes.azure.com/cluster": pool.node_resource_group,
        "kubernetes.azure.com/kubelet-identity-client-id": pool.kubelet_client_id,
        "kubernetes.azure.com/mode": str(spec["mode"]).lower(),
        IMAGE_LABEL: image_name(pool.release, pool.image),
        "kubernetes.azure.com/nodepool-type": str(spec["type"]),
        "kubernetes.azure.com/os-sku": sku.removesuffix("2204").removesuffix("2404"),
        "kubernetes.azure.com/os-sku-effective": effective,
        "kubernetes.azure.com/os-sku-requested": sku,
        "kubernetes.azure.com/role": "agent",
        "kubernetes.azure.com/sku-cpu": str(vcpus(size.name)),
        "kubernetes.azure.com/sku-memory": str(size.memory_gib * 1024),
        "kubernetes.azure.com/storageprofile": disk,
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": size.name,
        "storageprofile": disk,
        "topology.kubernetes.io/region": pool.location,
        "topology.kubernetes.io/zone": zone,
    }
    if disk == "managed":
        own |= {"kubernetes.azure.com/storagetier": "Premium_LRS", "storagetier": "Premium_LRS"}
    if network.get("networkPluginMode") == "overlay":
        own["kubernetes.azure.com/podnetwork-type"] = "overlay"
    if network.get("networkDataplane") == "cilium":
        own["kubernetes.azure.com/ebpf-dataplane"] = "cilium"
    if size.gpu is not None and size.gpu.vendor is NVIDIA:
        own |= {"accelerator": "nvidia", "kubernetes.azure.com/accelerator": "nvidia"}
    if pools.is_spot(spec):
        own |= {"kubernetes.azure.com/priority": "spot", "kubernetes.azure.com/scalesetpriority": "spot"}
    return {**table(spec, "nodeLabels"), **own}


def host_of(size: catalog.VmSize, spec: Mapping[str, Any]) -> dict[str, str]:
    """Annotations that tell the simulated GPU stack what is installed on the node's host.

    AKS installs a driver before the kubelet joins, if `gpuProfile.driver` requests it.
    """
    secure = {SECURE_BOOT: "true"} if get(spec, "securityProfile.enableSecureBoot") is True else {}
    if size.gpu is None or get(spec, "gpuProfile.driver") != "Install":
        return secure
    return {**secure, HOST_DRIVER: AKS_DRIVERS["grid" if size.gpu.virtual else "datacenter"]}


def taint(text: str) -> dict[str, str]:
    """Taint as in a Node object, from the text `key=value:Effect` or `key:Effect`."""
    left, _, effect = text.rpartition(":")
    key, equals, value = left.partition("=")
    return {"key": key, "value": value, "effect": effect} if equals else {"key": key, "effect": effect}


def node(pool: PoolFacts, size: catalog.VmSize, index: int, address: str, vm: str) -> Json:
    """One Node object, without conditions, because the kubelet reports the conditions."""
    name = node_name(pool.cluster_id, pool.name, index)
    subscription = ids.key(pool.cluster_id).split("/")[1]
    total, usable = capacity(size, pool.spec)
    provider = (
        f"azure:///subscriptions/{subscription}/resourceGroups/{pool.node_resource_group.lower()}/providers"
        f"/Microsoft.Compute/virtualMachineScaleSets/{scale_set(pool.cluster_id, pool.name)}/virtualMachines/{index}"
    )
    linux = {"AzureLinux": "Microsoft Azure Linux 3.0"}.get(pool.release, f"Ubuntu {pool.release} LTS")
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": labels(pool, size, index),
            "annotations": {
                "kwok.x-k8s.io/node": "fake",
                PHYSICAL_HOST: physical_host(vm),
                **host_of(size, pool.spec),
            },
        },
        "spec": {"providerID": provider, "taints": [taint(text) for text in pool.spec.get("nodeTaints") or ()]},
        "status": {
            "capacity": total,
            "allocatable": usable,
            "addresses": [
                {"type": "InternalIP", "address": address},
                {"type": "Hostname", "address": name},
            ],
            "nodeInfo": {
                "architecture": "amd64",
                "operatingSystem": "linux",
                "osImage": linux,
                "kernelVersion": KERNELS[pool.release],
                "containerRuntimeVersion": runtime(pool.release),
                "kubeletVersion": f"v{pool.version}",
                "kubeProxyVersion": f"v{pool.version}",
                "machineID": hashlib.sha256(provider.encode()).hexdigest()[:32],
                "systemUUID": vm,
                "bootID": boot_guid(vm, 0),
            },
        },
    }


def nodes(pool: PoolFacts, machines: Mapping[int, str], offers: Offers, vms: Mapping[int, str]) -> list[Json]:
    """A pool's Node objects, one for each machine.

    `machines`: instance number → address; `vms`: instance number → unique id, for machines whose id is known.
    """
    size = offers.size(str(pool.spec.get("vmSize")))
    if size is None:
        return []
    pool_id = f"{pool.cluster_id}/agentPools/{pool.name}"
    return [
        node(pool, size, index, address, vms.get(index) or vm_guid(pool_id, index))
        for index, address in machines.items()
    ]
