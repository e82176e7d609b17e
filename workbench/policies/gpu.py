"""Rules on the driver source of GPU pools, by node image and VM size. Azure's schemas do not express these rules."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from physical_ai.catalog import UnknownName, kubernetes_minor, vm_sizes
from physical_ai.catalog.own_names import DRIVER_LABEL
from physical_ai.findings import Severity
from physical_ai.settings import DriverSource
from physical_ai.settings.facts.pools import DEPLOY_DRIVER_LABEL, DRIVER_FACTS, UPGRADE_SKIP_LABEL
from workbench.policies.model import Resource, Rule, Stack, Topic, Violation, known, known_list, known_map
from workbench.policies.node_pools import AGENT_POOL, MANAGED_CLUSTER, pools
from workbench.policies.workloads import DAEMON_SET, pod_spec

NVIDIA_DRIVER = "kubernetes:nvidia.com/v1alpha1:NVIDIADriver"
RELEASE = "kubernetes:helm.sh/v3:Release"
GPU_OPERATOR = "gpu-operator"

_BOTH = (AGENT_POOL, MANAGED_CLUSTER)
_GRID = DriverSource.GRID.value


def _source(pool: dict[str, Any]) -> str | None:
    """The driver source that a pool's labels name; None if they name none."""
    return known(known_map(pool.get("nodeLabels")).get(DRIVER_LABEL))


def _driver_source(resource: Resource, _: Stack) -> Iterable[Violation]:
    for path, pool in pools(resource):
        labels = known_map(pool.get("nodeLabels"))
        source = _source(pool)
        if source is None:
            if "gpuProfile" in pool and isinstance(pool.get("nodeLabels", {}), dict):
                sources = ", ".join(each.value for each in DriverSource)
                yield Violation(f"{path}nodeLabels", f"add {DRIVER_LABEL}, one of {sources}")
            continue
        if source not in [each.value for each in DriverSource]:
            yield Violation(f"{path}nodeLabels", f"'{source}' is not a driver source")
            continue
        facts, driver = DRIVER_FACTS[DriverSource(source)], known(known_map(pool.get("gpuProfile")).get("driver"))
        wanted = facts.gpu_profile_driver
        if driver is not None and driver != wanted:
            yield Violation(f"{path}gpuProfile.driver", f"write {wanted}: {DRIVER_LABEL}={source}")
        for key in (DEPLOY_DRIVER_LABEL, UPGRADE_SKIP_LABEL):
            value = facts.labels.get(key)
            if value is None and key in labels:
                yield Violation(f"{path}nodeLabels", f"omit {key}: {DRIVER_LABEL}={source}")
            elif value is not None and known(labels.get(key), value if key in labels else None) != value:
                yield Violation(f"{path}nodeLabels", f"add {key}={value}: {DRIVER_LABEL}={source}")


def _grid_agent(resource: Resource, stack: Stack) -> Iterable[Violation]:
    selectors = [known_map(pod_spec(each).get("nodeSelector")) for each in stack.of_type(DAEMON_SET)]
    if _source(dict(resource.inputs)) == _GRID and not any(each.get(DRIVER_LABEL) == _GRID for each in selectors):
        yield Violation("nodeLabels", f"declare a DaemonSet with nodeSelector {DRIVER_LABEL}={_GRID}")


def _vgpu_boot(resource: Resource, _: Stack) -> Iterable[Violation]:
    if _source(dict(resource.inputs)) != _GRID:
        return
    security = known_map(resource.inputs.get("securityProfile"))
    for name in ("enableSecureBoot", "enableVTPM"):
        if known(security.get(name)) is not False:
            yield Violation(f"securityProfile.{name}", "write false")


def _node_os(resource: Resource, _: Stack) -> Iterable[Violation]:
    for path, pool in pools(resource):
        size, os_sku = vm_sizes().get(str(known(pool.get("vmSize")))), known(pool.get("osSKU"))
        if size is not None and os_sku is not None and os_sku not in size.os_skus:
            yield Violation(
                f"{path}osSKU", f"write one of {', '.join(size.os_skus)}: {size.name} does not support {os_sku}"
            )


def _ubuntu2204(resource: Resource, _: Stack) -> Iterable[Violation]:
    for path, pool in pools(resource):
        version = known(pool.get("orchestratorVersion"))
        if known(pool.get("osSKU")) != "Ubuntu2204" or version is None:
            continue
        try:
            if not kubernetes_minor(str(version)).ubuntu2204:
                yield Violation(f"{path}osSKU", f"write Ubuntu: Kubernetes {version} has no Ubuntu2204 nodes")
        except UnknownName:
            continue


def _one_node_os(_: Resource, stack: Stack) -> Iterable[Violation]:
    if stack.of_type(NVIDIA_DRIVER) or not any(
        known(each.inputs.get("name")) == GPU_OPERATOR for each in stack.of_type(RELEASE)
    ):
        return
    gpu_pools = [each.inputs for each in stack.of_type(AGENT_POOL) if "gpuProfile" in each.inputs]
    systems = sorted({str(known(each.get("osSKU"))) for each in gpu_pools if known(each.get("osSKU"))})
    if len(systems) > 1:
        yield Violation(
            "", f"give all GPU pools one osSKU, not {', '.join(systems)}; or declare one NVIDIADriver for each pool"
        )


