"""Names of namespaces that Kubernetes, AKS and its extensions create."""

from __future__ import annotations

_INTERNAL = ("kube-system", "kube-public", "kube-node-lease")
KUBERNETES_NAMESPACES = (*_INTERNAL, "default")
"""Namespaces that every cluster has (Kubernetes docs, concepts/overview/working-with-objects/namespaces)."""
AKS_NAMESPACES = (
    "aks-command",
    "aks-istio-egress",
    "aks-istio-ingress",
    "aks-istio-system",
    "app-routing-system",
    "azure-arc",
    "calico-system",
    "dataprotection-microsoft",
    "gatekeeper-system",
    "tigera-operator",
)
"""Namespaces that AKS and its extensions create (AKS docs, concepts-security)."""
SYSTEM_NAMESPACES = (*_INTERNAL, *AKS_NAMESPACES)
"""Namespaces in which only Kubernetes and AKS run Pods. `default` is not one, since users run Pods there. The order is
that of the admission policy in deployed stacks; new namespaces are appended.
"""
