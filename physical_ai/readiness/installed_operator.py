"""Comparison of a GPU Operator that the stack has not installed with the stack's settings.

The comparison uses the operator's ClusterPolicy and NVIDIADrivers, because these determine what runs on the nodes; the
Helm values are not compared. Pure functions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from physical_ai.catalog import operator_releases
from physical_ai.findings import Finding
from physical_ai.kubernetes.objects import annotations_of, labels, name
from physical_ai.kubernetes.taints import tolerates
from physical_ai.nested import at
from physical_ai.planning.gpu_operator import MIG_LAYOUTS, POOL_CONFIGS, GpuPlan
from physical_ai.readiness.installed_driver import differs, driver_differences, stops
from physical_ai.readiness.model import Json
from physical_ai.settings import Settings
from physical_ai.settings.facts import gpu, health
from physical_ai.settings.facts.labels import split_taint
from physical_ai.settings.facts.pools import node_taints

VERSION_LABEL = "app.kubernetes.io/version"
RELEASE, RELEASE_NAMESPACE = "meta.helm.sh/release-name", "meta.helm.sh/release-namespace"
ENFORCED = "pod-security.kubernetes.io/enforce"
NFD_WORKER = {"app.kubernetes.io/name": "node-feature-discovery", "role": "worker"}
"""Labels of the worker's DaemonSet in NFD's chart."""
OPERANDS_TOLERATE = ({"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},)
"""Tolerations that operands have where the ClusterPolicy sets none (NVIDIA/gpu-operator,
assets/*/0500_daemonset.yaml).
"""


@dataclass(frozen=True)
class InstalledOperator:
    """Objects of the GPU Operator in the cluster. `daemonsets`: DaemonSets in the operator's namespace."""

    policies: Sequence[Json]
    drivers: Sequence[Json]
    daemonsets: Sequence[Json]
    namespace: Json | None
    """The namespace `gpu-operator`; None if the cluster does not have the namespace."""

    @property
    def policy(self) -> Json:
        return self.policies[0]

    @property
    def version(self) -> str:
        """Release of the operator in the form of the chart's version; empty where it is not known."""
        text = labels(self.policy).get(VERSION_LABEL, "")
        return f"v{text.removeprefix('v')}" if text else ""

    @property
    def installed_in(self) -> str:
        """Namespace of the operator's Helm release; empty if the operator was not installed by Helm."""
        return annotations_of(self.policy).get(RELEASE_NAMESPACE, "")

    @property
    def title(self) -> str:
        """Description of the operator for messages: release, ClusterPolicy, and Helm release."""
        release = annotations_of(self.policy).get(RELEASE, "")
        helm = f", Helm release {self.installed_in}/{release}" if release else ", not installed by Helm"
        return f"{self.version or 'of an unknown release'} (ClusterPolicy {name(self.policy)}{helm})"


def differences(
    settings: Settings, plan: GpuPlan, found: InstalledOperator, classes: Mapping[str, Sequence[Mapping[str, str]]]
) -> list[Finding]:
    """Differences between the operator and the stack's settings; those that stop the stack come first.

    Args:
        settings: The stack's settings.
        plan: Plan with which the stack itself would install the operator.
        found: The operator in the cluster.
        classes: Labels of each node, by pool, including those that the stack gives.
    """
    spec = at(found.policy, "spec", {})
    every = [
        *_identity(settings, found),
        *_operands(settings, plan, spec),
        *_sharing(settings, plan, spec),
        *driver_differences(settings, spec, found.drivers, classes),
        *_tolerations(settings, spec, found.daemonsets),
    ]
    return sorted(every, key=lambda each: not each.is_error)


def _identity(settings: Settings, found: InstalledOperator) -> Iterator[Finding]:
    version = settings.gpu_operator.version
    if len(found.policies) > 1:
        listed = ", ".join(sorted(map(name, found.policies)))
        yield stops("ClusterPolicy", f"there are several ({listed}), and the operator follows one", "Keep one.")
    if found.namespace is None or found.installed_in not in ("", gpu.OPERATOR_NAMESPACE):
        where = f"it is in the namespace {found.installed_in}" if found.installed_in else "its namespace is not known"
        fix = "Install it there, or uninstall it and let the stack install its own."
        yield stops("namespace", f"{where}, and gates, telemetry and agents read {gpu.OPERATOR_NAMESPACE}", fix)
    elif (level := labels(found.namespace).get(ENFORCED, "privileged")) != "privileged":
        fix = f"kubectl label namespace {gpu.OPERATOR_NAMESPACE} --overwrite {ENFORCED}=privileged"
        yield stops(
            "namespace", f"it enforces the Pod Security level {level}, and agents of the stack mount hosts", fix
        )
    if not found.version:
        fix = "Compare it yourself: helm list -A"
        yield differs("release", f"not known: the ClusterPolicy has no label {VERSION_LABEL}", fix)
    elif found.version != version:
        known = operator_releases()
        fix = f"Write gpuOperator.version: {found.version}, so that the rules judge what is there."
        if found.version not in known:
            fix = f"Change it to a release that the catalogue has: {', '.join(known)}."
        yield stops("release", f"{found.version}, and gpuOperator.version says {version}", fix)


def _operands(settings: Settings, plan: GpuPlan, spec: Mapping[str, Any]) -> Iterator[Finding]:
    if gpu.has_device_plugin(settings) and not _enabled(spec, "devicePlugin"):
        yield _switch("devicePlugin.enabled", "no node would offer nvidia.com/gpu")
    if health.reaches(settings, "detect") and not at(spec, "dcgm.enabled", False):
        yield _switch("dcgm.enabled", "NVSentinel reads it, with this health.mode")
    for key, default in (("cdi.enabled", True), ("cdi.nriPluginEnabled", False)):
        wanted, given = bool(at(plan.values, key, False)), bool(at(spec, key, default))
        if wanted != given:
            setting = "gpuOperator.cdi" if key == "cdi.enabled" else "gpuOperator.nri"
            fix = f"Write {setting}: {str(given).lower()}, or change it there."
            yield stops(key, f"it is {str(given).lower()}, and {setting} is {str(wanted).lower()}", fix)
    if not _enabled(spec, "toolkit"):
        fix = "The hosts need a container toolkit of their own."
        yield differs("toolkit.enabled", "it is off: the operator gives no container its GPU", fix)
    if settings.monitoring.is_measured and not _enabled(spec, "dcgmExporter"):
        yield differs("dcgmExporter.enabled", "it is off: there are no metrics of GPUs", "Switch it on there.")
    counters, given = at(plan.values, "dcgmExporter.config.name"), at(spec, "dcgmExporter.config.name")
    if counters is not None and counters != given:
        fix = f"Set dcgmExporter.config.name={counters} there; the ConfigMap comes with the stack."
        yield differs("dcgmExporter.config", "rules and dashboards miss the counters that it does not have", fix)


def _sharing(settings: Settings, plan: GpuPlan, spec: Mapping[str, Any]) -> Iterator[Finding]:
    given = at(spec, "devicePlugin.config.name") or ""
    pools = gpu.nvidia_pools(settings)
    shared = [name for name, pool in pools.items() if pool.sharing.time_slicing or pool.sharing.mps]
    fix = f"Set devicePlugin.config.name={POOL_CONFIGS} there; the ConfigMap comes with the stack."
    if given not in ("", POOL_CONFIGS):
        # The device plugin exits on nodes whose label names a configuration that its ConfigMap does not have.
        problem = (
            f"it is {given}, which has no configuration of the name that the label {gpu.DEVICE_PLUGIN_LABEL} gives"
        )
        yield stops("devicePlugin.config.name", problem, fix)
    elif shared and not given:
        problem = f"it has none, and {', '.join(shared)} would not be shared"
        yield stops("devicePlugin.config.name", problem, f"{fix} Or remove pools.{shared[0]}.sharing.")
    if not gpu.runs_mig_manager(settings):
        return  # without MIG instances, every strategy offers whole GPUs
    wanted, strategy = at(plan.values, "mig.strategy", ""), at(spec, "mig.strategy", "")
    if wanted != strategy:
        problem = f"it is {strategy or 'empty'}, and the pools need {wanted or 'an empty one'}"
        yield stops("mig.strategy", problem, f"Set mig.strategy={wanted or 'empty'} there, or gpuOperator.migStrategy.")
    if not _enabled(spec, "migManager") or at(spec, "migManager.config.name") != MIG_LAYOUTS:
        problem = "it does not make the layouts of this stack"
        fix = f"Set migManager.enabled=true and migManager.config.name={MIG_LAYOUTS} there."
        yield stops("migManager", problem, f"{fix} The ConfigMap comes with the stack.")


def _tolerations(settings: Settings, spec: Mapping[str, Any], daemonsets: Sequence[Json]) -> Iterator[Finding]:
    operands = at(spec, "daemonsets.tolerations") or OPERANDS_TOLERATE
    taints = {taint: None for pool in gpu.nvidia_pools(settings).values() for taint in node_taints(pool)}
    lacking = [each for each in taints if not _tolerated(operands, each)]
    if lacking:
        problem = f"nothing tolerates {', '.join(lacking)}: no operand would run on these nodes"
        yield stops("daemonsets.tolerations", problem, "Add it there, or remove it from pools.<pool>.taints.")
    for each in daemonsets:
        if NFD_WORKER.items() <= labels(each).items():
            given = at(each, "spec.template.spec.tolerations", [])
            if lacking := [taint for taint in taints if not _tolerated(given, taint)]:
                problem = f"nothing tolerates {', '.join(lacking)}: the operator sees no GPU on these nodes"
                fix = "Set node-feature-discovery.worker.tolerations there."
                yield stops(f"DaemonSet {name(each)}", problem, fix)


def _tolerated(tolerations: Sequence[Mapping[str, Any]], taint: str) -> bool:
    key, value, effect = split_taint(taint)
    return any(tolerates(each, {"key": key, "value": value, "effect": effect}) for each in tolerations)


def _enabled(spec: Mapping[str, Any], operand: str) -> bool:
    """True for an operand that the ClusterPolicy does not switch off (NVIDIA/gpu-operator, clusterpolicy_types.go,
    IsEnabled).
    """
    return bool(at(spec, f"{operand}.enabled", True))


def _switch(key: str, cost: str) -> Finding:
    return stops(key, f"it is off: {cost}", f"Set {key}=true there.")
