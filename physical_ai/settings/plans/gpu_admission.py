"""Admission policies for GPU Pods, completed for a stack."""

from __future__ import annotations

import copy
from typing import Any

from physical_ai.catalog import osmo
from physical_ai.settings.facts import gpu
from physical_ai.settings.models.tree import Settings
from physical_ai.settings.plans import manifests

EXEMPT = (
    "kube-system",
    gpu.OPERATOR_NAMESPACE,
    osmo.KAI_NAMESPACE,
    osmo.OPERATOR_NAMESPACE,
    osmo.CONTROL_NAMESPACE,
)
"""Namespaces of the platform and of AKS. Their Pods see GPUs in other ways, and must never wait for a policy."""
MUTATION_MINOR = 36
"""The Kubernetes minor version from which MutatingAdmissionPolicy is v1 and enabled by default."""
_ACTIONS = {"warn": ["Warn", "Audit"], "deny": ["Deny", "Audit"]}
_PLACEMENT = "gpu-placement"


def policies(settings: Settings) -> list[dict[str, Any]]:
    """The policies of a stack with their bindings: none that is off, and placement only where there is a choice."""
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
    """Whether GPU containers get their capabilities: the stack wants it, and its Kubernetes version can do it."""
    minor = int(settings.cluster.kubernetes_version.split(".")[1])
    return settings.admission.inject_capabilities and minor >= MUTATION_MINOR
