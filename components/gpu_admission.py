"""What the API server asks of GPU Pods, whoever makes them."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pulumi

from components import manifests
from components.cluster_target import ClusterTarget
from components.objects import declare
from physical_ai.catalog import osmo
from physical_ai.settings import Settings
from physical_ai.settings.facts import gpu

EXEMPT = ("kube-system", gpu.OPERATOR_NAMESPACE, osmo.KAI_NAMESPACE, osmo.OPERATOR_NAMESPACE, osmo.CONTROL_NAMESPACE)
"""Namespaces of the platform and of AKS: their Pods see GPUs in their own ways, and must never wait for a policy."""
MUTATION_MINOR = 36
"""The Kubernetes minor from which MutatingAdmissionPolicy is v1, and on without asking."""
_ACTIONS = {"warn": ["Warn", "Audit"], "deny": ["Deny", "Audit"]}
_PLACEMENT = "gpu-placement"


@dataclass(frozen=True)
class GpuAdmissionArgs:
    target: ClusterTarget
    settings: Settings
    after: Sequence[pulumi.Resource] = ()


class GpuAdmission(pulumi.ComponentResource):
    """Admission policies for GPU Pods that OSMO has not made: they need the driver's capabilities, and a pool."""

    def __init__(self, name: str, args: GpuAdmissionArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:kubernetes:GpuAdmission", name, {}, opts)
        made = declare(name, self, args.target, policies(args.settings), after=args.after)
        self.register_outputs({"policies": len(made)})


def policies(settings: Settings) -> list[dict[str, Any]]:
    """The policies of a stack and their bindings: none for what is off, and placement only where there is a choice."""
    found: list[dict[str, Any]] = []
    for manifest in copy.deepcopy(manifests.load("gpu-admission.yaml")):
        mutates, spec = str(manifest["kind"]).startswith("Mutating"), manifest["spec"]
        if mutates and not injects(settings):
            continue
        if not mutates and settings.admission.gpu_pods == "off":
            continue
        if manifest["metadata"]["name"] == _PLACEMENT and len(gpu.gpu_families(settings)) < 2:
            continue
        if "matchConstraints" in spec:
            names = {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": list(EXEMPT)}
            spec["matchConstraints"]["namespaceSelector"] = {"matchExpressions": [names]}
        elif not mutates:
            spec["validationActions"] = list(_ACTIONS[settings.admission.gpu_pods])
        found.append(manifest)
    return found


def injects(settings: Settings) -> bool:
    """Whether the cluster's version has what gives containers their capabilities, and the stack wants it."""
    return settings.admission.inject_capabilities and _minor(settings) >= MUTATION_MINOR


def _minor(settings: Settings) -> int:
    return int(settings.cluster.kubernetes_version.split(".")[1])
