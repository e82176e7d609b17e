"""Node pool rules on the properties of nodes: size, operating system, disk, GPU, kubelet, and upgrades."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from typing import Any

from simulator.azure import pools, sku_capabilities
from simulator.azure.bodies import get, items, table
from simulator.azure.errors import Refusal
from simulator.azure.offers import number, unknown_here
from simulator.azure.rules.base import Pool, on_pool, refuse


@on_pool("system-linux", "system-maxpods", "maxpods-range", "system-sku")
def system_nodes(pool: Pool) -> Iterator[Refusal]:
    most = pool.spec["maxPods"]
    if not 10 <= most <= 250:
        code = "InsufficientMaxPods" if most < 10 else "MaxPodsLimitExceeded"
        yield refuse(pool, "maxpods-range", f"maxPods {most} is outside 10..250.", "agentPoolProfile.maxPods", code)
    if not pool.is_system:
        return
    if pool.spec["osType"] != "Linux":
        yield refuse(pool, "system-linux", "A System pool must be Linux.", "agentPoolProfile.osType")
    if 10 <= most < 30:
        message = f"A System pool needs maxPods of at least 30, not {most}."
        yield refuse(pool, "system-maxpods", message, "agentPoolProfile.maxPods")
    size = pool.azure.offers.size(str(pool.spec.get("vmSize")))
    if size is not None and (pool.azure.offers.vcpus(size.name) < 2 or size.memory_gib < 4):
        yield refuse(pool, "system-sku", f"{size.name} is too small for a System pool.", "agentPoolProfile.vmSize")


SIZES_PAGE = "https://aka.ms/aks/quotas-skus-regions"


@on_pool("vmsize-required", "vmsize-known", "gpu-preview-size", "zones-sku", "zones-values", "zones-duplicate")
def size(pool: Pool) -> Iterator[Refusal]:
    name, target = pool.spec.get("vmSize"), "agentPoolProfile.vmSize"
    if name is None:
        if pool.spec["type"] != "VirtualMachines":
            yield refuse(pool, "vmsize-required", "Required parameter agentPoolProfile.vmSize is missing.", target)
        return
    found, region = pool.azure.offers.size(name), pool.azure.offers.region(pool.location)
    if found is None:
        message = f"The VM size of {name} is not supported.{unknown_here('physical_ai/catalog/data/vm_sizes.yaml')}"
        yield refuse(pool, "vmsize-known", message, target)
        return
    offered = found
    if found.is_retired:
        if not pool.azure.accepts_retired_sizes:
            message = f"The requested VM size {name} is not available: it was a preview size."
            message += f" Its successor is {found.successor}." if found.successor else ""
            yield refuse(pool, "gpu-preview-size", message, target)
            return
        offered = pool.azure.offers.size(found.successor or name) or found
    if region is None:
        return
    if offered.name not in region.sizes:
        message = f"The VM size of {name} is not allowed in your subscription in location '{region.name}'."
        message += unknown_here("simulator/azure/data/regions.json")
        yield refuse(pool, "vmsize-known", message, target)
    barred = pool.azure.restrictions.restricted.get(name) if pool.old is None else None
    if barred is not None and not barred:
        message = f"The VM size of {name} is not allowed in your subscription in location '{region.name}'. For more"
        yield refuse(pool, "vmsize-known", f"{message} details, please visit {SIZES_PAGE}", target)
    zones = [str(zone) for zone in items(pool.sent, "availabilityZones")]
    if len(set(zones)) < len(zones):
        message = f"Availability zones {', '.join(zones)} name a zone twice."
        yield refuse(pool, "zones-duplicate", message, "agentPoolProfile.availabilityZones")
    if strange := [zone for zone in zones if zone not in ("1", "2", "3")]:
        message = f"Availability zone '{strange[0]}' is not a zone number."
        yield refuse(pool, "zones-values", message, "agentPoolProfile.availabilityZones")
        return
    has = [zone for zone in region.zones if zone not in (barred or ())]
    if missing := [zone for zone in zones if zone not in has]:
        message = f"The zone(s) '{', '.join(missing)}' for resource '{pool.name}' is not supported. The supported zones"
        message += f" for location '{region.name}' are '{','.join(has)}'."
        yield refuse(pool, "zones-sku", message, "agentPoolProfile.availabilityZones")


@on_pool("zones-vmss", "ppg-zones")
def zones(pool: Pool) -> Iterator[Refusal]:
    asked = items(pool.sent, "availabilityZones")
    if asked and pool.spec["type"] == "AvailabilitySet":
        message = "Availability zones need type VirtualMachineScaleSets."
        yield refuse(pool, "zones-vmss", message, "agentPoolProfile.availabilityZones")
    if len(asked) > 1 and pool.sent.get("proximityPlacementGroupID"):
        message = "A proximity placement group spans one zone."
        yield refuse(pool, "ppg-zones", message, "agentPoolProfile.availabilityZones")


@on_pool("ephemeral-fit", "ephemeral-support", "osdisk-range", "ephemeral-des")
def os_disk(pool: Pool) -> Iterator[Refusal]:
    gib, target = pool.spec["osDiskSizeGB"], "agentPoolProfile.osDiskSizeGB"
    if 0 < gib < 30:
        message = f"OS disk size {gib} GB is smaller than the node image needs (30 GB)."
        yield refuse(pool, "osdisk-range", message, target)
    if pool.spec["osDiskType"] != "Ephemeral":
        return
    if pool.old is None:
        yield from _ephemeral(pool, gib, target)
    if get(pool.cluster, "properties.diskEncryptionSetID"):
        message = "Ephemeral OS disks cannot be used with customer-managed keys."
        yield refuse(pool, "ephemeral-des", message, "agentPoolProfile.osDiskType")


def _ephemeral(pool: Pool, gib: int, target: str) -> Iterator[Refusal]:
    """Refusal of an ephemeral OS disk that is larger than the VM size can hold.

    AKS checks this only when it creates a pool; the disk cannot change later.
    """
    name = str(pool.spec.get("vmSize"))
    if pool.azure.offers.size(name) is None:
        return
    found = pool.azure.offers.capabilities(name)
    security = table(pool.sent, "securityProfile")
    trusted = bool(security.get("enableSecureBoot") or security.get("enableVTPM"))
    if not sku_capabilities.supports_ephemeral(found):
        message = f"The Virtual Machine size {name} does not support Ephemeral OS disk."
        if not found:
            message += " (The simulator does not know it: simulator/azure/data/sku_capabilities.json has no row.)"
        yield refuse(pool, "ephemeral-support", message, "agentPoolProfile.osDiskType")
    elif gib > sku_capabilities.room_gib(found, trusted_launch=trusted):
        message = f"The virtual machine size {name} has a cache size of {sku_capabilities.cache_bytes(found)} bytes and"
        message += f" temporary disk size of {sku_capabilities.local_bytes(found)} bytes, but the OS disk requires"
        message += f" {gib << 30} bytes. Use a VM size with larger cache, larger temp disk, or disable ephemeral OS."
        yield refuse(pool, "ephemeral-fit", message, target)


@on_pool("gpu-instance-size", "gpu-secureboot", "gpu-driver-os", "skip-driver-tag", "gpu-profile-nongpu")
def gpu(pool: Pool) -> Iterator[Refusal]:
    """Refusals of GPU settings of a pool. A gpuProfile on a size without a GPU is accepted."""
    size = pool.azure.offers.size(str(pool.spec.get("vmSize")))
    profile = pool.sent.get("gpuInstanceProfile")
    if profile and size is not None and not size.mig:
        message = f"VM size {size.name} does not support multi-instance GPU ({profile})."
        yield refuse(pool, "gpu-instance-size", message, "agentPoolProfile.gpuInstanceProfile")
    managed = get(pool.spec, "gpuProfile.driver") == "Install"
    secure = get(pool.sent, "securityProfile.enableSecureBoot") and _image(pool.spec).startswith("Ubuntu")
    if size is not None and size.gpu and managed and secure:
        message = "Secure boot on an Ubuntu GPU pool needs gpuProfile.driver None."
        yield refuse(pool, "gpu-secureboot", message, "agentPoolProfile.securityProfile.enableSecureBoot")
    if size is not None and size.gpu and managed and (image := _image(pool.spec)) not in ("", *size.os_skus):
        message = f"AKS has no GPU driver for {size.name} on {image}. Set osSKU to {' or '.join(size.os_skus)}, or"
        message += " gpuProfile.driver to None."
        yield refuse(pool, "gpu-driver-os", message, "agentPoolProfile.osSKU")
    if pool.old is None and "SkipGPUDriverInstall" in (table(pool.sent, "tags")):
        message = "The tag SkipGPUDriverInstall is retired; set gpuProfile.driver to None."
        yield refuse(pool, "skip-driver-tag", message, "agentPoolProfile.tags")


def _image(spec: Mapping[str, Any]) -> str:
    """A Linux pool's osSKU as the catalogue writes it; empty for Windows."""
    sku = str(spec["osSKU"])
    if sku.startswith(("AzureLinux", "CBLMariner")):
        return "AzureLinux"
    return "" if spec["osType"] == "Windows" else sku.removesuffix("2404")


