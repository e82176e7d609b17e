"""What every object inside the cluster has in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as kubernetes


@dataclass(frozen=True)
class Inside:
    """The way into a cluster: its provider, itself, and the patience a fresh role needs."""

    provider: kubernetes.Provider
    cluster: pulumi.Resource
    retry: pulumi.ErrorHook

    def options(
        self,
        parent: pulumi.Resource,
        depends_on: Sequence[pulumi.Resource] = (),
        before_update: Sequence[pulumi.ResourceHook] = (),
    ) -> pulumi.ResourceOptions:
        """Options of an object that lives and goes with the cluster, so that a destroy needs no API server."""
        return pulumi.ResourceOptions(
            parent=parent,
            provider=self.provider,
            depends_on=list(depends_on),
            # Both: deleted_with alone leaves an object in state that a replaced cluster does not have.
            deleted_with=self.cluster,
            replace_with=[self.cluster],
            # The deployer's role on the cluster is minutes old when the first object is made.
            hooks=pulumi.ResourceHookBinding(on_error=[self.retry], before_update=list(before_update)),
        )
