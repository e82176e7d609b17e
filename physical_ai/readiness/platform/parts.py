"""Objects of the platform that should be in its cluster, derived from the stack's plans and from operators' resources.

Pure functions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from parts.amd import names as amd
from parts.network_operator import names as network_operator
from parts.slurm import names as slurm_names
from physical_ai.catalog import osmo
from physical_ai.kubernetes.objects import Json, at, labels, name, namespace
from physical_ai.planning.evidence_objects import evidence_objects
from physical_ai.planning.gpu_operator import CHART as GPU_OPERATOR
from physical_ai.planning.grid_objects import grid_objects
from physical_ai.planning.namespaces import created, used
from physical_ai.planning.osmo_objects import namespace_objects
from physical_ai.planning.plan import Plan
from physical_ai.readiness.rollout import OPERANDS
from physical_ai.settings import Settings
from physical_ai.settings.facts.gpu import OPERATOR_NAMESPACE, installs_operator

ADMISSION, RIGHTS = "/apis/admissionregistration.k8s.io/v1", "/apis/rbac.authorization.k8s.io/v1"
WEBHOOKS = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
_OF_CLUSTER = ("PriorityClass", "ClusterPolicy", "NVIDIADriver", "Config", "SchedulingShard", "Queue",
               "NicClusterPolicy", "ClusterRole", "ClusterRoleBinding", *WEBHOOKS)  # fmt: skip
KINDS: Mapping[str, str] = {
    "Deployment": "/apis/apps/v1/deployments",
    "StatefulSet": "/apis/apps/v1/statefulsets",
    "DaemonSet": "/apis/apps/v1/daemonsets",
    "CronJob": "/apis/batch/v1/cronjobs",
    "ServiceAccount": "/api/v1/serviceaccounts",
    "PriorityClass": "/apis/scheduling.k8s.io/v1/priorityclasses",
    "ClusterPolicy": "/apis/nvidia.com/v1/clusterpolicies",
    "NVIDIADriver": "/apis/nvidia.com/v1alpha1/nvidiadrivers",
    "Config": "/apis/kai.scheduler/v1/configs",
    "SchedulingShard": "/apis/kai.scheduler/v1/schedulingshards",
    "Queue": f"/apis/{osmo.KAI_QUEUE_API}/queues",
    "DeviceConfig": f"/apis/{amd.API_VERSION}/deviceconfigs",
    "NicClusterPolicy": f"/apis/{network_operator.API_VERSION}/nicclusterpolicies",
    "NodeSet": f"/apis/{slurm_names.API_VERSION}/nodesets",
    "Service": "/api/v1/services",
    "MutatingWebhookConfiguration": f"{ADMISSION}/mutatingwebhookconfigurations",
    "ValidatingWebhookConfiguration": f"{ADMISSION}/validatingwebhookconfigurations",
    "ClusterRole": f"{RIGHTS}/clusterroles",
    "ClusterRoleBinding": f"{RIGHTS}/clusterrolebindings",
    "Role": f"{RIGHTS}/roles",
    "RoleBinding": f"{RIGHTS}/rolebindings",
}
"""Kinds of objects that the diagnosis compares with the cluster, each with the API path of its list. ConfigMaps are not
listed: they are requested by name.
"""
KEPT_BY_POLICY = {
    **{component: daemonset for component, (daemonset, _) in OPERANDS.items() if component != "migManager"},
    "dcgm": "nvidia-dcgm",
    "dcgmExporter": "nvidia-dcgm-exporter",
}
"""Name of the DaemonSet of each component that the ClusterPolicy switches on or off. Components that only some GPU
nodes get are left out.
"""
PRESENT = "nvidia.com/gpu.present"
KAI_CONFIG = "kai-config"


@dataclass(frozen=True)
class Part:
    """An object of the platform that should be in the cluster."""

    kind: str
    namespace: str
    """Namespace of the object; empty for cluster-scoped objects."""
    name: str
    replicas: int = 1
    selector: Mapping[str, str] = field(default_factory=dict[str, str])
    """Labels of the nodes that the object's Pods select; for a Service, labels of the Pods that it selects."""
    release: str = ""
    """Name of the Helm release that creates the object; empty for objects that the stack itself or an operator creates.
    """
    home: str = ""
    """Namespace of the Helm release `release`, which may differ from the namespace of the object."""
    revision: int = 0
    maker: str = ""
    """Deployment that creates the object, in the object's namespace."""

    @property
    def title(self) -> str:
        return f"{self.kind} {f'{self.namespace}/' if self.namespace else ''}{self.name}"

    @property
    def area(self) -> str:
        """Namespace of the software that needs the object: the namespace of the Helm release or, without a release, of
        the object.
        """
        return self.home or self.namespace


