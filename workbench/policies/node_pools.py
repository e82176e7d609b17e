"""Rules on AKS node pools."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from physical_ai.catalog import vm_sizes
from physical_ai.catalog.aks import SPOT_LABEL, SPOT_TAINT
from physical_ai.findings import Severity
from physical_ai.settings.facts.labels import EFFECTS, is_reserved, is_value, key_problem, split_taint
from physical_ai.settings.facts.pools import (
    GPU_TAINT_KEY,
    IMMUTABLE_POOL_PROPERTIES,
    SYSTEM_TAINT,
)
from workbench.policies.model import Resource, Rule, Stack, Topic, Violation, known, known_list, known_map

AGENT_POOL = "azure-native:containerservice:AgentPool"
MANAGED_CLUSTER = "azure-native:containerservice:ManagedCluster"


def pools(resource: Resource) -> Iterator[tuple[str, dict[str, Any]]]:
    """Property path and properties of each node pool that a resource declares: an AgentPool, or a cluster with inline
    pools.
    """
    if resource.type == AGENT_POOL:
        yield "", dict(resource.inputs)
        return
    for index, profile in enumerate(known_list(resource.inputs.get("agentPoolProfiles"))):
        yield f"agentPoolProfiles[{index}].", known_map(profile)


def _is_spot(pool: dict[str, Any]) -> bool:
    return known(pool.get("scaleSetPriority")) == "Spot"


def _immutable_covered(resource: Resource, _: Stack) -> Iterable[Violation]:
    covered = resource.options.replace_on_changes
    for name in IMMUTABLE_POOL_PROPERTIES:
        if name in resource.inputs and name not in covered and "*" not in covered:
            yield Violation(name, "add it to replace_on_changes")
    if not resource.options.delete_before_replace:
        yield Violation("", "set delete_before_replace: the name is fixed, so two pools cannot exist at the same time")


def _spot_pool(resource: Resource, _: Stack) -> Iterable[Violation]:
    for path, pool in pools(resource):
        if not _is_spot(pool):
            for name in ("scaleSetEvictionPolicy", "spotMaxPrice"):
                if name in pool:
                    yield Violation(f"{path}{name}", "omit it: ARM accepts it on Spot pools only")
            continue
        if "upgradeSettings" in pool:
            yield Violation(f"{path}upgradeSettings", "omit it: ARM rejects it on a Spot pool")
        if known(pool.get("scaleSetEvictionPolicy")) != "Delete":
            yield Violation(f"{path}scaleSetEvictionPolicy", "write Delete: deallocated nodes keep their quota")
        if known_map(pool.get("nodeLabels")).get(SPOT_LABEL[0]) != SPOT_LABEL[1]:
            yield Violation(f"{path}nodeLabels", f"add {'='.join(SPOT_LABEL)}, which AKS adds automatically")
        if SPOT_TAINT not in known_list(pool.get("nodeTaints")):
            yield Violation(f"{path}nodeTaints", f"add {SPOT_TAINT}, which AKS adds automatically")


def _taint_form(resource: Resource, _: Stack) -> Iterable[Violation]:
    for path, pool in pools(resource):
        for taint in known_list(pool.get("nodeTaints")):
            key, value, effect = split_taint(str(taint))
            if key_problem(key) or not is_value(value) or effect not in EFFECTS:
                yield Violation(f"{path}nodeTaints", f"write {taint!r} as key=value:Effect, with a value")


def _gpu_taint(resource: Resource, _: Stack) -> Iterable[Violation]:
    for path, pool in pools(resource):
        taints = [str(taint) for taint in known_list(pool.get("nodeTaints"))]
        wanted = _gpu_resource(str(known(pool.get("vmSize"), "")))
        if "gpuProfile" in pool and not any(taint.startswith(f"{wanted}=") for taint in taints):
            yield Violation(f"{path}nodeTaints", f"add {wanted}=present:NoSchedule")


def _gpu_resource(size: str) -> str:
    found = vm_sizes().get(size)
    return found.gpu.vendor.resource if found is not None and found.gpu is not None else GPU_TAINT_KEY


def _label_form(resource: Resource, _: Stack) -> Iterable[Violation]:
    for path, pool in pools(resource):
        for key, value in known_map(pool.get("nodeLabels")).items():
            allowed = _is_spot(pool) and (key, known(value)) == SPOT_LABEL
            if is_reserved(key) and not allowed:
                yield Violation(f"{path}nodeLabels", f"rename {key!r}: the label, or its prefix, is reserved by AKS")
            if problem := key_problem(key):
                yield Violation(f"{path}nodeLabels", problem)
            text = str(known(value, ""))
            if text and not is_value(text):
                yield Violation(
                    f"{path}nodeLabels", f"the value of {key!r} is not a label value: at most 63 characters"
                )


def _count_ignored(resource: Resource, _: Stack) -> Iterable[Violation]:
    for path, pool in pools(resource):
        ignored = f"{path}count" in resource.options.ignore_changes
        autoscaled = known(pool.get("enableAutoScaling"), False)
        if autoscaled and not ignored:
            yield Violation(f"{path}count", "add it to ignore_changes: the autoscaler owns the count")
        if ignored and not autoscaled:
            yield Violation(f"{path}count", "remove it from ignore_changes: nothing else sets the count of this pool")


def _explicit_choices(resource: Resource, _: Stack) -> Iterable[Violation]:
    for path, pool in pools(resource):
        if known(pool.get("type")) != "VirtualMachineScaleSets":
            yield Violation(f"{path}type", "write VirtualMachineScaleSets")
        if known(pool.get("scaleDownMode")) != "Delete":
            yield Violation(f"{path}scaleDownMode", "write Delete")


def _gpu_driver_stated(resource: Resource, _: Stack) -> Iterable[Violation]:
    for path, pool in pools(resource):
        if "gpuProfile" in pool and known(known_map(pool["gpuProfile"]).get("driver")) not in ("Install", "None"):
            yield Violation(f"{path}gpuProfile.driver", "write Install or None, in this spelling")


def _system_pool(resource: Resource, _: Stack) -> Iterable[Violation]:
    inline = list(pools(resource))
    if len(inline) != 1:
        yield Violation("agentPoolProfiles", f"declare one pool inline, not {len(inline)}; others as AgentPool")
    for path, pool in inline:
        if known(pool.get("mode")) != "System" or SYSTEM_TAINT not in known_list(pool.get("nodeTaints")):
            yield Violation(f"{path}nodeTaints", f"make it a System pool with {SYSTEM_TAINT}")
        if known(known_map(pool.get("upgradeSettings")).get("maxUnavailable"), "0") != "0":
            yield Violation(f"{path}upgradeSettings.maxUnavailable", "omit it and set maxSurge: AKS rejects it here")


_BOTH = (AGENT_POOL, MANAGED_CLUSTER)

RULES = (
    Rule(
        "immutable-pool-properties",
        Severity.ERROR,
        "The provider would send the change as an update, and ARM would reject it in the middle of a deployment.",
        _immutable_covered,
        (AGENT_POOL,),
        topic=Topic.RELIABILITY,
        link="https://www.pulumi.com/docs/iac/concepts/resources/options/replaceonchanges/",
        needs=("replace_on_changes",),
    ),
    Rule(
        "spot-pool",
        Severity.ERROR,
        "ARM rejects upgradeSettings on Spot pools, and adds label and taint, which would appear as drift.",
        _spot_pool,
        _BOTH,
        topic=Topic.GPU,
        link="https://learn.microsoft.com/azure/aks/spot-node-pool",
    ),
    Rule(
        "taint-form",
        Severity.ERROR,
        "The autoscaler drops taints without a value from an empty pool, and adds nodes for Pods that cannot run.",
        _taint_form,
        _BOTH,
        topic=Topic.GPU,
        link="https://github.com/kubernetes/autoscaler/tree/master/cluster-autoscaler/cloudprovider/azure",
    ),
    Rule(
        "gpu-taint",
        Severity.ERROR,
        "AKS does not taint GPU nodes, so any Pod could be scheduled on them.",
        _gpu_taint,
        _BOTH,
        topic=Topic.GPU,
        link="https://learn.microsoft.com/azure/aks/use-nvidia-gpu",
    ),
    Rule(
        "label-form",
        Severity.ERROR,
        "AKS rejects reserved prefixes and malformed labels.",
        _label_form,
        _BOTH,
        topic=Topic.GPU,
        link="https://learn.microsoft.com/azure/aks/use-labels",
    ),
    Rule(
        "autoscaled-count",
        Severity.ERROR,
        "Otherwise each deployment reverts the autoscaler's count, or a changed count has no effect.",
        _count_ignored,
        _BOTH,
        topic=Topic.RELIABILITY,
        link="https://learn.microsoft.com/azure/aks/cluster-autoscaler",
    ),
    Rule(
        "pool-choices-stated",
        Severity.ERROR,
        "AKS has rejected Spot pools without a type; deallocated GPU nodes keep their quota and fail when restarted.",
        _explicit_choices,
        _BOTH,
        topic=Topic.GPU,
        link="https://github.com/Azure/bicep-types-az/issues/2217",
    ),
    Rule(
        "gpu-driver-stated",
        Severity.ERROR,
        "The default installs AKS's driver, and the choice is immutable.",
        _gpu_driver_stated,
        _BOTH,
        topic=Topic.GPU,
        link="https://learn.microsoft.com/azure/aks/use-nvidia-gpu",
    ),
    Rule(
        "system-pool",
        Severity.ERROR,
        "Critical add-ons need a dedicated pool that always has a node; AKS accepts no second inline pool later.",
        _system_pool,
        (MANAGED_CLUSTER,),
        topic=Topic.RELIABILITY,
        link="https://learn.microsoft.com/azure/aks/use-system-pools",
    ),
)