@on_pool("pool-name-windows", "ossku-ostype", "ubuntu2204-k8s", "ubuntu2404-k8s", "fips-2404", "motd-windows")
def operating_system(pool: Pool) -> Iterator[Refusal]:
    sku, os_type, target = str(pool.spec["osSKU"]), pool.spec["osType"], "agentPoolProfile.osSKU"
    if os_type == "Windows" and len(pool.name) > 6:
        message = f"Windows agent pool name '{pool.name}' is longer than 6 characters."
        yield refuse(pool, "pool-name-windows", message, "agentPoolProfile.name")
    if pool.sent.get("osSKU") and sku.startswith("Windows") != (os_type == "Windows"):
        yield refuse(pool, "ossku-ostype", f"OSSKU {sku} is not valid for osType {os_type}.", target)
    cluster_version = str(get(pool.cluster, "properties.kubernetesVersion"))
    version = pools.version_of(pool.spec, cluster_version, pool.azure.offers)
    if sku == "Ubuntu2204" and number(version)[:2] > (1, 36):
        yield refuse(pool, "ubuntu2204-k8s", f"OSSKU Ubuntu2204 is not supported on Kubernetes {version}.", target)
    if sku == "Ubuntu2404" and number(version)[:2] < (1, 32):
        yield refuse(pool, "ubuntu2404-k8s", f"OSSKU Ubuntu2404 is not supported on Kubernetes {version}.", target)
    image = {"Ubuntu2404": "24.04", "Ubuntu": pool.azure.offers.ubuntu(version)}.get(sku)
    if pool.sent.get("enableFIPS") and image == "24.04":
        message = "FIPS is not available on Ubuntu 24.04."
        yield refuse(pool, "fips-2404", message, "agentPoolProfile.enableFIPS")
    motd = pool.sent.get("messageOfTheDay")
    if motd is not None and (os_type == "Windows" or not _is_base64(motd)):
        message = "messageOfTheDay must be base64 and is for Linux only."
        yield refuse(pool, "motd-windows", message, "agentPoolProfile.messageOfTheDay")


