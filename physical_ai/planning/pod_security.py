"""Admission policy that enforces the Pod Security level baseline for Pods in namespaces that the program does not
know.
"""

from __future__ import annotations

import copy
import json
from typing import Any

from parts.registry import PARTS
from physical_ai.catalog.system_namespaces import SYSTEM_NAMESPACES
from physical_ai.planning import manifests
from physical_ai.planning.gpu_admission import bindings
from physical_ai.settings.models.tree import Settings

LISTED = (
    "gpu-operator",
    "kube-amd-gpu",
    "kai-scheduler",
    "osmo-control-plane",
    "osmo-operator",
    "osmo-workflows",
    "monitoring",
    "nvsentinel",
    "network-operator",
    "telemetry",
    "arc-systems",
    "arc-runners",
    "longhorn-system",
    "metallb-system",
    "cert-manager",
)
"""The platform's namespaces in the order in which the policy lists them. New namespaces are appended.

The order is fixed here, not taken from the files that declare the namespaces, because a changed order would change the
policy in every stack.
"""
USER_NAMESPACES_MINOR = 35
"""Minor version of Kubernetes 1 from which on the level `baseline` allows more in Pods with a user namespace
(`hostUsers: false`; pod-security-admission, policy/check_procMount_baseline.go).
"""


def pod_security_policies(settings: Settings) -> list[dict[str, Any]]:
    """The admission policy for Pod security, and its bindings. Empty with `admission.podSecurity: off`."""
    action = settings.admission.pod_security
    if action == "off":
        return []
    policy, binding = copy.deepcopy(manifests.load("pod-security.yaml"))
    names = {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": list(exempt(settings))}
    policy["spec"]["matchConstraints"]["namespaceSelector"] = {"matchExpressions": [names]}
    # A policy that only warns must not stop Pods when it fails; a policy that refuses must not be bypassed by making it
    # fail.
    policy["spec"]["failurePolicy"] = "Fail" if action == "deny" else "Ignore"
    minor = int(settings.cluster.kubernetes_version.split(".")[1])
    for variable in policy["spec"]["variables"]:
        if variable["name"] == "userNamespaces":
            variable["expression"] = json.dumps(minor >= USER_NAMESPACES_MINOR)
    return [policy, *bindings(binding, action, keeps_warning=settings.protect)]


def exempt(settings: Settings) -> tuple[str, ...]:
    """Namespaces that the policy exempts: those of Kubernetes and AKS, whose agents need the privileges of the node,
    the platform's, and those in the setting `admission.podSecurityExempt`.

    The platform's namespaces are exempt because a label sets the Pod Security level of each. Namespaces of parts count
    only where the stack installs the part, since otherwise a namespace of this name belongs to somebody else.
    """
    absent = {name for part in PARTS if not part.wanted(settings) for name in part.namespaces}
    declared = [str(each["metadata"]["name"]) for each in manifests.namespaces()]
    installed = (name for name in (*LISTED, *declared) if name in declared and name not in absent)
    return tuple(dict.fromkeys([*SYSTEM_NAMESPACES, *installed, *settings.admission.pod_security_exempt]))
