"""The cluster in which Kubernetes objects are created, and the resource options that all these objects share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pulumi
import pulumi_kubernetes as kubernetes


@dataclass(frozen=True)
class ClusterTarget:
    """The cluster into which Kubernetes objects are deployed.

    Attributes:
        provider: Kubernetes provider with the login to the cluster.
        kubeconfig: text of a kubeconfig with the same login.
        cluster: the AKS cluster's resource; None for an existing cluster, which remains when the stack is deleted.
        retry: hook that repeats an operation until newly assigned roles are in effect.
        after: resources that must exist before every object in the cluster.
        labels: labels that mark namespaces in an existing cluster as created by this stack, for later runs; empty if
            the stack created the cluster.
    """

    provider: kubernetes.Provider
    kubeconfig: pulumi.Input[str]
    cluster: pulumi.Resource | None
    retry: pulumi.ErrorHook
    after: Sequence[pulumi.Resource] = ()
    labels: Mapping[str, pulumi.Input[str]] = field(default_factory=dict[str, pulumi.Input[str]])

    def options(
        self,
        parent: pulumi.Resource,
        depends_on: Sequence[pulumi.Resource] = (),
        before_update: Sequence[pulumi.ResourceHook] = (),
    ) -> pulumi.ResourceOptions:
        """Resource options for an object in the cluster.

        If the stack created the cluster, the object counts as deleted when the cluster is deleted. So a destroy or a
        replacement of the cluster sends no deletions to the API server, and runs no hooks of releases on the nodes.
        """
        return pulumi.ResourceOptions(
            parent=parent,
            provider=self.provider,
            depends_on=[*self.after, *depends_on],
            # Deleted with the provider, not with the cluster: where the cluster is replaced, the engine deletes the
            # resources that name it in replace_with one by one, in no order (pulumi 3.259, step_generator.go,
            # findResourcesReplacedWith). It skips resources that are deleted with another one of these, but not those
            # deleted with the cluster itself.
            deleted_with=self.provider if self.cluster is not None else None,
            # Both options are needed: deleted_with alone leaves an object in state that a replaced cluster does not
            # have.
            replace_with=[self.cluster, self.provider] if self.cluster is not None else [],
            # The deployer's role on the cluster is minutes old when the first object is created.
            hooks=pulumi.ResourceHookBinding(on_error=[self.retry], before_update=list(before_update)),
        )