def _is_base64(text: str) -> bool:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


POLICIES = {
    "cpuManagerPolicy": ("none", "static"),
    "topologyManagerPolicy": ("none", "best-effort", "restricted", "single-numa-node"),
}


@on_pool("kubelet-gc", "kubelet-enums")
def kubelet(pool: Pool) -> Iterator[Refusal]:
    config = table(pool.sent, "kubeletConfig")
    low, high = config.get("imageGcLowThreshold"), config.get("imageGcHighThreshold")
    if low is not None and high is not None and low > high:
        message = f"imageGcLowThreshold ({low}) must not be above imageGcHighThreshold ({high})."
        yield refuse(pool, "kubelet-gc", message, "agentPoolProfile.kubeletConfig.imageGcLowThreshold")
    for name, known in POLICIES.items():
        if config.get(name) is not None and config[name] not in known:
            message = f"'{config[name]}' is not one of {', '.join(known)}."
            yield refuse(pool, "kubelet-enums", message, f"agentPoolProfile.kubeletConfig.{name}")


def _surge(value: Any) -> int | None:
    """Number in one of the values that limit an upgrade's surge, without a percent sign; None if the value is neither
    an integer nor a percentage from 0 to 100.
    """
    match = re.fullmatch(r"(\d+)(%?)", str(value))
    return None if not match or (match[2] and not 0 <= int(match[1]) <= 100) else int(match[1])


@on_pool("surge-format", "surge-both", "system-no-maxunavailable", "gateway-profile", "hostports")
def upgrades(pool: Pool) -> Iterator[Refusal]:
    settings = {name: get(pool.sent, f"upgradeSettings.{name}") for name in ("maxSurge", "maxUnavailable")}
    amounts = {name: _surge(value) for name, value in settings.items() if value is not None}
    for name, amount in amounts.items():
        if amount is None:
            message = f"'{settings[name]}' is neither a number nor a percentage of 1 to 100."
            yield refuse(pool, "surge-format", message, f"agentPoolProfile.upgradeSettings.{name}")
    surge, away = amounts.get("maxSurge"), amounts.get("maxUnavailable")
    if surge == 0 and not away and not pool.is_spot:
        message = "maxSurge and maxUnavailable must not both be zero."
        yield refuse(pool, "surge-format", message, "agentPoolProfile.upgradeSettings.maxSurge")
    if surge and away:
        message = "maxSurge and maxUnavailable must not both be above zero."
        yield refuse(pool, "surge-both", message, "agentPoolProfile.upgradeSettings.maxUnavailable")
    if pool.is_system and settings["maxUnavailable"] is not None:
        message = "maxUnavailable cannot be set on System pools."
        yield refuse(pool, "system-no-maxunavailable", message, "agentPoolProfile.upgradeSettings.maxUnavailable")
    if pool.sent.get("gatewayProfile") and pool.spec["mode"] != "Gateway":
        message = "gatewayProfile needs mode Gateway."
        yield refuse(pool, "gateway-profile", message, "agentPoolProfile.gatewayProfile")
    for ports in items(pool.sent, "networkProfile.allowedHostPorts"):
        if ports.get("portStart", 1) > ports.get("portEnd", 65535):
            message = f"portStart {ports['portStart']} is above portEnd {ports['portEnd']}."
            yield refuse(pool, "hostports", message, "agentPoolProfile.networkProfile.allowedHostPorts")