@dataclass(frozen=True)
class Installed:
    """Releases, namespaces and other objects that a stack installs according to its settings."""

    releases: Mapping[str, str]
    """Namespace of each Helm release, by the release's name."""
    namespaces: frozenset[str]
    """Namespaces that the stack installs into."""
    own: Sequence[Part] = ()
    """Objects that Helm does not create."""


def installed(settings: Settings, plan: Plan, *, agents: bool) -> Installed:
    """Releases, namespaces and objects that a stack installs.

    `agents` is True where OSMO's agents, which need a control plane, are installed.
    """
    releases = dict(_releases(settings, plan))
    if not agents:
        releases.pop(osmo.BACKEND_RELEASE, None)
    spaces = frozenset((*created(settings, plan), *used(settings), *releases.values()))
    return Installed(releases, spaces, tuple(part for each in _own(settings, plan) if (part := part_of(each))))


def _releases(settings: Settings, plan: Plan) -> Iterator[tuple[str, str]]:
    if installs_operator(settings):
        yield GPU_OPERATOR, OPERATOR_NAMESPACE
    yield from ((each.name, each.namespace) for planned in plan.parts.values() for each in planned.releases)
    yield from ((each.name, each.namespace) for each in ([plan.control_plane] if plan.control_plane else []))
    yield from ((each.name, each.namespace) for each in plan.osmo)


def _own(settings: Settings, plan: Plan) -> Iterator[Mapping[str, Any]]:
    """Objects that the program itself declares from the files in `manifests/`, completed for the stack."""
    yield from namespace_objects(settings, {})
    if plan.grid is not None:
        grid = grid_objects(plan.grid)
        yield from (*grid.rights, grid.config_map, grid.daemon_set)
    for planned in plan.parts.values():
        yield from (*planned.before, *planned.after)
    evidence = evidence_objects(settings)
    if evidence is not None:
        yield from (*evidence.rights, evidence.config_map, *evidence.daemon_sets, evidence.cron_job)


def part_of(item: Mapping[str, Any], release: str = "", home: str = "", revision: int = 0) -> Part | None:
    """A manifest's object as a part of the platform; None for a kind that the diagnosis does not compare.

    A chart may omit the namespace of objects in the release's namespace.
    """
    kind = str(item.get("kind", ""))
    if kind not in KINDS and not (kind == "ConfigMap" and not release):
        return None
    spaced = kind not in _OF_CLUSTER
    replicas = at(item, "spec.replicas")
    return Part(
        kind,
        (namespace(item) or home) if spaced else "",
        name(item),
        1 if replicas is None else int(replicas),
        dict(at(item, "spec.selector" if kind == "Service" else "spec.template.spec.nodeSelector", {})),
        release,
        home,
        revision,
    )


def made_by_operators(live: Mapping[str, Sequence[Json]], nodes: Sequence[Json], given: Installed) -> Iterator[Part]:
    """Objects that operators create because of the resources in the cluster."""
    # The GPU Operator labels every node that has ever had a GPU; without NFD the label's value is false.
    if any(PRESENT in labels(node) for node in nodes):
        for policy in live.get("ClusterPolicy", ())[:1]:
            for component, daemonset in KEPT_BY_POLICY.items():
                if at(policy, f"spec.{component}.enabled", True):
                    yield Part("DaemonSet", OPERATOR_NAMESPACE, daemonset, maker=GPU_OPERATOR)
    if osmo.KAI_RELEASE in given.releases:
        yield Part("Config", "", KAI_CONFIG, home=osmo.KAI_NAMESPACE, release=osmo.KAI_RELEASE)
        for config in live.get("Config", ()):
            yield from _of_kai(config, live)


def _of_kai(config: Json, live: Mapping[str, Sequence[Json]]) -> Iterator[Part]:
    everywhere = int(at(config, "spec.global.replicaCount", 1))
    for section, operand in osmo.KAI_OPERANDS.items():
        own = at(config, f"spec.{section}", {})
        if at(own, "service.enabled", section != "nodeScaleAdjuster"):
            replicas = int(at(own, "replicas", everywhere))
            yield Part("Deployment", osmo.KAI_NAMESPACE, operand, replicas, maker=osmo.KAI_OPERATOR)
    if at(config, "spec.scheduler.service.enabled", True):
        prefix = at(config, "spec.global.schedulerName", osmo.SCHEDULER)
        for shard in live.get("SchedulingShard", ()):
            replicas = int(at(config, "spec.scheduler.replicas", everywhere))
            yield Part("Deployment", osmo.KAI_NAMESPACE, f"{prefix}-{name(shard)}", replicas, maker=osmo.KAI_OPERATOR)
