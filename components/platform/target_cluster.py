"""The cluster that a stack is installed in: an AKS cluster with its Azure resources, or an existing cluster.

The only component module that depends on the target: the Azure part is declared completely or not at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pulumi

from components.azure.account import azure_subscription
from components.kubernetes.cluster_cleanup import ClusterCleanup, ClusterCleanupArgs
from components.kubernetes.cluster_target import ClusterTarget
from components.kubernetes.existing_cluster import ExistingCluster, ExistingClusterArgs
from components.platform.azure_resources import AzureResources, declare_azure
from components.platform.common import Common
from physical_ai.planning.cleanup import NodeMarks, cleanup_plan, found_before
from physical_ai.readiness.existing import FIELD_MANAGER, PATCH_ANNOTATIONS, STACK_LABEL, NodeChange
from physical_ai.readiness.existing_record import MARK_LABEL
from physical_ai.settings import Loaded
from physical_ai.settings.rules.subscription import elsewhere
from physical_ai.settings.target import existing_cluster, leaves_nothing


@dataclass(frozen=True)
class TargetCluster:
    """Access to the cluster, and what is known of it.

    Attributes:
        settled: known when the node pools exist or have failed.
        azure: what is around an AKS cluster; None for a cluster that exists already.
        outputs: what the stack exports of the cluster.
    """

    kubeconfig: pulumi.Output[str]
    target: ClusterTarget
    settled: Sequence[pulumi.Input[str]] = ()
    azure: AzureResources | None = None
    outputs: Mapping[str, Any] = field(default_factory=dict[str, Any])


def subscription_of(loaded: Loaded) -> str:
    """Id of the Azure subscription; empty for a stack that has nothing there.

    Raises:
        pulumi.RunError: none is selected, or the settings need another one.
    """
    if existing_cluster(loaded.settings) is not None:
        return ""
    subscription = azure_subscription()
    if faults := elsewhere(loaded, subscription):
        raise pulumi.RunError("\n".join(map(str, faults)))
    return subscription


def declare_target_cluster(common: Common) -> TargetCluster:
    given = existing_cluster(common.settings)
    if given is None or given.context is None:
        return _on_azure(common)
    cluster = ExistingCluster(
        f"{common.name}-cluster",
        ExistingClusterArgs(common.settings, common.plan, given.context, given.kubeconfig),
        common.unprotected,
    )
    labels = {STACK_LABEL: common.settings.stack, MARK_LABEL: cluster.mark}
    target = ClusterTarget(
        provider=cluster.provider, cluster=None, retry=common.retry, after=cluster.changed, labels=labels
    )
    if leaves_nothing(common.settings):
        target = _cleaned(common, target, cluster)
    return TargetCluster(cluster.kubeconfig, target, outputs={"cluster": given.context})


def _cleaned(common: Common, target: ClusterTarget, cluster: ExistingCluster) -> ClusterTarget:
    """The cluster with a release that removes the remains of the stack. Everything else is declared after the
    release, and so is deleted before it.
    """
    charts = {chart.name for chart in common.plan.charts}
    plan = cleanup_plan(common.settings, charts, [_marks(change) for change in cluster.classes])
    before = found_before(cluster.found.definitions, cluster.found.nodes, FIELD_MANAGER)
    args = ClusterCleanupArgs(target, plan, before)
    cleanup = ClusterCleanup(f"{common.name}-cleanup", args, common.protected)
    return replace(target, after=[*target.after, cleanup.release])


def _marks(change: NodeChange) -> NodeMarks:
    return NodeMarks(change.node, change.labels, PATCH_ANNOTATIONS, change.taints)


def _on_azure(common: Common) -> TargetCluster:
    azure = declare_azure(common)
    outputs = {
        "resourceGroup": azure.foundation.group.name,
        "cluster": azure.cluster.name,
        "oidcIssuerUrl": azure.cluster.oidc_issuer_url,
        "natAddresses": azure.private.node_addresses,
        "kubeconfig": azure.access.kubeconfig,
    }
    target = ClusterTarget(azure.access.provider, azure.cluster.managed_cluster, common.retry)
    return TargetCluster(
        kubeconfig=azure.access.kubeconfig,
        target=target,
        settled=[pool.settled for pool in azure.gpu_pools],
        azure=azure,
        outputs=outputs,
    )