def _driver_type(resource: Resource, _: Stack) -> Iterable[Violation]:
    for path, pool in pools(resource):
        if known(pool.get("osType"), "Linux") == "Linux" and "driverType" in known_map(pool.get("gpuProfile")):
            yield Violation(f"{path}gpuProfile.driverType", "omit it: it applies to Windows nodes only")


def _count_in_bounds(resource: Resource, _: Stack) -> Iterable[Violation]:
    for path, pool in pools(resource):
        least, most, count = (known(pool.get(name)) for name in ("minCount", "maxCount", "count"))
        if known(pool.get("enableAutoScaling"), False) is not True:
            for name in ("minCount", "maxCount"):
                if name in pool:
                    yield Violation(f"{path}{name}", "omit it: the pool does not autoscale")
            continue
        if least is None or most is None:
            continue
        if least > most:
            yield Violation(f"{path}minCount", f"at most maxCount, which is {most}")
        elif count is not None and not least <= count <= most:
            yield Violation(f"{path}count", f"between minCount and maxCount, {least} to {most}")


def _size_current(resource: Resource, _: Stack) -> Iterable[Violation]:
    for path, pool in pools(resource):
        size = vm_sizes().get(str(known(pool.get("vmSize"))))
        if size is not None and size.is_retired:
            yield Violation(f"{path}vmSize", f"use {size.successor}, which replaces it")


def _taints_of_cluster(resource: Resource, _: Stack) -> Iterable[Violation]:
    if known_list(known_map(resource.inputs).get("nodeInitializationTaints")):
        yield Violation("nodeInitializationTaints", "set nodeTaints: these are lost at the first update of the pool")


_GPU_OPERATOR_ON_AKS = "https://learn.microsoft.com/azure/aks/nvidia-gpu-operator"

RULES = (
    Rule(
        "driver-source",
        Severity.ERROR,
        "Two installers of one driver conflict, and without one the node has no driver: profile and labels must agree.",
        _driver_source,
        _BOTH,
        topic=Topic.GPU,
        link=_GPU_OPERATOR_ON_AKS,
    ),
    Rule(
        "grid-agent",
        Severity.ERROR,
        "Only the DaemonSet installs the GRID driver; without it the pool's nodes never offer a GPU.",
        _grid_agent,
        (AGENT_POOL,),
        topic=Topic.GPU,
        link="https://learn.microsoft.com/azure/virtual-machines/linux/n-series-driver-setup",
        needs_whole_stack=True,
    ),
    Rule(
        "vgpu-boot",
        Severity.ERROR,
        "Modules built on the node are not signed, and NVIDIA's vGPU guest driver does not support a vTPM.",
        _vgpu_boot,
        (AGENT_POOL,),
        topic=Topic.GPU,
        link="https://learn.microsoft.com/azure/virtual-machines/linux/n-series-driver-setup",
    ),
    Rule(
        "node-os",
        Severity.ERROR,
        "The size has no driver on that node image.",
        _node_os,
        _BOTH,
        topic=Topic.GPU,
        link="https://learn.microsoft.com/azure/aks/use-nvidia-gpu",
    ),
    Rule(
        "ubuntu2204-ends",
        Severity.ERROR,
        "From some Kubernetes minor on AKS creates no such nodes, and the upgrade would stop halfway.",
        _ubuntu2204,
        _BOTH,
        topic=Topic.GPU,
        link="https://learn.microsoft.com/azure/aks/upgrade-os-version",
    ),
    Rule(
        "one-node-os",
        Severity.ERROR,
        "A ClusterPolicy takes its driver image from one node's system, and changes it as nodes are added or deleted.",
        _one_node_os,
        (MANAGED_CLUSTER,),
        topic=Topic.GPU,
        link=_GPU_OPERATOR_ON_AKS,
        needs_whole_stack=True,
    ),
    Rule(
        "driver-type",
        Severity.ERROR,
        "AKS rejects it on Linux, in the middle of a deployment.",
        _driver_type,
        _BOTH,
        topic=Topic.GPU,
        link="https://learn.microsoft.com/azure/aks/use-windows-gpu",
    ),
    Rule(
        "count-in-bounds",
        Severity.ERROR,
        "AKS rejects a pool whose count is outside the autoscaler's bounds.",
        _count_in_bounds,
        _BOTH,
        topic=Topic.GPU,
        link="https://learn.microsoft.com/azure/aks/cluster-autoscaler",
    ),
    Rule(
        "size-current",
        Severity.WARNING,
        "Preview sizes can no longer be deployed, and running ones have no SLA.",
        _size_current,
        _BOTH,
        topic=Topic.GPU,
        link="https://learn.microsoft.com/azure/virtual-machines/sizes/gpu-accelerated/"
        "nc-rtxpro6000-bse-v6-series-overview",
    ),
    Rule(
        "lasting-taints",
        Severity.ERROR,
        "A node without its taint accepts Pods that cannot run there.",
        _taints_of_cluster,
        (AGENT_POOL,),
        topic=Topic.GPU,
        link="https://learn.microsoft.com/azure/aks/use-node-taints",
    ),
)
