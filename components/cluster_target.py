"""The cluster that Kubernetes objects are created in, and the options that all of them share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as kubernetes


@dataclass(frozen=True)
class ClusterTarget:
    """A cluster with its provider, and the hook that repeats an operation until fresh roles are in effect."""

    provider: kubernetes.Provider
    cluster: pulumi.Resource
    retry: pulumi.ErrorHook

    def options(
        self,
        parent: pulumi.Resource,
        depends_on: Sequence[pulumi.Resource] = (),
        before_update: Sequence[pulumi.ResourceHook] = (),
    ) -> pulumi.ResourceOptions:
        """Options of an object that is deleted with the cluster, so that a destroy needs no API server."""
        return pulumi.ResourceOptions(
            parent=parent,
            provider=self.provider,
            depends_on=list(depends_on),
            # Both: deleted_with alone leaves an object in state that a replaced cluster does not have.
            deleted_with=self.cluster,
            replace_with=[self.cluster],
            # The deployer's role on the cluster is minutes old when the first object is created.
            hooks=pulumi.ResourceHookBinding(on_error=[self.retry], before_update=list(before_update)),
        )
