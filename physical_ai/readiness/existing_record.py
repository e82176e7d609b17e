"""Check that a deployment goes to the same existing cluster as the stack's first deployment.

The stack's state keeps the id of the cluster and a mark; the namespaces that the stack created have the mark as a
label. Pure functions.
"""

from __future__ import annotations

from collections.abc import Mapping

from physical_ai.kubernetes.objects import labels, name
from physical_ai.readiness.existing import STACK_LABEL, Survey

MARK_LABEL = "physical-ai/deployment"
CLUSTER, MARK = "cluster", "mark"
"""Keys, in the stack's state, of the cluster's id and of the mark that the stack leaves in its cluster."""


def wrong_cluster(stack: str, context: str, kept: Mapping[str, str], found: Survey) -> str:
    """Reason not to deploy this stack into this cluster; empty in the stack's own cluster, and for a stack that has no
    objects in any cluster yet.

    Args:
        stack: Name of the stack.
        context: Kubeconfig context of the cluster.
        kept: Cluster id and mark from the first deployment, as the stack's state keeps them. The present deployment may
            be the first one.
        found: State of the cluster.
    """
    if kept[CLUSTER] != found.id:
        return (
            f"The stack {stack} is deployed in another cluster than that of the context {context}: its kube-system has"
            f" the uid {kept[CLUSTER]}, and this one has {found.id}. Nothing is changed in either.\n"
            "  Correct target.context or target.kubeconfig. To move the stack, `pulumi destroy` it first, while the"
            " kubeconfig leads to the other cluster. If that is gone, remove its state: `pulumi stack rm --force`."
        )
    others = {
        name(each): mark
        for each in found.namespaces
        if labels(each).get(STACK_LABEL) == stack and (mark := labels(each).get(MARK_LABEL, kept[MARK])) != kept[MARK]
    }
    if others:
        return (
            f"A stack {stack} is deployed in the cluster of the context {context} already, and not from this state: the"
            f" mark of its namespace {min(others)} is {others[min(others)]}. Nothing is changed.\n"
            "  Use the state that it was deployed from (`pulumi login`, `pulumi stack select`), or another cluster."
        )
    return ""
