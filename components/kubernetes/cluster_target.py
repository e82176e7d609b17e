"""The cluster that Kubernetes objects are created in, and the options that all of them share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pulumi
import pulumi_kubernetes as kubernetes


@dataclass(frozen=True)
class ClusterTarget:
    """A cluster with its provider, and the hook that repeats an operation until fresh roles are in effect.

    Attributes:
        cluster: the cluster's resource where the stack creates it; None for a cluster that remains when the stack is
            deleted.
        after: resources that must exist before every object in the cluster.
        labels: labels of the stack's namespaces, by which a later run recognizes them; none where the whole cluster
            belongs to the stack.
    """

    provider: kubernetes.Provider
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
        """Options of an object in the cluster.

        Where the cluster is the stack's own, the object is deleted with it, so that neither a destroy nor a
        replacement of the cluster needs its API server, or nodes for the hooks of releases.
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
